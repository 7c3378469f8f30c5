// SPDX-License-Identifier: Apache-2.0
/* loader.h - the unwinder's object with main.bpf.c, in the kernel. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "process.h"
#include "unwinders/maps/maps.h"
#include "unwinders/unwinders.h"

struct bpf_link;
struct bpf_object;

struct loaded {
	struct bpf_object *obj;
	struct walk_maps *maps;
	double load_ms;
	uint32_t instructions; /* verified, of test_walk */
};

/* 0 or -errno. noloop: as for kernels without bpf_loop(). */
int loader_open(struct target *t, uint32_t limit, bool noloop, struct loaded *ret);
void loader_close(struct loaded *l);
/* Tables and mappings of a process. */
void loader_add(struct loaded *l, const struct test_process *p);
/* On a function of a program, in one process. */
struct bpf_link *loader_attach(struct loaded *l, const char *program, int pid, const char *path,
	const char *function, int at_return);
/* The next result of the program, or -1 after seconds. */
int loader_result(struct loaded *l, struct stack_req *ret);
