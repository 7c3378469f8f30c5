// SPDX-License-Identifier: Apache-2.0
/* loader.h - loads the unwinder's object with main.bpf.c into the kernel. */
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
	uint32_t instructions; /* the number that the verifier processed for test_walk */
};

/* Returns 0 or -errno. noloop: the object for kernels without bpf_loop(). languages (1 << enum frame_lang): the object
 * has only these. */
int loader_open(struct target *t, uint32_t limit, bool noloop, uint32_t languages, struct loaded *ret);
void loader_close(struct loaded *l);
/* Publishes the tables and mappings of a process. */
void loader_add(struct loaded *l, const struct test_process *p);
/* Attaches to a function of a program, for one process. */
struct bpf_link *loader_attach(struct loaded *l, const char *program, int pid, const char *path,
	const char *function, int at_return);
/* Waits for the next result of the program. Returns 0, or -1 if none came within seconds. */
int loader_result(struct loaded *l, struct stack_req *ret);
