// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lib.bpf.c - functions that generated programs call: scratch slots, histograms, join(), strstr(), beampid. Always
 * linked. */
#include "beampid.h"
#include "find.h"
#include "maps.bpf.h"

/* ---- scratch slots ------------------------------------------------------ */

/* Programs interrupt each other on a CPU (a tick inside a uprobe's program): each takes a slot while it runs.
 * 1: the slot is taken. Only its program gives it back, on the same CPU: this needs no atomic operation. */
struct scratch_taken {
	__u64 slots[SCRATCH_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch_taken);
} scratch_taken SEC(".maps");

/* Returns the slot's index in map `scratch`, cpu * SCRATCH_SLOTS + n, or -1 if none is free. */
__global int scratch_take(void)
{
	__u32 zero = 0;
	struct scratch_taken *taken = bpf_map_lookup_elem(&scratch_taken, &zero);

	if (!taken)
		return -1;
	for (int i = 0; i < SCRATCH_SLOTS; i++)
		if (!__sync_lock_test_and_set(&taken->slots[i], 1))
			return bpf_get_smp_processor_id() * SCRATCH_SLOTS + i;
	count_lost(LOST_SCRATCH);
	return -1;
}

__global int scratch_give(int slot)
{
	__u32 zero = 0;
	struct scratch_taken *taken = bpf_map_lookup_elem(&scratch_taken, &zero);

	if (taken)
		*(volatile __u64 *)&taken->slots[slot & (SCRATCH_SLOTS - 1)] = 0;
	return 0;
}

/* ---- aggregations ------------------------------------------------------- */

static int better(__u64 a, __u64 b, int how)
{
	switch (how) {
	case MERGE_MIN:
		return a < b;
	case MERGE_MAX:
		return a > b;
	case MERGE_MIN_SIGNED:
		return (__s64)a < (__s64)b;
	default:
		return (__s64)a > (__s64)b;
	}
}

/* Adds one CPU's part: its first two words. This is a function, so that the verifier sees none of these
 * branches in a program that reads many maps. */
__global int agg_merge(struct agg_whole *w, __u64 a, __u64 b, int how)
{
	if (!w)
		return 0;
	if (how == MERGE_SUM) {
		w->value += a;
	} else if (how == MERGE_AVERAGE) { /* struct agg_stats */
		w->n += a;
		w->value += b;
	} else if (b && (!w->n || better(a, w->value, how))) { /* struct agg_minmax */
		w->value = a;
		w->n = 1;
	}
	return 0;
}

/* ---- histograms --------------------------------------------------------- */

/* See HIST_BUCKETS in record.h. */
__global int hist_bucket(__u64 n, __u64 bits, int is_signed)
{
	__u64 v = n;
	__u32 msb = 0;

	if (is_signed && (__s64)n < 0)
		return 0;
	if (bits > HIST_BITS_MAX)
		return 0;
	if (n < (1ULL << bits))
		return 1 + n;
	for (int shift = 32; shift; shift >>= 1)
		if (v >> shift) {
			v >>= shift;
			msb += shift;
		}
	return 1 + ((msb - bits + 1) << bits) + ((n >> (msb - bits)) & ((1 << bits) - 1));
}

/* ---- time series -------------------------------------------------------- */

/* how: enum agg_series << 1 | whether the value is signed. In SERIES_LAST the newer value
 * wins: see struct agg_tseries. */
__global int tseries_add(struct agg_tseries *b, __u64 value, __u64 interval, __u64 now, int how)
{
	int is_signed = how & 1, less;

	if (!b)
		return 0;
	if (b->interval != interval) {
		b->value = value;
		b->n = how >> 1 == SERIES_LAST ? now : 1;
		b->interval = interval;
		return 0;
	}
	less = is_signed ? (__s64)value < (__s64)b->value : value < b->value;
	switch (how >> 1) {
	case SERIES_LAST:
		b->value = value;
		b->n = now;
		break;
	case SERIES_AVG:
		__sync_fetch_and_add(&b->value, value);
		__sync_fetch_and_add(&b->n, 1);
		break;
	case SERIES_SUM:
		__sync_fetch_and_add(&b->value, value);
		break;
	case SERIES_MIN:
		if (less)
			b->value = value;
		break;
	default:
		if (!less)
			b->value = value;
	}
	return 0;
}

/* ---- join --------------------------------------------------------------- */

/* Missing strings are empty. Returns 0. */
__global int join_strings(struct join_record *r, __u64 argv)
{
	__u64 n = 0;

	if (!r)
		return 0;
	for (int i = 0; i < JOIN_STRINGS; i++)
		r->text[i][0] = 0;
	for (int i = 0; i < JOIN_STRINGS; i++) {
		__u64 s = 0;

		if ((__s64)argv < 0)
			bpf_probe_read_kernel(&s, sizeof(s), (void *)(argv + 8 * i));
		else
			bpf_probe_read_user(&s, sizeof(s), (void *)(argv + 8 * i));
		if (!s)
			break;
		if ((__s64)s < 0)
			bpf_probe_read_kernel_str(r->text[i], JOIN_LENGTH, (void *)s);
		else
			bpf_probe_read_user_str(r->text[i], JOIN_LENGTH, (void *)s);
		n++;
	}
	r->n = n;
	return 0;
}

/* ---- search for a text -------------------------------------------------- */

struct find_state {
	struct find_req *req;
};

/* A step compares a byte, so the verifier sees one step, whatever the lengths. Its state is in the map,
 * because the verifier would follow values on the stack. */
static long find_step(__u32 step, void *data)
{
	struct find_state *s = data;
	struct find_req *f = s->req;
	__u64 at = f->at, matched = f->matched, from = at + matched;
	char want, have;

	FORGET(matched);
	if (matched >= FIND_WANTED)
		return 1;
	want = f->wanted[matched];
	if (!want)
		return 1;
	FORGET(from);
	if (from >= FIND_TEXT)
		return 1;
	have = f->text[from];
	if (have == want) {
		f->matched = matched + 1;
		return 0;
	}
	f->at = at + 1;
	f->matched = 0;
	return !have;
}

/* Returns the index of `wanted` in `text`; -2 (-ENOENT) if it is not there, like the kernel's bpf_strstr(). */
__global int find_text(struct find_req *f)
{
	struct find_state s = { .req = f };
	__u64 matched;

	if (!f)
		return -2;
	f->at = f->matched = 0;
	bpf_loop(LOOP_ROUNDS_MAX, find_step, &s, 0);
	matched = f->matched;
	FORGET(matched);
	if (matched < FIND_WANTED && !f->wanted[matched])
		return f->at;
	return -2;
}

/* ---- beampid ---- */

/* Appends a number. Returns the end of the text. */
static __always_inline __u32 add_number(char *text, __u32 at, __u32 n)
{
	__u32 seen = 0;

	for (__u32 unit = 1000000000; unit; unit /= 10) {
		__u32 digit = n / unit % 10;

		seen |= digit | (unit == 1);
		text[at & (BEAM_PID_TEXT - 1)] = '0' + digit;
		at += !!seen;
	}
	return at;
}

/* Sets the text of an Erlang process: <0.number.serial>, or none. */
__global int beam_pid_text(struct beam_pid_text *t)
{
	__u32 at = 3;

	if (!t || !t->id)
		return 0;
	t->text[0] = '<';
	t->text[1] = '0';
	t->text[2] = '.';
	at = add_number(t->text, at, (__u32)t->id & ~BEAM_PID_SET);
	t->text[at++ & (BEAM_PID_TEXT - 1)] = '.';
	at = add_number(t->text, at, t->id >> 32);
	t->text[at++ & (BEAM_PID_TEXT - 1)] = '>';
	t->text[at & (BEAM_PID_TEXT - 1)] = '\0';
	return 0;
}
