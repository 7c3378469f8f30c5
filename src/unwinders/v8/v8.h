// SPDX-License-Identifier: Apache-2.0
/* v8.h - the userspace half of bpf/lang/v8.bpf.c: what a file says of its V8 (v8.c), functions and
 * lines of the code positions that the kernel half sent (code.c), from the process' objects (heap.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/lang/v8.h"

struct eh_rows;
struct elf;
struct frame_name;
struct lang_file;
struct str;
struct v8_codes;

struct table_header;

/* See lang.h: the embedded builtins. */
int v8_table(struct elf *e, struct table_header *hdr);
int v8_rules(struct elf *e, struct eh_rows *rows);

#define V8_VERSION(major, minor) ((major) << 8 | (minor))

/* What no constant in a file says, by version: rows.c has the rows, and where upstream they are from.
 * Offsets in bytes. */
struct v8_row {
	uint32_t since;            /* V8_VERSION(): this and all before the next row */
	int8_t bytecode_shift;     /* of BytecodeArray and offset in a frame, which has no argument count */
	uint8_t function_types;    /* of JSFunction, behind the first: where no constant says which is last */
	uint8_t entry_record;      /* arm64, of a frame that C++ enters by: from fp to the record.. */
	uint8_t entry_size;        /* ..and to the caller's sp */
	uint8_t script_map_url;
	uint8_t bytecode_positions;
	uint8_t scope_slots;       /* in a ScopeInfo; until 9.0 it is a FixedArray, whose length comes first */
	bool has_unique;           /* SharedFunctionInfo has a number that never comes again */
	uint8_t code_mask;         /* of a Code's flags: its kind */
	bool one_optimised;        /* kind 0 is the one optimised kind; else those behind baseline are */
	uint8_t code_deopt, code_positions, code_start, code_flags, code_size; /* in a Code */
	bool code_is_stream;       /* a Code holds its instructions; else an InstructionStream does */
	uint8_t stream_first;
	uint8_t code_safepoints;   /* where its safepoint table is said; 0: behind its instructions */
	uint8_t deopt_first;       /* words of deoptimisation data behind the last that has a name */
	bool packed_safepoints;    /* entries of a safepoint table are packed, by a header's bits.. */
	uint8_t safepoint_skip;    /* ..and so many bytes come before that */
	uint8_t strings;           /* instance types below are strings' */
	int8_t position_start;     /* the offset that a table of positions counts from */
	bool position_bits;        /* its entries have two bits beside the offset, not a sign */
};
/* The row of a version, also of one newer than the last row. */
const struct v8_row *v8_row(uint32_t version);

/* What differs by version; offsets in bytes, instance types as V8 numbers them. Members
 * that symbols give are int32_t, as the symbols are: see v8.c. It is kept in the cache: when
 * what is read changes, lang_v8's version goes up. */
struct v8_layout {
	struct v8_proc proc;
	uint32_t version; /* V8_VERSION() */
	bool compressed;  /* its pointers are: proc.opaque, as where constants are missing */
	uint64_t epoch;   /* of global_epoch, see v8_proc: ELF vaddr; 0: not known */

	/* SharedFunctionInfo */
	int32_t shared_data, shared_name, shared_script, shared_flags;
	int32_t script_source, script_name, script_line_ends;
	int32_t script_line_offset, script_column_offset, script_map_url;
	int32_t scope_slots, first_vars; /* in a ScopeInfo: its slots, and which is a variable's */
	int32_t bytecode_positions;
	int32_t inferred_name, start_position; /* UncompiledData */

	int32_t scope_type, script_type, uncompiled_first, uncompiled_last;
	int32_t code_type, stream_type;

	/* Code (code_start 0: it holds its instructions, and is the stream), and how far the
	 * instructions are behind their InstructionStream's start */
	int32_t code_deopt, code_positions, code_start, code_flags, code_size;
	int32_t stream_first;
	int32_t kind_baseline;
	int32_t code_safepoints; /* where its safepoint table is, from its start; 0: behind its instructions */
	int32_t deopt_literals, deopt_inlined; /* indices in deoptimisation data */
	int32_t deopt_first; /* of what it says of each call */

	uint64_t sizes_at;             /* of the following: ELF vaddr */
	const uint8_t *bytecode_sizes; /* by operand scale and bytecode; NULL: not known */
	uint32_t bytecodes;            /* how many there are */
};

/* How the symbols begin that are read of a file; NULL ends them. */
extern const char *const v8_symbols[];

/* Rules of the embedded builtins, and none behind them. */
void v8_builtin_rows(struct elf *e, uint64_t start, uint64_t size, struct eh_rows *rows);

/* 0 or -errno. Looking for symbols takes 10 ms, so it is kept as a note. */
int v8_layout(const struct lang_file *f, struct v8_layout *ret);

/* ---- objects of a process: all that is read is untrusted ---- */

struct v8_heap {
	const struct v8_layout *at;
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size); /* all of it: 0 */
	void *arg;
};

/* A word, an int, a Smi at an offset of a tagged object; false: not readable, not one. */
bool v8_word(const struct v8_heap *h, uint64_t object, int64_t offset, uint64_t *ret);
bool v8_int(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret);
bool v8_smi(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret);
/* An object's instance type; -1. */
int v8_type(const struct v8_heap *h, uint64_t object);
/* A string's text, as UTF-8, at most so many characters; false: it is no string. */
bool v8_string(const struct v8_heap *h, uint64_t object, size_t max, struct str *out);
/* What a record holds of one. */
void v8_text(const struct v8_text *t, struct str *out);
/* The bytes of a ByteArray, to be free()d; NULL. */
uint8_t *v8_bytes(const struct v8_heap *h, uint64_t object, size_t *ret_size);
/* A function's name, and where in its script it begins (-1: not known). */
void v8_function_name(const struct v8_heap *h, uint64_t shared, struct str *name, int32_t *start);
/* Where each line ends, of a Script; to be free()d. NULL. */
int32_t *v8_line_ends(const struct v8_heap *h, uint64_t script, size_t *ret_n);

/* ---- what optimised code stands for: deopt.c ---- */

/* Compiled code: the Code (tagged), where its instructions and its safepoint table begin. */
struct v8_code {
	uint64_t code, start, safepoints;
	uint32_t kind;
};

struct v8_virtual {
	uint64_t shared;  /* the function's SharedFunctionInfo */
	int32_t literal, function; /* which of the code's literals that is, and its JSFunction (-1: none) */
	int32_t offset;   /* in its bytecode; -1: it is a builtin */
};

/* The frames of the interpreter, and of builtins, that the optimised frame that returns to *pc
 * stands for, innermost first; how many. 0: not known, or more than max. *pc becomes where
 * it returned to before V8 gave the code up. */
size_t v8_deopt_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t *pc,
	struct v8_virtual *frames, size_t max);
/* The same, of the first check in [from, to) that undoes the code when it fails. */
size_t v8_check_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t from, uint64_t to,
	struct v8_virtual *frames, size_t max);
/* The same, outermost first and without functions, of the translation at an index of bytes. */
size_t v8_translation_frames(uint32_t version, const uint8_t *bytes, size_t size, size_t index,
	struct v8_virtual *frames, size_t max);

/* ---- code positions ---- */

struct v8_codes *v8_codes_new(void);
/* From now on lines are those of source maps. files is copied. */
struct sourcemap_files;
void v8_codes_use_source_maps(struct v8_codes *c, const struct sourcemap_files *files);
void v8_codes_free(struct v8_codes *c);
/* What a record's objects say now; h NULL: the process has gone. */
void v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h);
/* false: unknown frame. Strings live as long as c. */
bool v8_codes_name(const struct v8_codes *c, uint64_t frame, struct frame_name *ret);
