/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* beam_code.bpf.h - code positions of Erlang: module, function, file and line of an address, and the memo that keeps
 * them. Part of beam.bpf.c. */
#pragma once
#include "bpf/lib/seen.bpf.h"
#include "bpf/walk/langmaps.bpf.h"
#include "bpf/walk/step.bpf.h"
#include "beam.h"

/* Code positions that were sent, by frame. */
#define BEAM_SEEN_BUCKETS 8192
SEEN_MAP(beam_seen, BEAM_SEEN_BUCKETS);

#define BEAM_MEMO  1024
#define BEAM_TRUST 1000000 /* ns for which a memo is trusted without a check */
#define BEAM_KEYS_MAX 1024
#define BEAM_FRAME_WORDS 1100 /* a function has at most 1024 registers on the stack */
#define BEAM_STACK_MAX (1ULL << 36) /* bytes */
#define BEAM_MODULES_MAX (1 << 20)
#define BEAM_FUNCTIONS_MAX (1 << 20)
#define BEAM_LINES_MAX (1 << 24)
#define BEAM_BISECT 24     /* rounds */
#define BEAM_LAST_MAX 192  /* bytes of a module's last function */
#define BEAM_AFTER 256     /* bytes of code after a call that are searched */
#define BEAM_BEFORE 64     /* bytes of code before a position that are searched */

/* A code position. Modules are replaced, so each round of walks checks a memo once. */
struct beam_memo {
	__u64 key;    /* the address looked up, with the process */
	__u64 frame;
	__u64 code;   /* ErtsCodeInfo; 0: code of no module */
	__u64 print;  /* hash of its module, function and arity, and of the module's place */
	__u64 module; /* BeamCodeHeader */
	__u32 round;  /* the round in which it was last checked */
	__u32 generation;
	__u32 sent;   /* userspace has it */
	__u32 pad;
	__u64 pad2;
};
_Static_assert(sizeof(struct beam_memo) == 64, "a cache line");

/* The place from which Erlang code takes its stack after it has called C. */
enum beam_leaves {
	LEAVE_UNKNOWN,
	LEAVE_RBP,
	LEAVE_STOP,
	LEAVE_SCHEDULE, /* C chooses a process */
};

struct beam_range {
	__u64 modules, n, allocated, mid;
};

struct beam_scratch {
	struct beam_memo memo[BEAM_MEMO]; /* first: aligned */
	struct beam_record out;
	struct beam_proc proc; /* the process of this walk */
	struct beam_range tables[BEAM_TABLES];
	__u64 module, code;    /* of the address looked up */
	__u64 mfa[3];          /* module, function: terms; arity */
	__u64 heap[4];
	__u32 function;        /* its number in the module */
	__u32 pid;
	__u32 round;
	__u32 best;            /* the table with the most modules */
	__u64 began;           /* the round's start in ns */
	__u64 place_pc, place_sp, place_serial; /* the frame that beam_frame() has found */
	__u32 place_any, pad;  /* it is of no module */
	__u64 serial;          /* counts walks */
	__u64 end_of_all;      /* the last return address of all stacks; 0: not known yet */
	__u64 modules_start, modules_size; /* addresses of the first module to the last, in several mappings */
	__u8 after[BEAM_AFTER + 8];
} __attribute__((aligned(64)));

LANG_MAPS(beam)

/* This walk's data, in struct walk's frame_own[]. */
struct beam_walk {
	__u64 serial;
	__u64 sp;  /* of the frame that this language has stepped to, which is on the process's stack */
	__u64 end; /* of that stack; 0: unknown */
	__u64 settled; /* all words of the next frames are set */
};
_Static_assert(sizeof(struct beam_walk) <= 8 * FRAME_OWN, "frame_own");

static __always_inline struct beam_walk *own_of(struct walk *w)
{
	return (struct beam_walk *)w->frame_own;
}

/* ---- address -> module, function ---- */

/* Returns the number of the last of n addresses, `stride` bytes apart, that is not above the key. One that is not
 * readable counts as 0, so the caller checks the result. */
__global __u64 beam_bisect(__u64 base, __u64 stride, __u64 n, __u64 key)
{
	__u64 at = 0;

	for (int i = 0; i < BEAM_BISECT; i++) {
		__u64 half = n >> 1, word = 0;

		if (n <= 1)
			break;
		bpf_probe_read_user(&word, 8, (void *)(base + (at + half) * stride));
		at += half * not_above(word & (~0ULL >> 1), key);
		n -= half;
	}
	return at;
}

/* Reads the tables of modules. Returns 0. */
__global int beam_tables(struct beam_scratch *s)
{
	__u64 most = 0, base = 0, end = 0;

	if (!s)
		return -1;
	s->best = 0;
	if (bpf_probe_read_user(s->tables, sizeof(s->tables), (void *)s->proc.ranges)) {
		for (int i = 0; i < BEAM_TABLES; i++)
			s->tables[i].n = 0;
		return 0;
	}
	for (int i = 0; i < BEAM_TABLES; i++) {
		if (s->tables[i].n <= most || s->tables[i].n > BEAM_MODULES_MAX)
			continue;
		most = s->tables[i].n;
		base = s->tables[i].modules;
		s->best = i;
	}
	s->modules_size = 0;
	if (most && !read_user(base, &s->modules_start) && !read_user(base + 16 * most - 8, &end) &&
		end > s->modules_start)
		s->modules_size = end - s->modules_start;
	return 0;
}

/* Finds the module of an address in one table. Returns 0, or -1 if it has none. */
__global int beam_find_module(struct beam_scratch *s, __u32 table, __u64 pc)
{
	__u64 at, range[2] = {}, base, n;

	if (!s || table >= BEAM_TABLES)
		return -1;
	base = s->tables[table].modules;
	n = s->tables[table].n;
	if (!n || n > BEAM_MODULES_MAX)
		return -1;
	at = beam_bisect(base, 16, n, pc);
	if (bpf_probe_read_user(range, sizeof(range), (void *)(base + 16 * at)) || pc < range[0] || pc >= range[1])
		return -1;
	s->module = range[0];
	return 0;
}

#define is_atom(term) (((term) & 0x3f) == 0x0b)

/* Since OTP 27 a module's code ends with a call that is never made and a list of jumps to code that modules share. All
 * of it is within the last function. Each of these has 6 bytes. */
#define SHARED_JUMP 0xe940 /* with a prefix that does nothing: the assembler may have to make it indirect */
#define NEVER_CALL  0x15ff

static __always_inline int is_shared_jump(__u64 pc)
{
	enum { SIZE = 3 }; /* in halfwords */
	__u16 code[2 * SIZE + 1] = {};

	if (bpf_probe_read_user(code, sizeof(code), (void *)(pc - 2 * SIZE)) || code[SIZE] != SHARED_JUMP)
		return 0;
	return code[0] == SHARED_JUMP || code[2 * SIZE] == SHARED_JUMP || code[0] == NEVER_CALL;
}

/* Finds the function of an address in s->module. Returns 0, or -1 if it has none: code that functions share follows
 * them, and the runtime has a module of such code, whose name is not an atom. */
__global int beam_find_function(struct beam_scratch *s, __u64 pc)
{
	__u64 code = 0, at;
	__u32 n = 0;

	if (!s || bpf_probe_read_user(&n, 4, (void *)s->module) || !n || n > BEAM_FUNCTIONS_MAX)
		return -1;
	at = beam_bisect(s->module + s->proc.functions, 8, n + 1ULL, pc);
	if (at >= n || read_user(s->module + s->proc.functions + 8 * at, &code) || code > pc || code < s->module ||
		bpf_probe_read_user(s->mfa, sizeof(s->mfa), (void *)(code + 16)) || !is_atom(s->mfa[0]) ||
		!is_atom(s->mfa[1]))
		return -1;
	/* Code that functions share may follow the last one within the table: module_info/1, or a fun's. */
	if (at == n - 1 && ((s->mfa[2] == 1 && pc - code > BEAM_LAST_MAX) || is_shared_jump(pc)))
		return -1;
	s->code = code;
	s->function = at;
	return 0;
}

/* ---- names ---- */

/* Atoms: the table's segments of 1024 at 120; in an Atom the length (u16) at 24, the name at 32. A term with the low
 * bits 001011 is an atom. */
#define ATOM_SEGMENTS 120
#define ATOM_LENGTH   24
#define ATOM_NAME     32
#define BOXED_TEXT    16

__global int beam_atom(struct beam_scratch *s, __u64 term, struct beam_text *out)
{
	__u64 at = 0, index = term >> 6, size;
	__u16 length = 0;

	if (!s || !out)
		return -1;
	out->size = out->full = 0;
	__builtin_memset(out->chars, 0, sizeof(out->chars));
	if (!is_atom(term) || index >= 1ULL << 32 || read_user(s->proc.atoms + ATOM_SEGMENTS, &at) ||
		read_user(at + 8 * (index >> 10), &at) || read_user(at + 8 * (index & 1023), &at) || !at ||
		bpf_probe_read_user(&length, 2, (void *)(at + ATOM_LENGTH)) || read_user(at + ATOM_NAME, &at))
		return -1;
	if (s->proc.boxed)
		at = (at & ~7ULL) + BOXED_TEXT;
	size = length;
	FORGET(size); /* else clang compares another copy than the one that it passes on */
	if (size > BEAM_TEXT_MAX)
		size = BEAM_TEXT_MAX;
	if (!size || bpf_probe_read_user(out->chars, size, (void *)at))
		return -1;
	out->size = size;
	out->full = length;
	return 0;
}

/* A string is a list of small integers; its cells are {character << 4 | 15, the next one}. */
struct beam_list {
	struct beam_text *out;
	__u64 next;
};

static long list_cell(__u32 i, void *data)
{
	struct beam_list *l = data;
	__u64 cell[2] = {}, at = i, c;

	if ((l->next & 3) != 1 || bpf_probe_read_user(cell, sizeof(cell), (void *)(l->next & ~7ULL)))
		return 1;
	c = cell[0] >> 4;
	FORGET(at);
	l->out->chars[at & (BEAM_TEXT_MAX - 1)] = c < 0x80 ? (__u8)c : '?';
	l->out->size = l->out->full = i + 1;
	l->next = cell[1];
	return 0;
}

static __always_inline void read_list(__u64 term, struct beam_text *out)
{
	struct beam_list list = {.out = out, .next = term};

	bpf_loop(BEAM_TEXT_MAX, list_cell, &list, 0);
}

/* Sets file and line of an address in the function that was found. The names of files begin with the module's. */
__global int beam_line(struct beam_scratch *s, __u64 pc)
{
	__u64 table = 0, head[3] = {}, range[2] = {}, first = 0, at, file = 0;
	__u32 place = 0;

	if (!s)
		return -1;
	s->out.line = 0;
	s->out.file.size = s->out.file.full = 0;
	__builtin_memset(s->out.file.chars, 0, sizeof(s->out.file.chars));
	if (read_user(s->module + s->proc.lines, &table) || !table ||
		bpf_probe_read_user(head, sizeof(head), (void *)table) || read_user(table + 24, &first) ||
		bpf_probe_read_user(range, sizeof(range), (void *)(table + 24 + 8ULL * s->function)) ||
		range[1] <= range[0] || range[1] - range[0] > 8 * BEAM_LINES_MAX || read_user(range[0], &at) || at > pc)
		return -1;
	at = beam_bisect(range[0], 8, (range[1] - range[0]) >> 3, pc) + ((range[0] - first) >> 3);
	if ((__u32)head[1] == 2)
		bpf_probe_read_user(&place, 2, (void *)(head[2] + 2 * at));
	else
		bpf_probe_read_user(&place, 4, (void *)(head[2] + 4 * at));
	if (!place)
		return -1;
	s->out.line = place & 0xffffff;
	if (place >> 24 && !read_user(head[0] + 8ULL * (place >> 24), &file))
		read_list(file, &s->out.file);
	return 0;
}

#define HASH_WORDS ((sizeof(struct beam_record) - __builtin_offsetof(struct beam_record, arity)) / 8)
struct beam_hash {
	struct beam_record *r;
	__u64 h;
};

static long hash_word(__u32 i, void *data)
{
	struct beam_hash *b = data;
	__u64 at = i;

	FORGET(at);
	if (at < HASH_WORDS)
		b->h = seen_mix(b->h, ((const __u64 *)&b->r->arity)[at]);
	return 0;
}

/* Reads the names of an address whose function was found, into s->out. Returns the frame. */
__global __u64 beam_names(struct beam_scratch *s, __u64 pc)
{
	struct beam_hash hash = {};
	__u64 id;

	if (!s)
		return 0;
	beam_atom(s, s->mfa[0], &s->out.module);
	beam_atom(s, s->mfa[1], &s->out.function);
	s->out.arity = (__u32)s->mfa[2];
	beam_line(s, pc);
	hash.r = &s->out;
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	id = FRAME_BEAM(hash.h);
	return id == FRAME_BEAM_RUNTIME ? FRAME_BEAM(2) : id;
}

/* ---- memos ---- */

static __always_inline __u64 print_of(const struct beam_scratch *s)
{
	return seen_mix(seen_mix(seen_mix(s->module, s->mfa[0]), s->mfa[1]), s->mfa[2]) | 1;
}

/* Returns whether the memo's function is still there. */
static __always_inline int is_valid(struct beam_scratch *s, struct beam_memo *m)
{
	if (m->round == s->round)
		return 1;
	if (!m->code || bpf_probe_read_user(s->mfa, sizeof(s->mfa), (void *)(m->code + 16)))
		return 0;
	s->module = m->module;
	if (print_of(s) != m->print)
		return 0;
	m->round = s->round;
	return 1;
}

static __always_inline int find(struct beam_scratch *s, __u64 pc)
{
	__u32 best = s->best;

	/* Code that is being loaded or purged may be in another table. */
	if (beam_find_module(s, best, pc) && beam_find_module(s, best == 2 ? 0 : best + 1, pc) &&
		beam_find_module(s, best == 0 ? 2 : best - 1, pc))
		return -1;
	return beam_find_function(s, pc);
}

/* Returns the number of the memo of an address in compiled code. A new memo has no frame, and s has its function. */
__global __u32 beam_at(struct beam_scratch *s, __u64 pc)
{
	__u64 k = pc * 0x9e3779b97f4a7c15ULL >> 54;
	struct beam_memo *m;

	if (!s)
		return 0;
	FORGET(k);
	k &= BEAM_MEMO - 1;
	m = &s->memo[k];
	if (m->key == pc && m->generation == s->proc.generation && is_valid(s, m))
		return k;
	m->key = 0;
	s->module = s->code = 0;
	if (find(s, pc))
		s->code = 0;
	m->frame = 0;
	m->code = s->code;
	m->module = s->module;
	m->print = print_of(s);
	m->round = s->round;
	m->generation = s->proc.generation;
	m->sent = 0;
	m->key = pc;
	return k;
}

/* Sends the frame whose names are in s->out. Returns 0 if userspace has it. */
__global int beam_send(struct walk *w, struct beam_scratch *s, __u64 frame)
{
	struct seen_bucket *b;

	if (!w || !s)
		return -1;
	b = seen_bucket(&beam_seen, BEAM_SEEN_BUCKETS, frame);
	if (seen_has(b, frame))
		return 0;
	s->out.head.head = (struct record){RECORD_LANG, FRAME_LANG_BEAM};
	s->out.head.pid = w->pid;
	s->out.head.time = 0;
	s->out.frame = frame;
	if (ring_output(&s->out, sizeof(s->out)))
		return -1;
	seen_add(b, frame);
	return 0;
}

/* ---- code after a call of C ---- */

struct leave_search {
	struct beam_scratch *s;
	__u32 found, pad;
};

static long leave_byte(__u32 i, void *data)
{
	struct leave_search *l = data;
	__u64 at = i;
	__u32 op;

	FORGET(at);
	op = *(__u32 *)&l->s->after[at & (BEAM_AFTER - 1)];
	if (op == 0x58658b49)
		l->found = LEAVE_STOP;
	else if ((op & 0xffffff) == 0xec8948)
		l->found = LEAVE_RBP;
	else if ((op & 0xffffff) == 0xc58949)
		l->found = LEAVE_SCHEDULE;
	else
		return (op & 0xffffff) == 0x638d48; /* lea ..(%rbx),%rsp: the next call */
	return 1;
}

/* Returns enum beam_leaves for the walk's frame. */
static __always_inline __u32 beam_leave(struct walk *w, struct beam_scratch *s)
{
	struct leave_search search = {.s = s};

	if (bpf_probe_read_user(s->after, BEAM_AFTER, (void *)w->pc))
		return LEAVE_UNKNOWN;
	bpf_loop(BEAM_AFTER - 4, leave_byte, &search, 0);
	return search.found;
}

/* ---- the size of a frame ---- */

struct frame_search {
	struct beam_scratch *s;
	__u32 size, pad;
};

static long frame_byte(__u32 i, void *data)
{
	struct frame_search *f = data;
	__u64 at = i;
	__u32 op, size;

	at = BEAM_BEFORE - 4 - at; /* downwards */
	FORGET(at);
	at &= BEAM_AFTER - 1;
	op = *(__u32 *)&f->s->after[at];
	size = *(__u32 *)&f->s->after[at + 3];
	if ((op & 0xffffff) == 0xec8348) /* sub $N,%rsp */
		f->size = size & 0xff;
	else if ((op & 0xffffff) == 0xec8148)
		f->size = size;
	else
		return (op & 0xffffff) == 0xc48348 || (op & 0xffffff) == 0xc48148; /* add $N,%rsp */
	return 1;
}

/* Returns the size of a frame that the code just before pc has made, whose words may not be set yet; 0: no code made
 * one there. */
static __always_inline __u32 frame_made(struct walk *w, struct beam_scratch *s)
{
	struct frame_search search = {.s = s};

	if (bpf_probe_read_user(s->after, BEAM_BEFORE, (void *)(w->pc - BEAM_BEFORE)))
		return 0;
	bpf_loop(BEAM_BEFORE - 4, frame_byte, &search, 0);
	return search.size & 0xffff;
}
