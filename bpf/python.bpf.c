// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* python.bpf.c - the kernel half of src/unwinders/python.c: CPython's frames.
 *
 * thread state -> list of frames, newest first. Frames lie one below the other in a
 * stack of Python's own, so a kilobyte that ends at a frame usually holds the next
 * ones too, and one read serves several.
 *
 * A frame names a code object by its address, which may be freed and used again. The
 * id that is sent on is a hash of what the code object says (name, file, lines): alike
 * in all processes. From address to id leads the map python_seen, and its entry counts
 * only while the cookie is the same: a hash of words of the object that never change
 * and, where these may repeat when the memory is used again, of its name's hash. It is
 * read once for each code object in each walk: struct python_memo holds the answer for
 * the rest of the walk, and for later walks saves the map's lookup. */
#include "maps.bpf.h"
#include "python.h"

#define WINDOW      1024
#define FRAME_BYTES 128 /* as much of a frame as any version needs */
#define CODE_BYTES  144 /* likewise of a code object */
#define STR_BYTES   40
#define MEMO        256 /* scratch of a CPU is limited to 32 KiB */
#define COOKIE_MAX  8
#define OB_SIZE     16  /* or, up to 3.10, co_argcount */
#define KEYS_MAX    1024
#define NEAR        4096
#define CODE_MASK   ((1ULL << PYTHON_CODE_BITS) - 1)
#define LASTI_MAX   0xfffff

/* What the id depends on: name, file, the first 512 bytes of the line table. */
#define NAME_WORDS (PYTHON_NAME_MAX / 8)
#define FILE_WORDS (PYTHON_FILE_MAX / 8)
#define HASH_WORDS 256
_Static_assert(HASH_WORDS == NAME_WORDS + FILE_WORDS + 512 / 8, "a power of 2");

struct python_memo {
	__u64 addr;
	__u64 cookie;
	__u64 id;
	__u32 pid;
	__u32 walk; /* in which it was last compared */
};

struct python_scratch {
	__u64 window[WINDOW / 8];
	__u64 code[256 / 8];
	__u64 str[64 / 8];
	__u32 walk, pad;
	struct python_proc proc; /* of this walk */
	struct python_memo memo[MEMO];
	struct python_code_record out;
};

struct python_key {
	__u64 addr;
	__u32 pid;
	__u32 pad;
};

struct python_value {
	__u64 id;
	__u64 cookie;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_proc);
} python_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct python_key);
	__type(value, struct python_value);
} python_seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct python_scratch);
} python_scratch SEC(".maps");

/* ---- reading ---- */

/* The field at a byte of a buffer of mask + 1 bytes, as the low bits of what is
 * returned. No field straddles two words. */
static __always_inline __u64 load(const __u64 *buf, __u64 at, __u64 mask)
{
	__u64 i = (at & mask) >> 3;

	FORGET(i);
	return buf[i & mask >> 3] >> ((at & 7) * 8);
}

#define frame_load(s, at) load((s)->window, at, WINDOW - 1)
#define code_load(s, at)  load((s)->code, at, 255)
#define str_load(s, at)   load((s)->str, at, 63)

static __always_inline int read_word(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr);
}

static __always_inline struct python_scratch *scratch_of(const struct python_cursor *c)
{
	__u32 slot = c->slot & (SCRATCH_SLOTS - 1); /* the rest is the CPU */

	return bpf_map_lookup_elem(&python_scratch, &slot);
}

/* ---- the thread's state ---- */

__u64 thread_pointer(void); /* walk.bpf.c */

/* Only this thread's own will do: the GIL's holder may be another. Its thread_id is
 * pthread_self(), which is the thread pointer or, on arm64, some hundred bytes below;
 * another thread's is a stack's size away. */
static __always_inline int is_own(const struct python_proc *p, __u64 tp, __u64 tstate)
{
	__u64 id = 0;

	return tstate && !read_word(tstate + p->at.tstate_thread_id, &id) &&
	       tp - id + NEAR <= 2 * NEAR;
}

/* pthread_getspecific(), on the thread's memory. */
static __always_inline __u64 thread_specific(const struct python_proc *p, __u64 tp)
{
	__u64 word = 0, block = tp + (__u64)(__s64)p->at.tsd_first, key;

	if (!p->tss_key || read_word(p->tss_key, &word) || !(__u32)word)
		return 0;
	key = word >> 32;
	if (key >= KEYS_MAX)
		return 0;
	if (key >= p->at.tsd_inline) {
		__u64 at = tp + (__u64)(__s64)p->at.tsd_blocks;
		__u32 shift = p->at.tsd_block_shift & 31;

		if (read_word(at + 8 * (key >> shift), &block) || !block)
			return 0;
		key &= (1ULL << shift) - 1;
	}
	word = 0;
	read_word(block + (key << (p->at.tsd_entry_shift & 7)) + p->at.tsd_value, &word);
	return word;
}

static __always_inline __u64 thread_state(const struct python_proc *p, __u64 tp)
{
	__u64 tstate = 0;

	if (p->at.has_tls && !read_word(tp + (__u64)p->tls_offset, &tstate) &&
		is_own(p, tp, tstate))
		return tstate;
	if (p->tstate_current && !read_word(p->tstate_current, &tstate) &&
		is_own(p, tp, tstate))
		return tstate;
	tstate = p->at.has_tsd ? thread_specific(p, tp) : 0;
	return is_own(p, tp, tstate) ? tstate : 0;
}

__global int python_begin(struct python_cursor *c)
{
	struct python_scratch *s;
	struct python_proc *p;
	__u64 at;
	__u32 pid;

	if (!c)
		return -1;
	c->begun = 1;
	c->frame = c->window = 0;
	pid = c->pid;
	p = bpf_map_lookup_elem(&python_procs, &pid);
	s = scratch_of(c);
	if (!p || !s)
		return -1;
	s->proc = *p;
	s->walk++;
	if (!c->tp)
		c->tp = thread_pointer();
	at = thread_state(p, c->tp);
	if (!at)
		return -1;
	if (p->at.tstate_cframe && read_word(at + p->at.tstate_cframe, &at))
		return -1;
	return read_word(at + p->at.current_frame, &c->frame) ? -1 : 0;
}

/* ---- code objects ---- */

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}

struct python_hash {
	struct python_code_record *r;
	__u64 h;
};

/* One word of name, file and line table, which lie one behind the other; what lies
 * behind the end of each is stale. */
static long hash_word(__u32 i, void *data)
{
	struct python_hash *hash = data;
	struct python_code_record *r = hash->r;
	__u64 left, word;

	if (i < NAME_WORDS)
		left = r->name_size - 8ULL * i;
	else if (i < NAME_WORDS + FILE_WORDS)
		left = r->file_size - 8ULL * (i - NAME_WORDS);
	else
		left = r->linetable_size - 8ULL * (i - NAME_WORDS - FILE_WORDS);
	if ((__s64)left <= 0)
		return 0;
	word = load(r->name, 8 * i, 8 * HASH_WORDS - 1);
	if (left < 8)
		word &= (1ULL << (left * 8)) - 1;
	hash->h = mix(hash->h, word);
	return 0;
}

static __always_inline __u64 code_hash(struct python_code_record *r)
{
	struct python_hash hash = { .r = r };

	hash.h = mix(r->firstlineno, r->linetable_size);
	hash.h = mix(hash.h, r->name_kind | r->file_kind << 8);
	hash.h = mix(hash.h, (__u64)r->name_size << 32 | r->file_size);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

/* A str's characters, as they are; 0 or -1. */
static __always_inline int read_str(struct python_scratch *s, __u64 str, __u64 *out,
	__u32 max, __u32 *ret_size, __u8 *ret_kind)
{
	const struct python_layout *at = &s->proc.at;
	__u64 chars, state, kind, data;
	__u32 size;

	if (bpf_probe_read_user(s->str, STR_BYTES, (const void *)str))
		return -1;
	chars = str_load(s, at->str_length);
	state = (__u32)str_load(s, at->str_state) >> (at->str_kind_shift & 31);
	kind = state & 7;
	if (!(state & 8) || (kind != 1 && kind != 2 && kind != 4))
		return -1; /* not compact: no code object has such a name */
	data = str + (state & 16 ? at->str_ascii : at->str_data);
	if (chars > max)
		chars = max;
	chars = chars << (kind >> 1);
	size = chars > max ? max : (__u32)chars;
	*ret_size = size;
	*ret_kind = (__u8)kind;
	return bpf_probe_read_user(out, size, (const void *)data) ? -1 : 0;
}

static __always_inline int read_linetable(struct python_scratch *s, __u64 bytes)
{
	const struct python_layout *at = &s->proc.at;
	__u64 size;

	if (bpf_probe_read_user(s->str, STR_BYTES, (const void *)bytes))
		return -1;
	size = str_load(s, at->bytes_size);
	s->out.linetable_size = size > 0xffffffff ? 0 : (__u32)size;
	if (size > PYTHON_LINETABLE_MAX)
		size = PYTHON_LINETABLE_MAX;
	return bpf_probe_read_user(s->out.linetable, (__u32)size,
		       (const void *)(bytes + at->bytes_data)) ? -1 : 0;
}

static __always_inline int send(struct python_scratch *s, __u32 linetable)
{
	if (linetable > PYTHON_LINETABLE_MAX)
		linetable = PYTHON_LINETABLE_MAX;
	linetable += __builtin_offsetof(struct python_code_record, linetable);
	return ring_output(&s->out, linetable) ? -1 : 0;
}

/* Read all that names the code object whose head is in s->code. */
__global int python_read_code(struct python_cursor *c)
{
	struct python_scratch *s = c ? scratch_of(c) : NULL;
	const struct python_layout *at;
	struct python_code_record *r;

	if (!s)
		return -1;
	r = &s->out;
	at = &s->proc.at;
	r->firstlineno = (__u32)code_load(s, at->code_firstlineno);
	if (read_str(s, code_load(s, at->code_name), r->name, PYTHON_NAME_MAX, &r->name_size,
		    &r->name_kind))
		return -1;
	if (read_str(s, code_load(s, at->code_filename), r->file, PYTHON_FILE_MAX, &r->file_size,
		    &r->file_kind))
		return -1;
	return read_linetable(s, code_load(s, at->code_linetable));
}

/* Tell userspace of a code object. Pages that are not resident cannot be read here:
 * then its id is a makeshift, userspace reads the process instead (which brings the
 * pages in), and the next walk tries again. Returns the id; *seen: for good. */
static __always_inline __u64 first_sight(struct python_cursor *c, struct python_scratch *s,
	__u64 addr, __u64 cookie, int readable, int *seen)
{
	struct python_code_record *r = &s->out;
	__u32 linetable = 0;

	r->head.kind = RECORD_PYTHON;
	r->head.id = 0;
	r->addr = addr;
	r->pid = c->pid;
	r->lines = s->proc.at.lines;
	if (readable && !python_read_code(c)) {
		r->flags = 0;
		r->code = code_hash(r);
		linetable = r->linetable_size;
		*seen = 1;
	} else {
		r->flags = PYTHON_UNREADABLE;
		r->name_size = r->file_size = r->linetable_size = 0;
		r->code = mix(mix(cookie, addr), c->pid) & CODE_MASK;
		*seen = 0;
	}
	if (send(s, linetable))
		*seen = 0;
	return r->code;
}

/* See the top of this file. */
static __always_inline __u64 cookie_of(struct python_scratch *s)
{
	const struct python_layout *at = &s->proc.at;
	__u64 h = mix(code_load(s, OB_SIZE), code_load(s, at->code_firstlineno & ~7));
	__u64 name = 0;

	for (__u32 i = 0; i < COOKIE_MAX; i++) {
		if (i >= at->cookie_words)
			break;
		h = mix(h, code_load(s, at->cookie + 8 * i));
	}
	if (at->name_hash)
		read_word(code_load(s, at->code_name) + at->name_hash, &name);
	return mix(h, name);
}

/* What python_seen says, or first sight. *seen: the id is for good. */
static __always_inline __u64 find_code(struct python_cursor *c, struct python_scratch *s,
	__u64 addr, __u64 cookie, int readable, int *seen)
{
	struct python_key key = { .addr = addr, .pid = c->pid };
	struct python_value value = { .cookie = cookie }, *known;

	known = readable ? bpf_map_lookup_elem(&python_seen, &key) : NULL;
	if (known && known->cookie == cookie) {
		*seen = 1;
		return known->id;
	}
	value.id = first_sight(c, s, addr, cookie, readable, seen);
	if (*seen)
		bpf_map_update_elem(&python_seen, &key, &value, BPF_ANY);
	return value.id;
}

static __always_inline struct python_memo *memo_of(struct python_scratch *s, __u64 addr)
{
	__u64 i = addr >> 4 ^ addr >> 12;

	FORGET(i);
	return &s->memo[i & (MEMO - 1)];
}

/* The id of the code object at addr; 0: there is none. */
__global __u64 python_code(struct python_cursor *c, __u64 addr)
{
	struct python_scratch *s = c ? scratch_of(c) : NULL;
	struct python_memo *m;
	int readable, seen = 0;
	__u64 cookie = 0, id;

	if (!s)
		return 0;
	m = memo_of(s, addr);
	readable = !bpf_probe_read_user(s->code, CODE_BYTES, (const void *)addr);
	if (readable) {
		if (s->proc.code_type && code_load(s, s->proc.at.ob_type) != s->proc.code_type)
			return 0;
		cookie = cookie_of(s);
		if (m->addr == addr && m->pid == c->pid && m->cookie == cookie) {
			m->walk = s->walk;
			return m->id;
		}
	}
	id = find_code(c, s, addr, cookie, readable, &seen);
	if (seen)
		*m = (struct python_memo){ addr, cookie, id, c->pid, s->walk };
	return id;
}

static __always_inline __u64 code_id(struct python_cursor *c, struct python_scratch *s, __u64 addr)
{
	struct python_memo *m = memo_of(s, addr);

	if (m->addr == addr && m->walk == s->walk)
		return m->id & CODE_MASK;
	return python_code(c, addr) & CODE_MASK;
}

/* ---- frames ---- */

/* Where the frame is in s->window; -1: not readable. */
static __always_inline __s64 frame_at(struct python_cursor *c, struct python_scratch *s, __u64 frame)
{
	__u64 start;

	if (c->window && frame - c->window <= WINDOW - FRAME_BYTES)
		return (__s64)(frame - c->window);
	start = (frame + FRAME_BYTES - WINDOW + 63) & ~63ULL;
	if (!bpf_probe_read_user(s->window, WINDOW, (const void *)start)) {
		c->window = start;
		return (__s64)(frame - start);
	}
	/* The stack's first pages, or a generator's frame: this one alone. */
	c->window = 0;
	if (!bpf_probe_read_user(s->window, FRAME_BYTES, (const void *)frame))
		return 0;
	/* A small frame at the end of a chunk: no further than its page. */
	start = (frame | 4095) + 1 - WINDOW;
	if (frame - start < WINDOW - FRAME_BYTES ||
		bpf_probe_read_user(s->window, WINDOW, (const void *)start))
		return -1;
	return (__s64)(frame - start);
}

static __always_inline __u64 frame_lasti(const struct python_layout *at, __u64 instr, __u64 code)
{
	__s64 lasti = at->instr_is_index ? (__s32)instr : (__s64)(instr - code - at->code_code);

	lasti >>= at->instr_shift & 7;
	return lasti < 0 || lasti > LASTI_MAX ? 0 : (__u64)lasti;
}

__global int python_step(struct python_cursor *c, __u64 *frame)
{
	struct python_scratch *s = c ? scratch_of(c) : NULL;
	const struct python_layout *at;
	__u64 code, id, previous;
	int boundary;
	__s64 o;

	if (!s || !frame)
		return -1;
	if (c->ended || !c->frame) {
		c->ended = 0;
		return 0;
	}
	at = &s->proc.at;
	o = c->frame & 7 ? -1 : frame_at(c, s, c->frame);
	if (o < 0)
		goto broken;
	boundary = (__u8)frame_load(s, o + at->frame_boundary) >= at->boundary_min;
	previous = frame_load(s, o + at->frame_previous);
	if (boundary && !at->boundary_shown) {
		c->frame = previous;
		return 0;
	}
	code = frame_load(s, o + at->frame_code) & ~(__u64)at->code_tag;
	id = code_id(c, s, code);
	if (!id)
		goto broken;
	*frame = FRAME_PYTHON(id, frame_lasti(at, frame_load(s, o + at->frame_instr), code));
	c->frame = previous == c->frame ? 0 : previous;
	c->ended = boundary;
	return 1;
broken:
	c->frame = 0;
	return -1;
}
