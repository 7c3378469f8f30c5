// SPDX-License-Identifier: Apache-2.0
/* v8.h - the userspace half of bpf/lang/v8.bpf.c: a file's constants about its V8 (v8.c); functions and lines
 * of the code positions that the kernel half sent (code.c), from the process's objects (heap.c). */
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

/* table() and rules() of lang.h, for the embedded builtins. */
int v8_table(struct elf *e, struct table_header *hdr);
int v8_rules(struct elf *e, struct eh_rows *rows);

#define V8_VERSION(major, minor) ((major) << 8 | (minor))

/* Values that no constant in a file gives, by version: rows.c has the rows and their upstream
 * sources. Offsets in bytes. */
struct v8_row {
	uint32_t since;            /* V8_VERSION(): first version; valid until the next row */
	int8_t bytecode_shift;     /* shift of BytecodeArray and its offset in a frame without argument count */
	uint8_t function_types;    /* types of JSFunction after the first, if no constant gives the last */
	uint8_t entry_record;      /* arm64, in a frame by which C++ enters: distance from fp to the record */
	uint8_t entry_size;        /* arm64, in such a frame: distance from fp to the caller's sp */
	uint8_t script_map_url;
	uint8_t bytecode_positions;
	uint8_t scope_slots;       /* offset in a ScopeInfo; until 9.0 it is a FixedArray, whose length comes first */
	bool has_unique;           /* SharedFunctionInfo has a number that is never used twice */
	uint8_t code_mask;         /* mask of the kind in a Code's flags */
	bool one_optimised;        /* kind 0 is the only optimised kind; else all kinds after baseline are optimised */
	uint8_t code_deopt, code_positions, code_start, code_flags, code_size; /* offsets in a Code */
	bool code_is_stream;       /* a Code holds its instructions; else an InstructionStream does */
	uint8_t stream_first;
	uint8_t code_safepoints;   /* field with the safepoint table's offset; 0: it follows the instructions */
	uint8_t deopt_first;       /* words of deoptimisation data after the last named one */
	bool packed_safepoints;    /* entries of a safepoint table are packed, as the header's bits say */
	uint8_t safepoint_skip;    /* bytes before the safepoint table's header */
	uint8_t strings;           /* lower instance types are strings */
	int8_t position_start;     /* base of the offsets in a table of positions */
	bool position_bits;        /* its entries have two bits with the offset, not a sign */
	uint8_t page_flags;        /* in a page of the heap: flags */
	uint8_t page_marking;      /* flags that are set while V8 marks living objects; 0: unknown */
	uint8_t wasm_size, wasm_index; /* in a WasmCode: bytes of instructions, the function's index; 0: unknown */
};
/* Returns the row of a version, which may be newer than the last row. */
const struct v8_row *v8_row(uint32_t version);

/* Values that differ by version; offsets in bytes, instance types with V8's numbers. Members that symbols
 * give are int32_t like the symbols: see v8.c. The struct is kept in the cache: when its contents change,
 * lang_v8's version goes up. */
struct v8_layout {
	struct v8_proc proc;
	uint32_t version; /* V8_VERSION() */
	bool compressed;  /* pointers are compressed: proc.opaque is set, as it is if constants are missing */
	uint64_t epoch;   /* vaddr of global_epoch, see v8_proc; 0: unknown */

	/* SharedFunctionInfo */
	int32_t shared_data, shared_name, shared_script, shared_flags;
	int32_t script_source, script_name, script_line_ends;
	int32_t script_line_offset, script_column_offset, script_map_url;
	int32_t script_module; /* in the Script of a module of WebAssembly: what keeps its NativeModule; 0: unknown */
	uint32_t wasm_size, wasm_index; /* in a WasmCode, u32 and int32_t; 0: unknown */
	int32_t scope_slots, first_vars; /* in a ScopeInfo: its slots, and the index of the first variable */
	int32_t bytecode_positions;
	int32_t inferred_name, start_position; /* UncompiledData */

	int32_t scope_type, script_type, uncompiled_first, uncompiled_last;
	int32_t code_type, stream_type;

	/* In a Code (code_start 0: it holds its instructions, and is the stream), and the distance of the
	 * instructions from the start of their InstructionStream. */
	int32_t code_deopt, code_positions, code_start, code_flags, code_size;
	int32_t stream_first;
	int32_t kind_baseline;
	int32_t code_safepoints; /* field with the safepoint table's offset; 0: the table follows the instructions */
	int32_t deopt_literals, deopt_inlined; /* indices in deoptimisation data */
	int32_t deopt_first; /* index of the entries for calls */

	uint64_t sizes_at;             /* vaddr of bytecode_sizes */
	const uint8_t *bytecode_sizes; /* by operand scale and bytecode; NULL: unknown */
	uint32_t bytecodes;            /* number of bytecodes */
};

/* Prefixes of the symbols that are read of a file, ended by NULL. */
extern const char *const v8_symbols[];

/* Adds rules of the embedded builtins, and none after them. */
void v8_builtin_rows(struct elf *e, uint64_t start, uint64_t size, struct eh_rows *rows);

/* Returns 0 on success, -errno on failure. The result is kept as a note, because looking for symbols takes 10 ms. */
int v8_layout(const struct lang_file *f, struct v8_layout *ret);

/* ---- objects of a process: all data is untrusted ---- */

struct v8_heap {
	const struct v8_layout *at;
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size); /* reads all of size bytes and returns 0 */
	void *arg;
};

/* Reads a word, an int, or a Smi at an offset of a tagged object. Returns false if it is
 * unreadable or has another type. */
bool v8_word(const struct v8_heap *h, uint64_t object, int64_t offset, uint64_t *ret);
bool v8_int(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret);
bool v8_smi(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret);
/* Returns an object's instance type, or -1. */
int v8_type(const struct v8_heap *h, uint64_t object);
/* Appends a string's text, as UTF-8, at most max characters. Returns false if it is not a string. */
bool v8_string(const struct v8_heap *h, uint64_t object, size_t max, struct str *out);
/* Appends the text of a string in a record. */
void v8_text(const struct v8_text *t, struct str *out);
/* Returns the bytes of a ByteArray, to be free()d, or NULL. */
uint8_t *v8_bytes(const struct v8_heap *h, uint64_t object, size_t *ret_size);
/* Returns a function's name, and the offset in its script at which it begins (-1: unknown). */
void v8_function_name(const struct v8_heap *h, uint64_t shared, struct str *name, int32_t *start);
/* Returns the ends of a Script's lines, to be free()d, or NULL. */
int32_t *v8_line_ends(const struct v8_heap *h, uint64_t script, size_t *ret_n);

/* ---- frames in optimised code: deopt.c ---- */

/* Compiled code: the Code (tagged), the start of its instructions and of its safepoint table. */
struct v8_code {
	uint64_t code, start, safepoints;
	uint32_t kind;
};

struct v8_virtual {
	uint64_t shared;  /* the function's SharedFunctionInfo */
	int32_t literal, function; /* index of that among the code's literals, and of its JSFunction (-1: none) */
	int32_t offset;   /* offset in its bytecode; -1: a builtin */
};

/* Finds the frames of the interpreter and of builtins for which the optimised frame that returns to *pc
 * stands, innermost first. Returns their number, or 0 if they are unknown, or more than max. Sets *pc to its
 * return address before V8 gave up the code. */
size_t v8_deopt_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t *pc,
	struct v8_virtual *frames, size_t max);
/* Finds the frames of the first check in [from, to) whose failure undoes the code. */
size_t v8_check_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t from, uint64_t to,
	struct v8_virtual *frames, size_t max);
/* Finds the frames of the translation at an index of bytes, outermost first and without functions. */
size_t v8_translation_frames(uint32_t version, const uint8_t *bytes, size_t size, size_t index,
	struct v8_virtual *frames, size_t max);

/* Numbers the threads of Node's workers ("worker 1"): threads() of lang.h. */
struct lang_process;
struct thread_note;
void v8_threads(const struct lang_process *p, struct thread_note *notes, size_t n);

/* ---- code positions ---- */

struct v8_codes *v8_codes_new(void);
/* From now on lines are those of source maps. files is copied. */
struct sourcemap_files;
void v8_codes_use_source_maps(struct v8_codes *c, const struct sourcemap_files *files);
void v8_codes_free(struct v8_codes *c);
/* Takes a record, and reads its objects. h NULL: the process has ended. */
void v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h);
/* Returns false for an unknown frame. Strings live as long as c. */
bool v8_codes_name(const struct v8_codes *c, uint64_t frame, struct frame_name *ret);
