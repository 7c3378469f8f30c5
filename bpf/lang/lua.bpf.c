// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lua.bpf.c - the kernel half of src/unwinders/lua/: frames of Lua and LuaJIT.
 *
 * The frames of an activation are those from the newest frame of a lua_State, or from the one that the activation
 * before it left, up to a frame that C called. A frame names a Proto, whose id is a hash of the chunk's name, its first
 * line and size; its cookie is a hash of words of the Proto.
 *
 * lua.h describes the layouts. */
#include "lua.h"

#include "bpf/lib/insn.h"

#define LIST_STEM       lua
#define LIST_LANG       FRAME_LANG_LUA
#define LIST_UNREADABLE LUA_UNREADABLE
#define CODE_BITS       LUA_CODE_BITS
#define FRAME_BYTES     72  /* bytes of a CallInfo that are read */
#define CODE_BYTES      512 /* at least the bytes of a Proto, or of a GCproto and its instructions, that are read */

/* The id is a hash of these: name, the first lines. */
#define HASH_SECOND      (LUA_NAME_MAX / 8)
#define HASH_THIRD       HASH_WORDS
#define HASH_SECOND_SIZE lines_size
#define HASH_THIRD_SIZE  lines_size

/* The instructions: address, number; the closure of the frame that was met last, 0: none. */
#define LIST_MEMO_OWN   __u64 start; __u64 size; __u64 closure;
#define LIST_LASTS      1
#define LAST_TEXT       0 /* the hash of a chunk's name */

/* LuaJIT: words of the frames that a trace has not written. The slots count from the function below base. */
#define SLOTS 256
struct trace_slots {
	__u64 base; /* with which the trace began; 0: none */
	__u64 ir, start; /* GCtrace: ir, startpt */
	__u64 first, second; /* the last words of the snapshots around the code that runs */
	__u64 value[SLOTS]; /* a constant, or the number of an instruction that makes the value */
	__u32 walk[SLOTS];  /* in which the value was read */
	__u32 hides;        /* LUA_HIDES for the newest frame, or 0 */
	__u32 top;          /* slot of the newest frame; 0: that of base, or base was moved */
};

/* PUC: a part of the Lua stack. */
#define STACK_BYTES 2048 /* the slots of the functions of some 20 frames */
struct puc_stack {
	__u64 at, size; /* size 0: none */
	__u64 slot[STACK_BYTES / 8];
};

/* LuaJIT's walk[] keeps its values between walks. */
_Static_assert(sizeof(struct puc_stack) <= __builtin_offsetof(struct trace_slots, walk), "lua_own");

struct lua_own {
	__u64 state; /* a lua_State, for the record */
	__u64 code;  /* address of the Proto that is in lua_scratch.code; 0: none */
	__u32 code_size, code_walk; /* its bytes there; the walk in which it was read */
	__u64 text[4]; /* words of a string: the BPF stack is too short */
	__u64 sure;    /* the next frame's instruction is its function's: the newest one's may still be another's */
	union {
		struct trace_slots slots; /* LuaJIT */
		struct puc_stack stack;   /* PUC */
	};
};

struct lua_place {
	__u64 state;   /* the lua_State of the frames */
	__u64 next;    /* the next frame, for the next activation of this state */
	__u64 after;   /* PUC: the lua_State whose frames follow those that no loop runs */
	__u64 leaf;    /* LuaJIT: the sp of the VM while one of its functions without a frame runs; 0: none does */
	__u64 pc;      /* LuaJIT: the instruction that the next frame runs; 0: unknown */
	__u64 inside;  /* 1: an activation has begun; 2: a frame of it was taken */
};

#include "list.bpf.h"

_Static_assert(HASH_WORDS <= HASH_SECOND + LUA_LINES_MAX / 8, "the record");

/* A function in C, as an address for lua_code(). */
#define CODE_C(function) ((function) << 1 | 1)

#define CODE_BYTES_READ 0x78 /* of a Proto or GCproto */

/* Proto: tt, numparams, is_vararg, maxstacksize; sizecode. GCproto: gct, numparams, framesize and, as the second half
 * of that word, sizebc; chunkname; firstline, numline; lineinfo; its size. The garbage collector changes the first
 * word's other bytes. */
#define PUC_HEAD_AT 8
#define PUC_HEAD  0xffffff00ffULL
#define PUC_SIZE  24
#define JIT_SIZE  0x08
#define JIT_HEAD  (~0xffULL)
#define JIT_NAME  0x40
#define JIT_LINE  0x48
#define JIT_LINES 0x50
#define JIT_PROTO 0x68

/* TString: tt, shrlen (byte 11), lnglen 16, text. GCstr: len (the second half of the word at 16), text */
#define TYPE_VARIANT 0x3f
#define TYPE_SHORT   0x04
#define STRING_TEXT  24

/* Objects: the type is the byte at 8 (PUC) or 9 (LuaJIT). */
#define PUC_THREAD 8
#define JIT_THREAD 6
#define JIT_FUNCTION 8
#define JIT_CODE 7

/* ---- the process ---- */

static __always_inline void move_proc(struct lua_proc *p, __u64 bias)
{
}

/* The list of a thread is known only in the frames of loops. */
__global int lua_begin(struct walk *w)
{
	struct lua_scratch *s;

	if (!w)
		return -1;
	s = begin(w);
	if (!s)
		return -1;
	if (s->proc.kind == LUA_JIT)
		s->own.slots.base = s->own.slots.hides = s->own.slots.top = 0;
	else
		s->own.stack.size = 0;
	w->list.begun |= LIST_IN_LOOPS;
	return 0;
}

/* ---- code ---- */

/* Returns the hash of the function in s->out. */
static __always_inline __u64 code_hash(struct lua_scratch *s)
{
	struct list_hash hash = {};
	struct lua_code_record *r = &s->out;

	hash.r = r;
	hash.h = seen_mix(seen_mix(r->kind, (__u64)r->first_line << 32 | r->size), r->name_size);
	if (r->kind >= LUA_CODE_PUC_C)
		hash.h = seen_mix(seen_mix(hash.h, r->addr), r->head.pid);
	else
		bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

static __always_inline __u32 record_size(const struct lua_code_record *r)
{
	__u32 lines = r->lines_size;

	if (lines > LUA_LINES_MAX)
		lines = LUA_LINES_MAX;
	return __builtin_offsetof(struct lua_code_record, lines) + lines;
}

/* Reads the name of a chunk. Returns 0 on success, -1 on failure. */
static __always_inline int read_name(struct lua_scratch *s, __u64 name)
{
	struct lua_code_record *r = &s->out;
	__u64 head[3] = {};
	__u32 size;

	if ((name & 7) || (name && bpf_probe_read_user(head, sizeof(head), (const void *)name)))
		return -1;
	if (s->proc.kind == LUA_JIT)
		size = head[2] >> 32;
	else if ((head[1] & TYPE_VARIANT) == TYPE_SHORT)
		size = head[1] >> 24 & 0xff;
	else
		size = head[2] > LUA_NAME_MAX ? LUA_NAME_MAX : (__u32)head[2];
	if (size > LUA_NAME_MAX)
		size = LUA_NAME_MAX;
	r->name_size = size;
	return bpf_probe_read_user(r->name, size, (const void *)(name + STRING_TEXT)) ? -1 : 0;
}

/* Reads the table of lines, at lines, of n bytes. Functions without debug information have none. */
static __always_inline void read_table(struct lua_scratch *s, __u64 lines, __u64 n)
{
	struct lua_code_record *r = &s->out;
	__u32 size = (__u32)n;

	if (!lines || n > LUA_LINES_MAX)
		return;
	if (size > LUA_LINES_MAX)
		size = LUA_LINES_MAX;
	if (!bpf_probe_read_user(r->lines, size, (const void *)lines))
		r->lines_size = size;
}

/* Reads the lines of the Proto in s->code. */
static __always_inline void read_lines(struct lua_scratch *s)
{
	const struct lua_layout *at = &s->proc.at;
	struct lua_code_record *r = &s->out;
	__u32 n = (__u32)code_load(s, at->lines_size);

	if (n != r->size)
		return;
	read_table(s, code_word(s, at->lines), at->places ? n : 4ULL * n);
	n = at->places ? (__u32)code_load(s, at->places_size) : 0;
	if (n > LUA_PLACES_MAX)
		n = LUA_PLACES_MAX;
	if (!bpf_probe_read_user(r->places, 8 * n, (const void *)code_word(s, at->places)))
		r->nplaces = n;
}

/* Reads the names and lines of the Proto or GCproto whose head is in s->code. Returns 0 on success, -1 on failure. */
__global int lua_read_code(struct lua_scratch *s)
{
	struct lua_code_record *r;
	__u64 lines;

	if (!s)
		return -1;
	r = &s->out;
	if (s->proc.kind != LUA_JIT) {
		r->first_line = (__u32)code_load(s, s->proc.at.first_line);
		r->size = (__u32)code_word(s, PUC_SIZE);
		read_lines(s);
		return read_name(s, code_word(s, s->proc.at.source));
	}
	lines = code_word(s, JIT_LINE);
	r->first_line = (__u32)lines;
	r->last_line = lines >> 32;
	r->size = code_word(s, JIT_SIZE) >> 32;
	lines = r->last_line < 256 ? 0 : r->last_line < 65536 ? 1 : 2;
	if (r->size)
		read_table(s, code_word(s, JIT_LINES), (r->size - 1ULL) << lines);
	return read_name(s, code_word(s, JIT_NAME));
}

static __always_inline void clear(struct lua_code_record *r)
{
	r->name_size = r->lines_size = r->nplaces = r->first_line = r->last_line = r->size = 0;
}

static __always_inline int name_code(struct lua_scratch *s, __u64 addr, int readable)
{
	struct lua_code_record *r = &s->out;

	/* Userspace looks for names of functions in C in the process. */
	r->head.time = addr & 1 ? bpf_ktime_get_ns() : 0;
	r->addr = addr & 1 ? addr >> 1 : addr;
	r->state = s->own.state;
	r->kind = (s->proc.kind == LUA_JIT ? LUA_CODE_JIT : LUA_CODE_PUC) + (addr & 1 ? LUA_CODE_PUC_C : 0);
	clear(r);
	r->size = addr & 1 && !s->proc.at.places ? 3 : 0;
	if (!readable)
		return -1;
	if (addr & 1 || !lua_read_code(s))
		return 0;
	clear(r);
	return -1;
}

/* Returns a hash of the text of a chunk's name, which a string that takes its address does not have. LuaJIT's strings
 * have a number (GCstr.sid; before 2020 only the hash) and the hash of the text; Lua's long strings have no hash, and
 * paths differ at the end. 0: not readable. */
static __always_inline __u64 read_text_hash(struct lua_scratch *s, __u64 name)
{
	__u64 *text = s->own.text, h;

	if (bpf_probe_read_user(text, 16, (const void *)(name + 8)))
		return 0;
	if (s->proc.kind == LUA_JIT)
		return seen_mix(text[0] >> 32, text[1]);
	if ((text[0] & TYPE_VARIANT) == TYPE_SHORT)
		return seen_mix(text[0] >> 32, text[0] >> 24 & 0xff);
	h = text[1];
	name += STRING_TEXT + h - sizeof(s->own.text);
	if (h < sizeof(s->own.text) || bpf_probe_read_user(text, sizeof(s->own.text), (const void *)name))
		return h;
	for (int i = 0; i < 4; i++)
		h = seen_mix(h, text[i]);
	return h;
}

static __always_inline __u64 text_hash(struct lua_scratch *s, __u64 name)
{
	return has_last(s, LAST_TEXT, name) ? s->last[LAST_TEXT].value :
		set_last(s, LAST_TEXT, name, read_text_hash(s, name));
}

/* Returns the cookie of the Proto whose head is in s->code: words that do not change, and the chunk's name. */
__global __u64 lua_cookie(struct lua_scratch *s)
{
	const struct lua_layout *at;
	__u64 h;

	if (!s)
		return 0;
	at = &s->proc.at;
	if (s->proc.kind == LUA_JIT) {
		h = seen_mix(text_hash(s, code_word(s, JIT_NAME)), code_word(s, JIT_LINE));
		return seen_mix(seen_mix(h, code_word(s, JIT_NAME)), code_word(s, JIT_SIZE) & JIT_HEAD);
	}
	h = seen_mix(text_hash(s, code_word(s, at->source)), (__u32)code_load(s, at->first_line));
	h = seen_mix(seen_mix(h, code_word(s, at->source)), code_word(s, at->code));
	return seen_mix(seen_mix(h, (__u32)code_word(s, PUC_SIZE)), code_word(s, PUC_HEAD_AT) & PUC_HEAD);
}

/* Reads size bytes of a Proto to s->code, CODE_BYTES_READ to CODE_BYTES. Returns 0 on success, -1 on failure. */
static __always_inline int read_code(struct lua_scratch *s, __u64 addr, __u32 size)
{
	struct lua_own *own = &s->own;

	if (own->code == addr && own->code_walk == s->walk && own->code_size >= size)
		return 0;
	own->code = 0;
	if ((addr & 7) || bpf_probe_read_user(s->code, size, (const void *)addr))
		return -1;
	own->code = addr;
	own->code_size = size;
	own->code_walk = s->walk;
	return 0;
}

/* Puts the Proto or GCproto at addr, or a function in C (CODE_C()), into the memo. Returns 0. */
__global int lua_code(struct walk *w, struct lua_scratch *s, __u64 addr)
{
	__u64 cookie = 1, id, start;
	int readable = 1, seen = 0;
	struct list_memo *m;

	if (!w || !s)
		return -1;
	m = this_memo(s);
	if (!(addr & 1)) {
		readable = !read_code(s, addr, CODE_BYTES_READ);
		cookie = lua_cookie(s);
	}
	if (readable && refresh(m, w, s, addr, cookie))
		return 0;
	s->own.state = place_of(w)->own.state;
	id = find_code(w, s, addr, cookie, readable, &seen);
	start = s->proc.kind == LUA_JIT ? addr + JIT_PROTO : code_word(s, s->proc.at.code);
	/* The next walk looks an unreadable one up again. */
	*m = (struct list_memo){ addr, seen ? cookie : ~cookie, id, w->pid, s->walk, readable ? start : 0,
		s->proc.kind == LUA_JIT ? code_word(s, JIT_SIZE) >> 32 : (__u32)code_word(s, PUC_SIZE) };
	return 0;
}

/* Looks at the memo that was found last, and at the next one, for a closure that runs the instruction at pc. If the
 * instruction is one of the Proto in the memo, only the Proto is read, not the closure: the Proto is the same if its
 * words are. Returns 1, and the memo as this_memo(), or 0. */
__global int lua_known(struct walk *w, struct lua_scratch *s, __u64 closure, __u64 pc)
{
	struct list_memo *m;
	__u32 k;

	if (!w || !s || !closure || !s->own.sure)
		return 0;
	k = s->at;
	k += s->memo[k & (MEMO - 1)].closure != closure;
	FORGET(k);
	m = &s->memo[k & (MEMO - 1)];
	if (m->closure != closure || m->pid != w->pid || pc - m->start > 4 * m->size)
		return 0;
	if (m->walk != s->walk && (read_code(s, m->addr, CODE_BYTES_READ) ||
		!refresh(m, w, s, m->addr, lua_cookie(s))))
		return 0;
	s->at = k;
	return 1;
}

/* Returns the frame of a memo. pc is behind the instruction that runs; 0: it is unknown. */
static __always_inline __u64 frame_of_memo(const struct list_memo *m, __u64 pc)
{
	__u64 at = pc == m->start ? 0 : (pc - m->start) / 4 - 1; /* it has not begun */

	if ((m->addr & 1) || at >= m->size || at > LUA_AT_MAX)
		at = LUA_AT_MAX;
	return FRAME_LUA(m->id & CODE_MASK, at);
}

/* Returns the frame of a Proto or GCproto, whose closure is 0 if it is unknown, or of a function in C (CODE_C()). */
static __always_inline __u64 frame_of(struct walk *w, struct lua_scratch *s, __u64 addr, __u64 closure, __u64 pc)
{
	struct list_memo *m = memo_of(s, addr);

	if (!is_fresh(m, s, addr))
		lua_code(w, s, addr);
	m->closure = closure;
	return frame_of_memo(m, pc);
}

/* ---- frames ---- */

/* The bytes at the end of the last page that a list has. */
static __always_inline int read_alone(struct lua_scratch *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame;
	*size = FRAME_BYTES;
	return bpf_probe_read_user(s->window, 16, (const void *)frame) ? -1 : 0;
}

/* Returns the offset of a RULE_CFA. */
static __always_inline __u64 cfa_offset(__u64 rule)
{
	return RULE_FLAGS(rule) & RULE_RBX ? RULE_OFFSET_24(rule) : RULE_OFFSET(rule);
}

#include "lua_jit.bpf.h"
#include "lua_puc.bpf.h"

/* Functions of their own, so that each has only its own variables on the stack. */
__global int lua_take_jit(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	return w && s && frame ? jit_take(w, s, frame) : -1;
}

__global int lua_take_puc(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	return w && s && frame ? puc_take(w, s, frame) : -1;
}

/* Takes a frame. Returns 1 or 2, 0 at the end of the list, or -1 on failure. */
static __always_inline int take(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	return s->proc.kind == LUA_JIT ? lua_take_jit(w, s, frame) : lua_take_puc(w, s, frame);
}

/* Takes a frame that no loop runs, at the walk's end: after an error, C may have left more loops than frames. The
 * functions in C that run the program come last, and are not shown. */
static __always_inline int puc_rest(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	struct lua_place *p = &place_of(w)->own;
	int r;

	if (!p->next)
		return 0;
	w->list.frame = p->next;
	r = take(w, s, frame);
	p->next = r < 0 ? 0 : w->list.frame;
	w->list.frame = w->list.ended = 0;
	if (r != 1)
		*frame = 0;
	return r;
}

__global int lua_next(struct walk *w, __u64 *frame)
{
	struct lua_scratch *s = w ? scratch_of(w) : NULL;
	struct lua_place *p;
	int r = 0;

	if (!s || !frame)
		return -1;
	*frame = 0;
	w->list.entry = 0;
	if (s->proc.kind == LUA_UNKNOWN) {
		w->list.frame = 0;
		return -1;
	}
	if (!w->list_in)
		return s->proc.kind == LUA_PUC ? puc_rest(w, s, frame) : 0;
	p = &place_of(w)->own;
	if (!p->inside) {
		p->inside = 1;
		s->own.sure = 0;
		r = s->proc.kind == LUA_JIT ? jit_enter(w, s) : puc_enter(w, s);
	}
	if (!r && w->list.frame && !w->list.ended)
		r = take(w, s, frame);
	if (r <= 0) {
		p->next = w->list.frame;
		w->list.frame = 0;
		p->inside = w->list.ended = 0;
	}
	return r;
}

/* Frames are taken one by one: a batch would be verified once more. */
__global int lua_batch(struct walk *w)
{
	return 0;
}

/* Other lists are in other loops. */
__global int lua_outer(struct walk *w)
{
	return -1;
}
