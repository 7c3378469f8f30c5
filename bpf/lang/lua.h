/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lua.h - the interface between src/unwinders/lua/ and bpf/lang/lua.bpf.c.
 *
 * Lua keeps the frames of a coroutine in the coroutine's own lua_State: PUC's Lua as a list of CallInfo, LuaJIT in the
 * slots of its stack. No variable of the thread leads to a lua_State: it is in the C frame of the interpreter's loop,
 * which runs frames up to the first that C called.
 *
 * Layouts of Lua at tags v5.3.6 and v5.4.0 to v5.4.7, the same except for the members of struct lua_layout:
 * lua/lstate.h (lua_State, CallInfo, CIST_*), lua/lobject.h (Proto, LClosure, CClosure, TString). Layouts of LuaJIT 2.1
 * with 64-bit pointers (LJ_GC64), the same from 2.1.0-beta3 to 2.1.1761786044: luajit/src/lj_obj.h (lua_State, GCfuncL,
 * GCproto, GCstr), luajit/src/lj_frame.h (FRAME_*, CFRAME_*). Offsets in bytes. */
#pragma once
#include "bpf/walk/unwind.h"

enum lua_kind {
	LUA_UNKNOWN, /* stacks are marked */
	LUA_PUC,
	LUA_JIT,
};

/* Offsets that differ between versions of PUC's Lua: rows of src/unwinders/lua/lua.c. */
struct lua_layout {
	__u16 savedpc;    /* CallInfo: u.l.savedpc */
	__u16 status;     /* callstatus, a u16 */
	__u16 is_lua;     /* 2: the bit that is set for functions in Lua; 0: it is set for functions in C */
	__u16 fresh;      /* CIST_FRESH */
	__u16 first_line; /* Proto: linedefined */
	__u16 code, source;
	__u16 lines_size; /* sizelineinfo */
	__u16 lines;      /* lineinfo: s8 deltas, or up to 5.3 ints */
	__u16 places_size, places; /* sizeabslineinfo, abslineinfo; 0: the version has none */
	__u16 pad;
};

/* One process. Map `lua_procs`: HASH, key: u32 tgid. Nothing here changes while the process runs.
 *
 * Map `lua_files`: HASH, key: u32 file; the same struct, for processes that userspace has not published yet. */
struct lua_proc {
	__u32 kind;     /* enum lua_kind */
	/* LuaJIT: offsets from global_State of jit_base and of jit_State's trace, and in GCtrace of startpc. */
	__u32 jit_base;
	__u32 traces, startpc; /* 0: unknown */
	struct lua_layout at;
};
ABI_SIZE(lua_proc, 40);

/* Frames: code id << 20 | LUA_HIDES | number of the instruction, from 0 on; LUA_AT_MAX: it is unknown. */
#define LUA_CODE_BITS 40
#define LUA_AT_MAX 0x7ffff
#define LUA_HIDES  0x80000 /* LuaJIT: the trace may run a function here that it does not describe */
#define FRAME_LUA(code, at) FRAME_OF(FRAME_LANG_LUA, (__u64)(code) << 20 | ((at) & (LUA_HIDES | LUA_AT_MAX)))

/* Record of a function, sent before any stack that shows it. */
#define LUA_NAME_MAX   1024
#define LUA_LINES_MAX  4096 /* bytes of a function's table of lines */
#define LUA_PLACES_MAX 64

enum lua_code_flags {
	LUA_UNREADABLE = 1, /* only pid, addr and code are set */
};

enum lua_code_kind {
	LUA_CODE_PUC, /* a Proto */
	LUA_CODE_JIT, /* a GCproto */
	LUA_CODE_PUC_C, /* a lua_CFunction, without first_line, name and lines; size is 3 for Lua 5.3, else 0 */
	LUA_CODE_JIT_C, /* a lua_CFunction, or the number of a builtin (ffid) */
	LUA_CODE_KINDS
};

struct lua_code_record {
	struct lang_record head; /* time: 0 if it is not a function in C */
	__u64 code;  /* id: a hash of kind, first_line, size, name and lines; of pid and addr if unreadable or in C */
	__u64 addr;
	__u64 state; /* a lua_State of the process */
	__u32 flags; /* enum lua_code_flags */
	__u32 kind;  /* enum lua_code_kind */
	__u32 first_line;
	__u32 size;  /* number of instructions */
	__u32 name_size, lines_size; /* bytes; name is cut, lines are left out beyond the limit */
	__u32 last_line; /* LuaJIT: lines of the function */
	__u32 nplaces;
	__u64 places[LUA_PLACES_MAX];   /* Lua 5.4: AbsLineInfo */
	__u64 name[LUA_NAME_MAX / 8];   /* of the chunk: "@file.lua", "=stdin", or its text */
	__u64 lines[LUA_LINES_MAX / 8]; /* the function's lineinfo; only the used part is sent */
};
ABI_SIZE(lua_code_record, 80 + 8 * LUA_PLACES_MAX + LUA_NAME_MAX + LUA_LINES_MAX);
