// SPDX-License-Identifier: Apache-2.0
/* codegen.h - makes an image from a typed tree. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct diags;
struct facts;
struct image;
struct script;

struct codegen_options {
	uint32_t image;     /* number of the image in the session */
	bool grows;         /* the first image of several: it contains everything that they may share */
	bool pid_tree;      /* -c, several -p: trace the processes in map `tree` of the BPF library */
	bool pid_ns;        /* strata's PID namespace is not the first */
	uint64_t start_ns;  /* CLOCK_BOOTTIME when `elapsed` was 0 */
	uint64_t tai_ns;    /* CLOCK_TAI - CLOCK_BOOTTIME at that time */
	uint64_t wall_ns;   /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	unsigned ncpus;     /* number of possible CPUs */
	bool no_cookies;    /* the kernel has no attach cookies */
	bool all_processes; /* -p and -c do not filter events, since the script checks `traced` */
	bool counts;        /* events are counted: see bpf/lib/events.bpf.c */
	bool can_fault;     /* programs of uprobes may sleep, to wait for missing pages */
	bool task_loads;    /* programs can load members of the current task: bpf_get_current_task_btf() */
	bool no_loops;      /* the kernel has no bpf_loop() */
	bool warn_missing;  /* report reads of missing map elements */
	bool has_walker;    /* a program of the session walks stacks: see gen_walk.c */
	bool takes;         /* print() and clear() of a map are one step; not at a prompt, whose images share maps */
	uint32_t thin;       /* config thin: the number of samples for which a run of a profile probe stands */
	uint32_t max_map_keys;
	bool map_keys_given; /* the script sets max_map_keys; else maps with stacks as keys may have more */
	struct c_object *c_objects; /* imported C programs whose functions the script calls */
	unsigned nc_objects;
	struct facts *facts; /* the image may run on another machine: see model/facts.h; NULL: it does not */
	FILE *dump_llvm;    /* -d llvm, or NULL */
	struct diags *diags; /* for errors: the script is too large for BPF */
};

/* Generates BPF, links it with the precompiled BPF library, and describes the result in an image, which
 * lives in the script's arena. Returns false after an error. */
bool codegen(struct script *s, const struct codegen_options *opt, struct image **ret);
