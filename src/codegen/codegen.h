// SPDX-License-Identifier: Apache-2.0
/* codegen.h - typed tree -> image. */
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
	bool pid_tree;      /* -c: the library's map `tree` has the processes that are traced */
	bool pid_ns;        /* strata's PID namespace is not the first */
	uint64_t start_ns;  /* CLOCK_BOOTTIME when `elapsed` was 0 */
	unsigned ncpus;     /* possible CPUs */
	bool no_cookies;    /* the kernel gives programs none */
	bool no_loops;      /* the kernel has no bpf_loop() */
	uint32_t max_map_keys;
	FILE *dump_llvm;    /* -d llvm, or NULL */
	struct diags *diags; /* what the script has too much of for one program */
};

/* Generates, links with the precompiled BPF library, describes. The image lives in
 * the script's arena. false: complained. */
bool codegen(struct script *s, const struct codegen_options *opt, struct image **ret);
