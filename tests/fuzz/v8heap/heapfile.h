// SPDX-License-Identifier: Apache-2.0
/* heapfile.h - of a process of node what naming one frame reads, as a file: capture.c writes it,
 * v8heap.c reads it, and changes it in place.
 *
 *     struct heapfile_head, then at places that it and the ranges tell:
 *     ranges      of memory that was read, by address; no two overlap
 *     their bytes
 *     sizes       of the bytecodes: struct v8_layout's bytecode_sizes
 *     told        what V8 had told of the frame, see heapfile_told(); nothing: nobody knows
 *
 * Numbers are little endian. All of it is untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/v8/v8.h"

struct frame_name;
struct str;

#define HEAPFILE_MAGIC   "v8heap1"
#define HEAPFILE_MAX     (1 << 20) /* bytes of all */
#define HEAPFILE_RANGES  1024
#define HEAPFILE_CHANGES 4

/* The numbers of struct v8_layout, which all have 16 bits (v8.c takes no other from a file), in
 * the order of heapfile_head.layout. New ones come last: captures from before have 0 there. */
#define HEAPFILE_LAYOUT(F)                                                                        \
	F(version) F(proc.map_type) F(proc.function_first) F(proc.function_last)                   \
	F(proc.shared_type) F(proc.bytecode_type) F(proc.function_shared) F(proc.shared_flags)     \
	F(proc.bytecode_first) F(proc.shared_name) F(proc.shared_script) F(proc.script_name)       \
	F(proc.script_type) F(proc.scope_type) F(proc.scope_count) F(proc.scope_locals)            \
	F(proc.shared_data) F(proc.shared_unique) F(proc.script_id) F(proc.stream_type)            \
	F(shared_data) F(shared_name) F(shared_script) F(shared_flags) F(script_source)            \
	F(script_name) F(script_line_ends) F(script_line_offset) F(script_column_offset)           \
	F(script_map_url) F(scope_slots) F(first_vars) F(bytecode_positions) F(inferred_name)      \
	F(start_position) F(scope_type) F(script_type) F(uncompiled_first) F(uncompiled_last)      \
	F(code_type) F(stream_type) F(code_deopt) F(code_positions) F(code_start) F(code_flags)    \
	F(code_size) F(stream_first) F(kind_baseline) F(code_safepoints) F(deopt_literals)         \
	F(deopt_inlined) F(deopt_first) F(bytecodes)
#define HEAPFILE_ONE(member) 1 +
#define HEAPFILE_LAYOUT_N (HEAPFILE_LAYOUT(HEAPFILE_ONE) 0)
#define HEAPFILE_LAYOUT_MAX 64
_Static_assert(HEAPFILE_LAYOUT_N <= HEAPFILE_LAYOUT_MAX, "a layout has its place");
/* Another size: has a member come that the readers look at? Then it belongs above. */
_Static_assert(sizeof(struct v8_layout) == 264, "HEAPFILE_LAYOUT has what struct v8_layout has");

/* Memory that becomes another while it is read, as that of a process that goes on does. */
struct heapfile_change {
	uint64_t addr, value; /* a word, wherever in a range */
	uint32_t after, on;   /* so many reads; on 0: there is no such change */
};

struct heapfile_head {
	char magic[8];
	/* struct v8_record's */
	uint64_t frame, shared, bytecode, pc, flags, unique;
	uint32_t compiled;
	uint32_t maps; /* source maps were asked for */
	struct v8_text name, file;
	int16_t layout[HEAPFILE_LAYOUT_MAX];
	struct heapfile_change change[HEAPFILE_CHANGES];
	uint32_t nranges;
	uint32_t sizes_at, sizes;
	uint32_t told_at, told; /* bytes */
	uint32_t pad;
};
_Static_assert(sizeof(struct heapfile_head) == 648, "heapfile_head");

struct heapfile_range {
	uint64_t addr;
	uint32_t at, size; /* of its bytes, from the file's start */
};
_Static_assert(sizeof(struct heapfile_range) == 16, "heapfile_range");

/* A file in memory. */
struct heapfile {
	uint8_t *data; /* the caller's */
	size_t size;
	struct heapfile_head head; /* a copy, as are: */
	struct heapfile_range range[HEAPFILE_RANGES];
	uint32_t reads;            /* so far */
};

/* false: it is none. Ranges that lie outside become empty. */
bool heapfile_open(struct heapfile *f, uint8_t *data, size_t size);
/* struct v8_heap's read. */
int heapfile_read(void *file, uint64_t addr, void *buf, size_t size);
/* bytecode_sizes are within the file, or NULL. */
void heapfile_layout(const struct heapfile *f, struct v8_layout *ret);
void heapfile_set_layout(struct heapfile_head *h, const struct v8_layout *l);
void heapfile_record(const struct heapfile *f, struct v8_record *ret);
void heapfile_set_record(struct heapfile_head *h, const struct v8_record *r);

/* A frame, and those that it was inlined into, as they are kept: a line each, "name\tfile\tline\tcolumn". */
void heapfile_told(const struct frame_name *name, struct str *out);
