// SPDX-License-Identifier: Apache-2.0
/* walk.h - runs the kernel's walk here: on a stopped process, on a copy of a stack, or on a core. It is the
 * same bpf sources, see bpf/lib/kernel.bpf.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct host_memory {
	/* Reads all of size bytes at addr. Returns 0 on success, -errno on failure. */
	int (*read)(struct host_memory *m, uint64_t addr, void *buf, size_t size);
};

/* A process, by process_vm_readv. */
struct host_process {
	struct host_memory memory;
	int pid;
};
void host_process_init(struct host_process *m, int pid);

/* Another memory's pages, each read only once, for a single walk: it reads the same ones a thousand times. */
#define HOST_PAGES 64
struct host_pages {
	struct host_memory memory;
	struct host_memory *of;
	uint64_t page[HOST_PAGES]; /* the page's number + 1; 0: none */
	uint8_t data[HOST_PAGES][4096];
};
void host_pages_init(struct host_pages *m, struct host_memory *of);

/* The stack of a walk_record, then another memory (or NULL). The record remains the caller's, who has
 * checked that it has size bytes. */
struct host_copy {
	struct host_memory memory;
	const void *data;
	uint64_t start;
	size_t size;
	uint32_t holes;
	struct host_memory *rest;
	bool refuse; /* read holes as zeros */
	bool zeros;  /* a hole was read as zeros, which may be wrong */
	bool late;   /* a hole was read from the rest, and has been written to since */
};
void host_copy_init(struct host_copy *m, const struct walk_record *r, struct host_memory *rest);
/* Returns whether the process has changed the memory at the copy's end, where a stack changes last, or,
 * if `all` is true, anywhere in the copy. */
bool host_copy_has_changed(const struct host_copy *m, struct host_memory *process, uint64_t sp, bool all);

struct host_regs {
	uint64_t pc, sp, fp, lr;
	uint64_t tp;        /* 0: unknown, then there are no frames of LANG_LIST languages */
	uint64_t other[16]; /* registers by enum rule_reg */
	int has_other;
	uint32_t tid;       /* 0: the process's first thread */
	uint16_t machine;   /* EM_X86_64, EM_AARCH64 */
	uint8_t address_bits; /* arm64: see struct unwind_config; 0: 48 */
};
void host_regs_record(const struct walk_record *r, uint16_t machine, struct host_regs *ret);

/* Contents of the kernel's maps. chunk, table: NULL: absent. */
struct host_tables {
	struct mapping_chunk *(*chunk)(struct host_tables *t, uint32_t pid, uint32_t chunk);
	const void *(*table)(struct host_tables *t, uint32_t file, size_t *ret_size);
	/* Returns a language's struct STEM_proc of a process, or NULL if it has none. proc is
	 * NULL if no process has any. */
	const void *(*proc)(struct host_tables *t, unsigned lang, uint32_t pid);
	/* The frames of walk_record.list; NULL: read them from the process. */
	const uint64_t *list;
	size_t nlist;
	uint32_t list_lang; /* their enum frame_lang */
	bool is_late; /* the process has continued since the stack was copied */
	/* Gets each RECORD_LANG instead of the ring buffer; or NULL. */
	void (*record)(struct host_tables *t, const struct record *r, size_t size);
};

/* The thread to walk. */
struct host_thread {
	struct host_memory *memory;
	const struct host_regs *regs;
	struct host_tables *tables;
	uint32_t pid;
};

struct host_stack {
	uint64_t id;
	uint64_t *frames; /* free()d by the caller */
	uint32_t nr;
	enum unwind_end end;
	bool by_zero;     /* a return address of 0 made it complete */
};

/* Walks by frame pointer where there is no table, and asks for nothing. Returns 0 on success, -errno on
 * failure; a walk that ends early is not an error, see ret->end. */
int host_walk(const struct host_thread *thread, uint32_t filter, uint32_t limit, struct host_stack *ret);
/* Makes only the walk's first step: returns the caller's registers, as far as they are followed. Returns 0
 * on success, enum unwind_end + 1 if the walk ends, -errno on failure. */
int host_step(const struct host_thread *thread, struct host_regs *ret);
