// SPDX-License-Identifier: Apache-2.0
/* beam.h - the userspace half of bpf/lang/beam.bpf.c: the tables of modules and atoms of Erlang's runtime
 * (file.c, tables.c), and names of the code positions that the kernel half sent (code.c). All data of a process is
 * untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/beam.h"

struct beam_codes;
struct elf;
struct frame_name;

/* What the file says, by its own addresses. */
struct beam_file {
	uint64_t key;      /* vaddr of the key of the thread's ErtsSchedulerData; 0: unknown */
	uint64_t atom_tab; /* vaddr of the text that names the table of atoms */
	uint32_t current;  /* offset of current_process in ErtsSchedulerData */
	uint32_t no_jit;   /* Erlang code is interpreted */
};

/* Recognises Erlang's runtime. ret: struct beam_file. Returns 0 on success, -ENOENT if the file does not have it. */
int beam_open(struct elf *e, void *ret);

/* Memory of a process, or of a core. */
struct beam_memory {
	/* Reads all of size bytes at addr. Returns 0 on success, -errno on failure. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	void *arg;
};

/* Finds the tables in memory of a process, `size` bytes at `start`, that the runtime can write. Sets all but
 * generation and tsd. Returns 0 on success, -EAGAIN if they are not there yet, -ENOTSUP if the layout is unknown. */
int beam_find(const struct beam_memory *m, uint64_t start, uint64_t size, const struct beam_file *f, uint64_t bias,
	struct beam_proc *ret);

struct beam_codes *beam_codes_new(void);
void beam_codes_free(struct beam_codes *c);
void beam_codes_record(struct beam_codes *c, const struct beam_record *r);
bool beam_codes_name(const struct beam_codes *c, uint64_t frame, struct frame_name *ret);
