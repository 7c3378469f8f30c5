// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* perl.bpf.c - the kernel half of src/unwinders/perl/: Perl's frames.
 *
 * The contexts of a stackinfo are an array, newest last. A frame is a sub (CV) with the file of the statement that it
 * runs. Its id is a hash of the sub's name, package and file; its cookie is a hash of the pointers to the names, of
 * Perl's hashes of the names, and of the file's name: see list.bpf.h.
 *
 * perl.h describes the layouts. */
#include "perl.h"

#define LIST_STEM       perl
#define LIST_LANG       FRAME_LANG_PERL
#define LIST_UNREADABLE PERL_UNREADABLE
#define CODE_BITS       PERL_CODE_BITS
#define FRAME_BYTES     80  /* bytes of a context that are read */
#define CODE_BYTES      256 /* at least the bytes of a CV's body, and of a file's name, that are read */

/* The id is a hash of these: name, package, file. */
#define HASH_SECOND (PERL_NAME_MAX / 8)
#define HASH_THIRD  (2 * PERL_NAME_MAX / 8)
#define HASH_SECOND_SIZE package_size
#define HASH_THIRD_SIZE  file_size

/* The CV's body, 0: unknown; hash_words(); a statement that the sub has run, 0: none; low bits of the address of its
 * file's name, and of own.stamp when the sub was compared. The statement's line is in the id, above CODE_BITS. */
#define LIST_MEMO_OWN   __u64 body, words, cop; __u32 file, stamp;
#define LIST_LASTS      4
#define LAST_STASH      0 /* the HEK of a stash's name */
#define LAST_PACKAGE    1 /* the first word of that */
#define LAST_FILE       2 /* the hash of a file's name */
#define LAST_GLOB       3 /* the name of a file's glob */

struct perl_own {
	__u64 sub, file;     /* the code that is looked up: a CV or enum perl_kind; a string */
	__u64 glob;          /* file, or the glob that has it */
	__u64 words_of_cop[3]; /* from COP_LINE on: the BPF stack is too short */
	__u64 name, package; /* its HEKs, or 0 */
	__u64 cop;           /* the statement that the next frame runs */
	__u64 body;          /* of the CV, which is in code[]; 0: it has none */
	__u64 words;         /* hash_words() */
	__u64 tick;          /* of this walk; a sub's names are read once a second */
	__u32 stamp;         /* of what Perl has compiled, see perl_stamp(); 0: unknown */
	__u32 stable;        /* of the CV: perl_stable() */
};

struct perl_place {
	__u64 base;  /* contexts of this stackinfo */
	__u64 prev;  /* the stackinfo before it */
	__u64 cop;   /* the statement that this frame runs */
	__u64 op;    /* the operation that the thread runs */
	__u64 top;   /* the newest context */
	__u32 type;  /* PERLSI_* of this stackinfo */
	__u8 begun;  /* a loop was met */
	__u8 taken;  /* this loop has taken a context */
	__u8 caught; /* S_docatch() was met: its caller is the loop whose contexts were taken */
	__u8 within : 1; /* the next context is the eval that C began for its call */
	__u8 half : 1;   /* Perl is making or removing the newest context, a sub: its CV may be another value */
	__u8 bare : 1;   /* is_bare() was believed */
	__u8 skipped : 1; /* the activation that no loop runs was left out */
	__u8 sure : 1;    /* the statement is the one of the next context's own code that called the one before */
};

#include "list.bpf.h"

_Static_assert(HASH_WORDS == HASH_THIRD + PERL_FILE_MAX / 8, "a power of 2");

#define TICK_SHIFT    30 /* of ns */
#define FRAME_UNKNOWN 1 /* not a frame's address, so perl_next() fails to read it */
#define PACKAGE_UNREADABLE 1 /* not a HEK's address, so read_hek() fails to read it */
#define PACKAGE_NAMELESS   2 /* not one either */
#define NAMELESS_TEXT      0x5f5f4e4f4e415f5f /* "__ANON__" */
#define KEYS_MAX      1024
#define CONTEXTS_MAX  (1 << 24)
#define CALLER_BYTES  1024 /* at most the frame of a C function that calls the loop */
#define STACK_REACH   (1 << 20) /* at most the C frames above the operation of a call by C */

/* Guesses for a repeated walk, if there are more activations than loops, or fewer: C and Perl were calling each other,
 * which concerns only the newest activation and the innermost loop. */
enum perl_guess {
	PERL_NO_GUESS,
	PERL_SKIP, /* no loop runs the newest activation */
	PERL_BARE, /* the innermost loop has no activation */
	PERL_FULL, /* the innermost loop runs the newest activation, although is_bare() or is_pending() denies it */
};

/* PERL_SI: si_cxstack, si_prev, si_cxix (s32), si_cxsubix (s32: the newest sub, eval or format), si_type: the second
 * half of that word */
#define SI_CONTEXTS 0x08
#define SI_PREV     0x10
#define SI_INDEX    0x20
#define SI_NEWEST   0x28
#define SI_BYTES    0x30
#define TYPE_MAIN      1
#define TYPE_SORT      3
#define TYPE_MULTICALL 10

/* PERL_CONTEXT: cx_type (a byte), blk_oldcop, retop, cv; eval: old_namesv */
#define CX_SIZE  0x68
#define CX_COP   0x10
#define CX_RETOP 0x30
#define CX_NAME  0x40
#define CX_CV    0x48
#define CX_MASK   0xf
#define CX_NULL   0
#define CX_SUB    9
#define CX_FORMAT 10
#define CX_EVAL   11
#define CX_DEFER  13 /* a defer or finally block, since 5.36 */
#define CX_BLOCK  0x40 /* CXp_TRYBLOCK: an eval of a block */
#define CX_RE     0x40 /* CXp_SUB_RE: code within a pattern */
#define CX_FAKE   0x80 /* CXp_SUB_RE_FAKE: in the sub that runs the pattern */
#define BLOCKS          0x01fe01feU /* bits of types between CX_NULL and CX_SUB: loops, blocks; with or without 0x40 */
#define CODE_OF_PATTERN (1U << (CX_SUB + CX_RE / 4))
#define CX_TRY    0x80 /* CXp_TRY: an eval that is a try block, and not in si_cxsubix */

/* COP: op_next; op_type is in the low bits of the word at 0x20, cop_line its second half; cop_file is at 0x30 */
#define COP_NEXT  0x00
#define COP_LINE  0x20
#define OP_TYPE   0x1ff

/* SV: sv_any; sv_flags in the second half of the word at 8, whose low bits are the type; sv_u */
#define SV_ANY    0x00
#define SV_FLAGS  0x08
#define SV_U      0x10
#define SV_TYPE   0x1f
#define SV_CODE   13 /* SVt_PVCV */
#define SV_FORM   14 /* SVt_PVFM */

/* XPVCV: xcv_stash; xcv_start_u; xcv_gv_u: a GV, or a HEK if xcv_flags has CVf_NAMED; xcv_depth (s32) */
#define CV_STASH  0x20
#define CV_START  0x28
#define CV_NAME   0x38
#define CV_FLAGS  0x5c
#define CV_DEPTH  0x60
#define CV_BYTES  0x60
#define CV_CLONED  0x40
#define CV_ANON    0x80
#define CV_NAMED   0x8000
#define CV_LEXICAL 0x10000

/* XPVGV: the name's HEK, its stash; GP: gp_egv */
#define GV_NAME   0x20
#define GV_STASH  0x28
#define GP_EGV    0x38

/* XPVHV: xhv_max; struct xpvhv_aux, after the body or the array: xhv_name_u, xhv_name_count (the second half of the
 * word at 0x18) */
#define HV_MAX    0x18
#define HV_AUX    0x20
#define AUX_COUNT 0x18

/* struct hek: hash, len (s32), key */
#define HEK_KEY   8

/* ---- the process ---- */

__global __u64 perl_compiled(struct walk *w)
{
	return 0;
}

static __always_inline void move_proc(struct perl_proc *p, __u64 bias)
{
	if (p->key) {
		p->key += bias;
	} else if (p->info) {
		p->op += bias;
		p->cop += bias;
		p->info += bias;
		p->seq += p->seq ? bias : 0;
	}
	p->docatch += p->docatch ? bias : 0;
}

/* Returns the thread's interpreter, or 0. */
__global __u64 perl_interpreter(struct perl_scratch *s, __u64 tp)
{
	__u64 word = 0, block, key;
	const struct perl_tsd *at;

	if (!s || read_word(s->proc.key, &word))
		return 0;
	at = &s->proc.tsd;
	key = (__u32)word;
	block = tp + (__u64)(__s64)at->first;
	if (key >= KEYS_MAX)
		return 0;
	if (key >= at->inlined) {
		__u32 shift = at->block_shift & 31;

		if (read_word(tp + (__u64)(__s64)at->blocks + 8 * (key >> shift), &block) || !block)
			return 0;
		key &= (1ULL << shift) - 1;
	}
	word = 0;
	read_word(block + (key << (at->entry_shift & 7)) + at->value, &word);
	return word;
}

/* Looks at a context above the newest sub, eval or format, which Perl is making or removing: an eval is an older one
 * and left out; a sub has a statement to return to, but is not shown. */
static __always_inline void check_newest(struct walk *w)
{
	__u64 word = 0;

	read_word(w->list.frame, &word);
	place_of(w)->own.half = (word & CX_MASK) == CX_SUB;
	if ((word & (CX_MASK | CX_TRY)) == CX_EVAL)
		w->list.frame -= CX_SIZE;
}

/* Sets the place to the newest context of a stackinfo. Returns 0 on success, -1 on failure. */
__global int perl_enter(struct walk *w, __u64 info)
{
	__u64 words[SI_BYTES / 8] = {};
	struct perl_place *p;
	__s64 index;

	if (!w)
		return -1;
	p = &place_of(w)->own;
	w->list.frame = 0;
	if (bpf_probe_read_user(words, sizeof(words), (const void *)info))
		return -1;
	index = (__s32)words[SI_INDEX / 8];
	p->base = words[SI_CONTEXTS / 8];
	p->prev = words[SI_PREV / 8];
	p->type = words[SI_NEWEST / 8] >> 32;
	if (index < -1 || index > CONTEXTS_MAX || p->base < CX_SIZE || (p->base & 7))
		return -1;
	w->list.frame = p->base + (__u64)(index * CX_SIZE);
	p->half = 0;
	p->sure = 0;
	if (index >= 0 && index > (__s32)words[SI_NEWEST / 8])
		check_newest(w);
	return 0;
}

/* Returns whether pp_entersub() is writing the newest context: 5.42 counts it before it has written cv and retop, which
 * are then those of an older call. The sub's first statement is not the caller's. */
__global int perl_is_unwritten(struct walk *w, struct perl_scratch *s)
{
	__u64 context[CX_RETOP / 8 + 1] = {}, op[COP_LINE / 8 + 1] = {};
	const struct perl_place *p;

	if (!w || !s)
		return 0;
	p = &place_of(w)->own;
	if (w->list.frame < p->base || !s->proc.entersub ||
		bpf_probe_read_user(context, sizeof(context), (const void *)w->list.frame) ||
		(context[0] & CX_MASK) != CX_SUB || context[CX_COP / 8] != p->cop)
		return 0;
	return !bpf_probe_read_user(op, sizeof(op), (const void *)p->op) &&
	       (op[COP_LINE / 8] & OP_TYPE) == s->proc.entersub && op[COP_NEXT / 8] &&
	       op[COP_NEXT / 8] != context[CX_RETOP / 8];
}

/* Returns a stamp that changes when Perl has compiled code, and after a second; 0: unknown. Interpreters of other
 * threads count for themselves, but begin with the same number. */
__global __u32 perl_stamp(struct walk *w, struct perl_scratch *s, __u64 interp)
{
	__u32 seq = 0;

	if (!w || !s || !s->proc.seq || bpf_probe_read_user(&seq, sizeof(seq), (const void *)(interp + s->proc.seq)))
		return 0;
	return (__u32)(seen_mix(seen_mix(s->own.tick, interp), (__u64)w->tid << 32 | seq) >> 16) | 1;
}

__global int perl_begin(struct walk *w)
{
	struct perl_scratch *s;
	struct perl_place *p;
	__u64 interp, info = 0;

	if (!w)
		return -1;
	s = begin(w);
	if (!s)
		return -1;
	if (!s->proc.info) { /* an unknown build: there may be frames */
		w->list.frame = FRAME_UNKNOWN;
		return 0;
	}
	s->own.tick = bpf_ktime_get_ns() >> TICK_SHIFT;
	interp = s->proc.key ? perl_interpreter(s, walk_tp(w)) : 0;
	if (s->proc.key ? !interp : w->tid != w->pid) /* not a thread of Perl */
		return 0;
	p = &place_of(w)->own;
	if (read_word(interp + s->proc.op, &p->op) || read_word(interp + s->proc.cop, &p->cop) ||
		read_word(interp + s->proc.info, &info))
		return -1;
	if (!info) /* it has not begun */
		return 0;
	s->own.stamp = perl_stamp(w, s, interp);
	if (perl_enter(w, info))
		return -1;
	if (perl_is_unwritten(w, s))
		w->list.frame -= CX_SIZE;
	p->top = w->list.frame;
	w->list.if_more = PERL_SKIP;
	w->list.if_less = PERL_BARE;
	return 0;
}

/* ---- code ---- */

/* Returns the hash of the code object in s->out. */
__global __u64 perl_code_hash(struct perl_scratch *s)
{
	struct list_hash hash = {};

	if (!s)
		return 0;
	hash.r = &s->out;
	hash.h = seen_mix((__u64)hash.r->kind << 32 | hash.r->file_size,
		(__u64)hash.r->name_size << 32 | hash.r->package_size);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

static __always_inline __u64 code_hash(struct perl_scratch *s)
{
	return perl_code_hash(s);
}

/* Returns 0 on success, -1 on failure. */
static __always_inline int read_hek(__u64 hek, __u64 *out, __u32 *ret_size)
{
	__u64 head = 0;
	__u32 size;

	*ret_size = 0;
	if (!hek)
		return 0;
	if (hek == PACKAGE_NAMELESS) {
		*out = NAMELESS_TEXT;
		*ret_size = sizeof(*out);
		return 0;
	}
	if (read_word(hek, &head))
		return -1;
	size = head >> 32 > PERL_NAME_MAX ? PERL_NAME_MAX : (__u32)(head >> 32);
	*ret_size = size;
	return bpf_probe_read_user(out, size, (const void *)(hek + HEK_KEY)) ? -1 : 0;
}

/* Reads the names of the code in s->own. */
__global int perl_read_code(struct perl_scratch *s)
{
	struct perl_code_record *r;
	long size;

	if (!s)
		return -1;
	r = &s->out;
	if (read_hek(s->own.name, r->name, &r->name_size) || read_hek(s->own.package, r->package, &r->package_size))
		return -1;
	size = bpf_probe_read_user_str(r->file, PERL_FILE_MAX, (const void *)s->own.file);
	r->file_size = size > 0 ? (__u32)size - 1 : 0;
	return size > 0 ? 0 : -1;
}

static __always_inline int name_code(struct perl_scratch *s, __u64 addr, int readable)
{
	struct perl_code_record *r = &s->out;

	r->addr = addr;
	r->kind = s->own.sub < PERL_KINDS ? (__u32)s->own.sub : PERL_SUB;
	if (readable && !perl_read_code(s))
		return 0;
	r->name_size = r->package_size = r->file_size = 0;
	return -1;
}

static __always_inline __u32 record_size(const struct perl_code_record *r)
{
	__u32 file = r->file_size;

	if (file > PERL_FILE_MAX)
		file = PERL_FILE_MAX;
	return __builtin_offsetof(struct perl_code_record, file) + file;
}

/* Returns the HEK of a stash's name as caller() has it, or a PACKAGE_ value. */
__global __u64 perl_package(struct perl_scratch *s, __u64 stash)
{
	__u64 body = 0, aux, name, count = 0, words[AUX_COUNT / 8 + 1] = {};

	if (!s || !stash)
		return PACKAGE_NAMELESS;
	if (has_last(s, LAST_STASH, stash))
		return s->last[LAST_STASH].value;
	if (read_word(stash + SV_ANY, &body))
		return PACKAGE_UNREADABLE;
	aux = body + HV_AUX;
	if (!s->proc.name_inside) {
		if (read_word(body + HV_MAX, &count) || read_word(stash + SV_U, &aux))
			return PACKAGE_UNREADABLE;
		aux += 8 * (count + 1);
	}
	if (bpf_probe_read_user(words, sizeof(words), (const void *)aux))
		return PACKAGE_UNREADABLE;
	name = words[0];
	/* An array of names, whose first is the stash's own; it has no other one after a delete of the stash. */
	if (words[AUX_COUNT / 8] >> 32 && read_word(name, &name))
		return PACKAGE_UNREADABLE;
	return set_last(s, LAST_STASH, stash, name ? name : PACKAGE_NAMELESS);
}

/* Returns a hash of the CV's body that is in s->code: of words that do not change while the sub exists. Perl counts
 * blocks while it compiles, and the body has the number of the sub's (xcv_outside_seq): a sub at the same address that
 * was compiled later differs. 0: the sub has no first operation, as if its body was freed. */
static __always_inline __u64 hash_words(const struct perl_scratch *s)
{
	__u64 h = seen_mix(s->own.tick, s->own.body);

#pragma clang loop unroll(disable) /* code that is not in the caches costs more than a loop */
	for (int i = CV_STASH / 8; i < CV_BYTES / 8; i++)
		h = seen_mix(h, s->code[i]);
	return s->code[CV_START / 8] ? h : 0;
}

/* Returns own.stamp if no other CV, which has another name, can run the statements of the sub whose body is in s->code,
 * else 0. Closures share their statements, and may get names one by one. */
__global __u32 perl_stable(struct perl_scratch *s)
{
	__u32 flags;

	if (!s)
		return 0;
	flags = (__u32)code_load(s, CV_FLAGS);
	return flags & CV_NAMED || !(flags & (CV_CLONED | CV_ANON)) ? s->own.stamp : 0;
}

/* Finds the HEKs of the sub in s->own. Returns 0 on success, -1 on failure. */
__global int perl_names(struct perl_scratch *s)
{
	__u64 head[3] = {}, flags, name, gv;
	__u32 type;

	if (!s)
		return -1;
	s->own.name = s->own.package = s->own.body = 0;
	s->own.stable = 0;
	if (s->own.sub < PERL_KINDS)
		return 0;
	if (bpf_probe_read_user(head, sizeof(head), (const void *)s->own.sub))
		return -1;
	type = head[SV_FLAGS / 8] >> 32 & SV_TYPE;
	if ((type != SV_CODE && type != SV_FORM) ||
		bpf_probe_read_user(s->code, CV_BYTES, (const void *)head[SV_ANY / 8]))
		return -1;
	s->own.body = head[SV_ANY / 8];
	s->own.words = hash_words(s);
	s->own.stable = perl_stable(s);
	flags = (__u32)code_load(s, CV_FLAGS);
	name = code_word(s, CV_NAME);
	if (flags & CV_NAMED) {
		s->own.name = name;
		s->own.package = flags & CV_LEXICAL ? 0 : perl_package(s, code_word(s, CV_STASH));
		return 0;
	}
	if (!name) { /* a sub whose glob was freed */
		s->own.body = s->own.stable = 0;
		return 0;
	}
	if (bpf_probe_read_user(head, sizeof(head), (const void *)name))
		return -1;
	gv = name;
	if (!read_word(head[SV_U / 8] + GP_EGV, &name) && name && name != gv &&
		read_word(name + SV_ANY, &head[SV_ANY / 8]))
		return -1;
	if (bpf_probe_read_user(head, 16, (const void *)(head[SV_ANY / 8] + GV_NAME))) /* and GV_STASH */
		return -1;
	s->own.name = head[0];
	s->own.package = perl_package(s, head[1]);
	return 0;
}

#include "perl_cookie.bpf.h"
#include "perl_memo.bpf.h"

/* ---- frames ---- */

/* Reads one context, whose page has no next page. */
static __always_inline int read_alone(struct perl_scratch *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame;
	*size = FRAME_BYTES;
	return bpf_probe_read_user(s->window, FRAME_BYTES, (const void *)frame) ? -1 : 0;
}

/* Returns whether this loop has no contexts: it is S_docatch()'s frame, or the loop that called S_docatch(), whose
 * contexts the inner one runs. */
static __always_inline int is_empty(struct walk *w, const struct perl_scratch *s)
{
	struct perl_place *p = &place_of(w)->own;
	int caught = p->caught;

	if (!w->list_in || p->taken)
		return 0;
	p->caught = s->proc.docatch && w->lookup - s->proc.docatch < s->proc.docatch_size;
	return p->caught || caught;
}

/* Returns whether the newest context, at o in the window, is a sub that C has entered and that has not begun: it has
 * run no statement. */
static __always_inline int is_new(const struct perl_place *p, const struct perl_scratch *s, __s64 o)
{
	return (frame_word(s, o) & CX_MASK) == CX_SUB && !frame_word(s, o + CX_RETOP) &&
	       frame_word(s, o + CX_COP) == p->cop;
}

/* Returns whether C is calling Perl, or Perl is returning to C. */
static __always_inline int is_between(struct walk *w)
{
	__u64 op = place_of(w)->own.op, next = 0;

	return !op || op - w->first_sp < STACK_REACH || (!read_word(op + COP_NEXT, &next) && !next);
}

/* Returns whether the innermost loop has no context yet, or no longer: it looks up a method that C calls, or runs an XS
 * function by its name (its operation is on the C stack); or it is about to return. */
static __always_inline int is_bare(struct walk *w, struct perl_scratch *s)
{
	const struct perl_place *p = &place_of(w)->own;
	int has_ended = w->list.frame < p->base;
	__s64 o;

	if (w->list.guess == PERL_FULL)
		return 0;
	if (w->list.guess == PERL_BARE)
		return !p->bare && ((p->type != TYPE_MAIN && w->list.frame <= p->base) || is_between(w));
	if (w->sp == w->first_sp && (!p->op || (has_ended && p->type != TYPE_MAIN)))
		return 1;
	if (p->op - w->sp >= CALLER_BYTES)
		return 0;
	o = has_ended || w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	return o < 0 || !is_new(p, s, o);
}

/* Returns whether the innermost loop has no context although it is not empty. */
__global int perl_has_none(struct walk *w, struct perl_scratch *s)
{
	struct perl_place *p;

	if (!w || !s || !is_bare(w, s))
		return 0;
	p = &place_of(w)->own;
	p->bare = 1;
	w->list.if_more = PERL_FULL;
	w->list.if_less = 0;
	return 1;
}

/* Returns whether no loop runs the context that ends an activation: the C function that called Perl is before or
 * between its calls (a loop leaves op 0), or is still in pp_entersub(), whose operation is on the C stack. */
static __always_inline int is_pending(struct walk *w, const struct perl_scratch *s, __s64 o)
{
	const struct perl_place *p = &place_of(w)->own;

	if (w->list.guess == PERL_FULL)
		return 0;
	if (w->list.guess == PERL_SKIP)
		return !p->skipped && (p->half || w->list.frame <= p->base + CX_SIZE || is_between(w));
	if (w->list.frame != p->top)
		return 0;
	if (!p->op)
		return p->type == TYPE_SORT || p->type == TYPE_MULTICALL;
	return p->op - w->first_sp < w->sp - w->first_sp && is_new(p, s, o);
}

/* Leaves out the activation that the context at o in the window ends, if no loop runs it: the next one is its caller's.
 * Returns whether it did. */
__global int perl_skip(struct walk *w, struct perl_scratch *s, __s64 o)
{
	struct perl_place *p;

	if (!w || !s || !is_pending(w, s, o))
		return 0;
	p = &place_of(w)->own;
	w->list.ended = 0;
	w->list.if_more = 0;
	w->list.if_less = PERL_FULL;
	p->skipped = 1;
	if (!p->half)
		p->cop = frame_word(s, o + CX_COP);
	return 1;
}

/* A stackinfo has no more contexts. Returns 1 and the frame that is shown, or -1 on failure. */
static __always_inline int end_of_info(struct walk *w, __u64 *shown)
{
	struct perl_place *p = &place_of(w)->own;

	if (p->type != TYPE_MAIN && p->prev)
		return perl_enter(w, p->prev) ? -1 : 1;
	w->list.frame = 0;
	if (w->list_in || w->filter)
		*shown = PERL_MAIN;
	return 1;
}

/* Returns whether a sub without an operation to return to was not called by C: it is the last operation of a block of
 * sort, of code within a pattern, or of a defer block. The loop that runs it then ends with the stackinfo's first
 * context, or with the block's. */
static __always_inline int is_last_operation(struct walk *w)
{
	const struct perl_place *p = &place_of(w)->own;
	__u64 first = 0, below = w->list.frame - CX_SIZE, word = 0;

	if (below >= p->base && !read_word(below, &word) && (word & CX_MASK) == CX_DEFER)
		return 1;
	if (w->list.frame != p->base + CX_SIZE || (p->type != TYPE_SORT && p->type != TYPE_MULTICALL) ||
		read_word(p->base, &first))
		return 0;
	return (first & CX_MASK) == CX_NULL || first & CX_RE;
}

/* Returns whether only C can have called this sub: it is the first of a stackinfo, or the first after C has begun an
 * eval for it. While Perl makes a context, the operation to which it returns may still be another context's. */
__global int perl_is_called_by_c(struct walk *w)
{
	const struct perl_place *p;
	__u64 word = 0;

	if (!w)
		return 0;
	p = &place_of(w)->own;
	if (p->type == TYPE_SORT || p->type == TYPE_MULTICALL)
		return 0;
	if (w->list.frame == p->base)
		return 1;
	return w->list.frame == p->base + CX_SIZE && !read_word(p->base, &word) && (word & CX_MASK) == CX_EVAL &&
	       word & CX_BLOCK;
}

/* Returns whether C began an eval for the call of this sub (G_EVAL): the next context is one that returns to C. */
static __always_inline int is_within_eval(struct walk *w)
{
	__u64 next = w->list.frame - CX_SIZE, word = 0, retop = 1;

	return next >= place_of(w)->own.base && !read_word(next, &word) && (word & CX_MASK) == CX_EVAL &&
	       !read_word(next + CX_RETOP, &retop) && !retop;
}

/* Returns the statement of the newest sub, while the thread's statement is its caller's: the sub's first one. If it
 * was called within itself, both may run the same statement; then the operation is the call, or the sub's first. */
__global __u64 perl_statement(struct walk *w, __u64 sub, __u64 retop)
{
	__u64 body = 0, start = 0, word = 0, next = 0;
	const struct perl_place *p;

	if (!w)
		return 0;
	p = &place_of(w)->own;
	if (read_word(sub + SV_ANY, &body) || read_word(body + CV_START, &start) || read_word(body + CV_DEPTH, &word))
		return p->cop;
	if ((__u32)word > 1 && start != p->op && (read_word(p->op + COP_NEXT, &next) || next != retop))
		return p->cop;
	/* The caller's statement is the sub's own, if the sub calls itself. */
	if (w->list.frame > p->base && !read_word(w->list.frame - CX_SIZE + CX_CV, &word) && word == sub)
		return p->cop;
	if (read_word(start + COP_LINE, &word) || read_word(p->cop + COP_LINE, &next) || (word ^ next) & OP_TYPE)
		return p->cop;
	return start;
}

/* Sets the statement of the next frame, which is the newest sub, at o in the window, or its caller if shown is 0: the
 * thread's statement may still be the caller's, or that of the sub that has ended. */
static __always_inline void find_statement(struct walk *w, const struct perl_scratch *s, __s64 o, __u64 shown)
{
	struct perl_place *p = &place_of(w)->own;
	__u64 caller = frame_word(s, o + CX_COP), next = 0;

	if (shown && p->cop == caller)
		p->cop = perl_statement(w, shown, frame_word(s, o + CX_RETOP));
	else if ((p->half || !frame_word(s, o + CX_CV)) && !read_word(p->op + COP_NEXT, &next) && !next)
		p->cop = caller; /* pp_leavesub() has left it */
}

/* Returns the CV of the sub or format at o in the window, or 0 if its context has no frame. */
static __always_inline __u64 shown_sub(struct walk *w, const struct perl_scratch *s, __s64 o)
{
	const struct perl_place *p = &place_of(w)->own;
	__u64 word = frame_word(s, o);

	if ((word & CX_MASK) == CX_SUB && (word & CX_FAKE || (p->half && w->list.frame == p->top)))
		return 0;
	return frame_word(s, o + CX_CV);
}

/* Looks at a context whose code may not be a part of the next context's, but whose statement is taken for that one's:
 * patterns, sort, and evals that C began. Loops and blocks are parts. */
static __always_inline void check_code(struct perl_place *p, __u64 word, int is_shown)
{
	__u32 kind = (word & CX_MASK) | (word & CX_RE) >> 2; /* no branches, which the verifier would follow */

	p->sure &= (is_shown ? ~CODE_OF_PATTERN : BLOCKS) >> kind;
}

/* Takes a context. Returns 1 and the frame that is shown, 0 if this loop has no context, or -1 on failure. */
static __always_inline int take_context(struct walk *w, struct perl_scratch *s, __u64 *shown)
{
	struct perl_place *p = &place_of(w)->own;
	__u64 word;
	int type;
	__s64 o;

	o = w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	if (o < 0) {
		w->list.frame = 0;
		return -1;
	}
	word = frame_word(s, o);
	type = word & CX_MASK;
	if (type == CX_SUB || type == CX_FORMAT) {
		*shown = shown_sub(w, s, o);
		w->list.ended = (!frame_word(s, o + CX_RETOP) && !is_last_operation(w)) ||
			(p->type != TYPE_MAIN && perl_is_called_by_c(w));
	} else if (type == CX_EVAL && !(word & CX_TRY) &&
		   (w->filter || frame_word(s, o + CX_RETOP) || p->within || is_last_operation(w))) {
		/* Others are evals that C began for a call that no loop runs; a try block is a part of its sub. */
		*shown = frame_word(s, o + CX_NAME) ? PERL_REQUIRE : PERL_EVAL;
		w->list.ended = p->within;
	} else if (type == CX_NULL && p->type == TYPE_SORT && w->list.frame == p->base) {
		*shown = PERL_SORT;
		w->list.ended = 1;
	} else if (type == CX_DEFER) {
		w->list.ended = 1;
	}
	p->within = 0;
	if (w->list.ended && w->list_in && !p->begun && perl_skip(w, s, o)) {
		*shown = 0;
	} else if (w->list.ended && type == CX_SUB && is_within_eval(w)) {
		w->list.ended = 0;
		p->within = 1;
	}
	if (type == CX_SUB && w->list.frame == p->top)
		find_statement(w, s, o, *shown);
	if (*shown)
		s->own.cop = frame_word(s, o + CX_COP);
	check_code(p, word, !!*shown);
	w->list.frame -= CX_SIZE;
	p->taken = 1;
	return 1;
}

__global int perl_next(struct walk *w, __u64 *frame)
{
	struct perl_scratch *s = w ? scratch_of(w) : NULL;
	struct perl_place *p;
	__u64 shown = 0;
	int r = 0;

	if (!s || !frame)
		return -1;
	p = &place_of(w)->own;
	w->list.entry = 0;
	if (!w->list.ended && w->list.frame && !is_empty(w, s) &&
		(!w->list_in || p->begun || w->list.frame != p->top || !perl_has_none(w, s)))
		r = w->list.frame < p->base ? end_of_info(w, &shown) : take_context(w, s, &shown);
	if (!r) {
		w->list.ended = 0;
		p->begun |= w->list_in && p->taken;
		p->taken = 0;
	}
	*frame = shown ? frame_of(w, s, shown, p->cop) : 0;
	if (shown) {
		p->cop = s->own.cop;
		p->sure = 1;
	}
	return r;
}

__global int perl_batch(struct walk *w)
{
	return 0;
}

/* A thread has one list. */
__global int perl_outer(struct walk *w)
{
	return -1;
}
