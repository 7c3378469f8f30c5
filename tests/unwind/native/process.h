// SPDX-License-Identifier: Apache-2.0
/* process.h - the mappings and tables of a process, made from /proc for the walk. */
#pragma once
#include <stddef.h>

#include "unwinders/host/walk.h"
#include "unwinders/native/table.h"
#include "unwinders/v8/v8.h"

struct target;
struct elf;

struct test_file {
	char *path;
	struct elf *elf;
	void *image; /* of the vDSO */
	struct table table;
};

struct test_process {
	struct host_tables tables;
	int pid;
	/* [0] is unused; file i has id first + i. The kernel half caches rules by file id, so no id is
	 * used twice. */
	struct test_file *files;
	size_t nfiles;
	uint32_t first;
	struct mapping_chunk chunk[MAPPING_CHUNKS];
	struct v8_proc v8; /* generation 0: no V8 */
};

/* Reads a process; aborts on failure. */
struct test_process *test_process_new(struct target *t, int pid);
/* Reads the mappings again; files keep their IDs. */
void test_process_read(struct target *t, struct test_process *p);
void test_process_free(struct test_process *p);
const struct mapping *test_mapping(const struct test_process *p, uint64_t pc);
/* Finds the file and offset of a frame. Returns false for an interpreter's frame, or if the file is not mapped. */
bool test_frame_address(const struct test_process *p, uint64_t frame, uint64_t *ret);
/* Returns whether an address is in V8's code: a builtin, or compiled code. */
bool test_is_v8(const struct test_process *p, uint64_t pc);
/* Returns the name of the function, without a suffix such as .part.0; "" if it has none. */
void test_frame_name(struct test_process *p, uint64_t frame, char *ret, size_t size);
