// SPDX-License-Identifier: Apache-2.0
/* tables.c - finds the tables of modules and atoms in a process of Erlang. OTP 29 exports no symbol for them, so they
 * are recognised by their contents.
 *
 * Layouts of otp at tags OTP-25.2.3, OTP-27.3.4 and OTP-29.1: beam_ranges.c (struct ranges), and those in
 * bpf/lang/beam.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "beam.h"

enum {
	DATA_MAX = 64 << 20,   /* bytes of memory that are searched */
	MODULES_MIN = 16,      /* the runtime itself has some twenty */
	MODULES_MAX = 1 << 20,
	SAMPLE = 64,           /* modules that are looked at */
	TRIES_MAX = 64,        /* places that may be a table */
	FUNCTIONS_MIN = 8,     /* of these modules */
	HEADER = 512,          /* bytes of a module that are read */
	HEAD_FIRST = 64,       /* the least offset of a member */
	HEAD_LAST = 256,
	FUNCTIONS_25 = 96,     /* offset of functions[] in OTP 25 */
	HEAP_25 = 0x80,        /* Process: heap */
	HEAP_27 = 0xc0,
	ATOM_NAME_AT = 64,     /* IndexTable: htable.name */
	ATOM_SEGMENTS = 120,   /* seg_table */
	PLACES_MIN = 10,       /* log2 of the number of Erlang processes: erl +P 1024 .. 134217727 */
	PLACES_MAX = 27,
};

/* ---- the tables of modules ---- */

struct range {
	uint64_t start, end;
};

struct sample {
	struct range range[SAMPLE];
	struct {
		uint64_t words[HEADER / 8];
		uint32_t functions; /* their number */
	} head[SAMPLE];
	size_t n;
};

static bool is_table(const uint64_t *w)
{
	uint64_t at = w[0], n = w[1], mid = w[3];

	return at && at % 8 == 0 && n >= MODULES_MIN && n <= MODULES_MAX && w[2] >= n && mid % 8 == 0 && mid >= at &&
	       mid - at <= 16 * n;
}

/* Reads modules from all parts of the table. Returns false if it is not one. */
static bool read_sample(const struct beam_memory *m, uint64_t at, uint64_t n, struct sample *s)
{
	struct range last = {};

	s->n = 0;
	for (size_t i = 0; i < SAMPLE && i < n; i++) {
		struct range *r = &s->range[s->n];

		if (m->read(m->arg, at + 16 * (n <= SAMPLE ? i : i * n / SAMPLE), r, sizeof(*r)) || r->start % 8 ||
			r->start < last.end || r->end < r->start)
			return false;
		last = *r;
		if (r->end - r->start < HEADER || m->read(m->arg, r->start, s->head[s->n].words, HEADER))
			continue;
		s->head[s->n].functions = (uint32_t)s->head[s->n].words[0];
		if (s->head[s->n].functions >= FUNCTIONS_MIN)
			s->n++;
	}
	return s->n >= FUNCTIONS_MIN;
}

/* Returns whether the addresses of functions begin at that offset: they ascend, and are in the module. */
static bool has_functions(const struct sample *s, size_t i, size_t offset)
{
	const uint64_t *p = &s->head[i].words[offset / 8];
	uint64_t n = s->head[i].functions, last = s->range[i].start + offset + 8 * n;

	for (size_t k = 0; k < FUNCTIONS_MIN; k++) {
		if (p[k] <= last || p[k] >= s->range[i].end || p[k] % 4)
			return false;
		last = p[k];
	}
	return true;
}

/* Returns whether the address of a table of lines is at that offset. */
static bool has_lines(const struct beam_memory *m, const struct sample *s, size_t i, size_t offset)
{
	const struct range *r = &s->range[i];
	uint64_t table = s->head[i].words[offset / 8], head[4], first;

	if (table % 8 || table < r->start || table >= r->end || m->read(m->arg, table, head, sizeof(head)))
		return false;
	if (((uint32_t)head[1] != 2 && (uint32_t)head[1] != 4) || m->read(m->arg, head[3], &first, sizeof(first)))
		return false;
	return first >= r->start && first < r->end;
}

/* Finds the offsets by which nearly all modules agree. */
static int find_offsets(const struct beam_memory *m, const struct sample *s, struct beam_proc *ret)
{
	size_t agree = 0;

	for (size_t offset = HEAD_FIRST; offset <= HEAD_LAST && !ret->functions; offset += 8) {
		agree = 0;
		for (size_t i = 0; i < s->n; i++)
			agree += has_functions(s, i, offset);
		if (agree * 10 >= s->n * 9)
			ret->functions = (uint16_t)offset;
	}
	for (size_t offset = HEAD_FIRST; offset < ret->functions && !ret->lines; offset += 8) {
		agree = 0;
		for (size_t i = 0; i < s->n; i++)
			agree += has_lines(m, s, i, offset);
		if (agree * 2 >= s->n)
			ret->lines = (uint16_t)offset;
	}
	return ret->functions && ret->lines ? 0 : -ENOTSUP;
}

static int find_ranges(const struct beam_memory *m, const uint64_t *words, size_t n, uint64_t start,
	struct beam_proc *ret)
{
	_cleanup_(freep) struct sample *s = malloc(sizeof(*s));
	int err = s ? -EAGAIN : -ENOMEM;
	unsigned tries = 0;

	for (size_t i = 0; s && i + 4 * BEAM_TABLES <= n && tries < TRIES_MAX; i++) {
		if (!is_table(words + i) || !is_table(words + i + 4) || !is_table(words + i + 8))
			continue;
		tries++;
		if (!read_sample(m, words[i], words[i + 1], s))
			continue;
		err = find_offsets(m, s, ret);
		if (err)
			continue;
		ret->ranges = start + 8 * i;
		return 0;
	}
	return err;
}

/* ---- atoms ---- */

/* Returns whether the first atom is the one that it must be. */
static bool is_atom_table(const struct beam_memory *m, uint64_t table, bool boxed)
{
	uint64_t at, name;
	uint16_t size;
	char text[5];

	if (m->read(m->arg, table + ATOM_SEGMENTS, &at, 8) || m->read(m->arg, at, &at, 8) ||
		m->read(m->arg, at, &at, 8) || m->read(m->arg, at + 24, &size, 2) ||
		m->read(m->arg, at + 32, &name, 8) || size != sizeof(text))
		return false;
	name = boxed ? (name & ~7ULL) + 16 : name;
	return !m->read(m->arg, name, text, sizeof(text)) && !memcmp(text, "false", sizeof(text));
}

static int find_atoms(const struct beam_memory *m, const uint64_t *words, size_t n, uint64_t start, uint64_t name,
	struct beam_proc *ret)
{
	unsigned tries = 0;

	for (size_t i = ATOM_NAME_AT / 8; i < n && tries < TRIES_MAX; i++) {
		uint64_t table = start + 8 * i - ATOM_NAME_AT;

		if (words[i] != name)
			continue;
		tries++;
		for (uint16_t boxed = 0; boxed < 2; boxed++) {
			if (!is_atom_table(m, table, boxed))
				continue;
			ret->atoms = table;
			ret->boxed = boxed;
			return 0;
		}
	}
	return -EAGAIN;
}

/* ---- Erlang processes ---- */

/* Returns log2 of the size of a table of OTP 27 or 29 (ErtsPTabReadOnlyData: tab, free_id_data, max, pix_mask,
 * pix_cl_mask, pix_cli_mask, then as u32 pix_cl_shift and pix_cli_shift), or 0 if it is not one. */
static unsigned table_places(const uint64_t *w)
{
	uint64_t max = w[2], shift = w[6] >> 32;

	if (shift + BEAM_LINE_BITS < PLACES_MIN || shift + BEAM_LINE_BITS > PLACES_MAX ||
		(uint32_t)w[6] != BEAM_LINE_BITS || max != 1ULL << (shift + BEAM_LINE_BITS) || w[3] != max - 1 ||
		w[4] != (1ULL << shift) - 1 || w[5] != (1ULL << BEAM_LINE_BITS) - 1)
		return 0;
	return (unsigned)shift + BEAM_LINE_BITS;
}

/* The same of a table of OTP 25, in which max and the masks are u32. */
static unsigned table_places_25(const uint64_t *w)
{
	uint32_t max = (uint32_t)w[2], places = max ? (unsigned)__builtin_ctz(max) : 0;

	if (places < PLACES_MIN || places > PLACES_MAX || max != 1U << places || w[2] >> 32 != max - 1)
		return 0;
	return places;
}

/* Returns the return address below the first function of an Erlang process, which is the same in all of them, or 0. */
static uint64_t find_end(const struct beam_memory *m, uint64_t process, const struct beam_proc *p)
{
	uint64_t heap[4], word;

	if (m->read(m->arg, process + p->heap, heap, sizeof(heap)) || heap[0] % 8 || heap[3] > BEAM_HEAP_MAX ||
		heap[1] - heap[0] != heap[3] * 8 || m->read(m->arg, heap[1] - 8, &word, sizeof(word)))
		return 0;
	return word % 4 ? 0 : word;
}

/* Finds the table of Erlang processes. That of ports has the same layout. The first process, <0.0.0>, never ends. */
static void find_processes(const struct beam_memory *m, const uint64_t *words, size_t n, struct beam_proc *ret)
{
	bool old = ret->functions == FUNCTIONS_25;
	unsigned tries = 0;

	for (size_t i = 0; i + 7 <= n && tries < TRIES_MAX; i++) {
		unsigned places = old ? table_places_25(words + i) : table_places(words + i);
		uint64_t process, id = 0;

		tries += places > 0;
		if (!places || m->read(m->arg, words[i], &process, 8) || m->read(m->arg, process, &id, 8) ||
			id != BEAM_PID_TAG)
			continue;
		ret->pid_bits = old ? BEAM_PID_OLD_BITS : BEAM_PID_BITS;
		ret->pid_places = old ? 0 : places;
		ret->end = find_end(m, process, ret);
		return;
	}
}

int beam_find(const struct beam_memory *m, uint64_t start, uint64_t size, const struct beam_file *f, uint64_t bias,
	struct beam_proc *ret)
{
	_cleanup_(freep) uint64_t *words = size && size <= DATA_MAX ? malloc(size) : NULL;
	size_t n = size / 8;
	int err;

	*ret = (struct beam_proc){ .key = UINT32_MAX, .current = (uint16_t)f->current };
	if (!words || start % 8 || m->read(m->arg, start, words, n * 8))
		return -EAGAIN;
	err = find_atoms(m, words, n, start, f->atom_tab + bias, ret);
	if (!err)
		err = find_ranges(m, words, n, start, ret);
	if (err)
		return err;
	ret->heap = ret->functions == FUNCTIONS_25 ? HEAP_25 : HEAP_27;
	if (ret->functions == FUNCTIONS_25)
		ret->pid_bits = BEAM_PID_OLD_BITS;
	find_processes(m, words, n, ret);
	if (f->key && m->read(m->arg, f->key + bias, &ret->key, 4))
		ret->key = UINT32_MAX;
	return 0;
}
