// SPDX-License-Identifier: Apache-2.0
/* codegen.h - makes an image of a typed tree. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct diags;
struct image;
struct script;

struct codegen_options {
	uint32_t image;     /* its number in the session */
	bool grows;         /* it is the first of several: all that they may share is in it */
	bool pid_tree;      /* -c: trace the processes in the map `tree` of the BPF library */
	bool pid_ns;        /* strata's PID namespace is not the first */
	uint64_t start_ns;  /* when `elapsed` was 0, by CLOCK_BOOTTIME */
	uint64_t tai_ns;    /* CLOCK_TAI - CLOCK_BOOTTIME then */
	uint64_t wall_ns;   /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	unsigned ncpus;     /* possible CPUs */
	bool no_cookies;    /* the kernel has no attach cookies */
	bool all_processes; /* -p and -c leave out no event: the script asks by `traced` */
	bool counts;        /* events are counted: see bpf/lib/events.bpf.c */
	bool can_fault;     /* programs of uprobes may sleep, for pages that are not there */
	bool no_loops;      /* the kernel has no bpf_loop() */
	bool warn_missing;  /* elements that maps lack when they are read are reported */
	bool has_walker;    /* stacks are walked by a program that the session has: see gen_walk.c */
	uint32_t max_map_keys;
	bool map_keys_given; /* the script says so; else maps keyed by stacks may have more */
	struct c_object *c_objects; /* imported programs in C, whose functions the script calls */
	unsigned nc_objects;
	FILE *dump_llvm;    /* -d llvm, or NULL */
	struct diags *diags; /* for errors: the script is too large for BPF */
};

/* Generates BPF, links it with the precompiled BPF library, and describes the result in an image, which
 * lives in the script's arena. False after an error. */
bool codegen(struct script *s, const struct codegen_options *opt, struct image **ret);
