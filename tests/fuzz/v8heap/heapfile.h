// SPDX-License-Identifier: Apache-2.0
/* heapfile.h - a file of the memory that naming one frame of a node process reads: capture.c writes
 * it, v8heap.c reads it and mutates it in place.
 *
 *     struct heapfile_head, then at offsets that the head and the ranges give:
 *     ranges      of memory that was read, by address; no two overlap
 *     their bytes
 *     sizes       of the bytecodes: struct v8_layout's bytecode_sizes
 *     told        V8's own account of the frame, see heapfile_told(); empty: not known
 *
 * Numbers are little endian. The whole file is untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/v8/v8.h"

struct frame_name;
struct str;

#define HEAPFILE_MAGIC   "v8heap1"
#define HEAPFILE_MAX     (1 << 20) /* bytes of a file */
#define HEAPFILE_RANGES  1024
#define HEAPFILE_CHANGES 4

/* The members of struct v8_layout, all of 16 bits (v8.c reads no others from a file), in the order of
 * heapfile_head.layout. Append new ones: older captures have 0 there. */
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
/* If the size changed: a new member that the readers use belongs in the list above. */
_Static_assert(sizeof(struct v8_layout) == 296, "HEAPFILE_LAYOUT has what struct v8_layout has");

/* A word that changes while the memory is read, as in a process that keeps running. */
struct heapfile_change {
	uint64_t addr, value; /* a word, wherever in a range */
	uint32_t after, on;   /* changes after this many reads; on == 0: unused */
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

/* Returns false for another file. Ranges outside of the file become empty. */
bool heapfile_open(struct heapfile *f, uint8_t *data, size_t size);
/* The read function of struct v8_heap. */
int heapfile_read(void *file, uint64_t addr, void *buf, size_t size);
/* bytecode_sizes points into the file, or is NULL. */
void heapfile_layout(const struct heapfile *f, struct v8_layout *ret);
void heapfile_set_layout(struct heapfile_head *h, const struct v8_layout *l);
void heapfile_record(const struct heapfile *f, struct v8_record *ret);
void heapfile_set_record(struct heapfile_head *h, const struct v8_record *r);

/* The stored form of a frame and of those it was inlined into: a line each, "name\tfile\tline\tcolumn". */
void heapfile_told(const struct frame_name *name, struct str *out);
