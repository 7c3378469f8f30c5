// SPDX-License-Identifier: Apache-2.0
/* peer_options.c - options of bpftrace that strata lacks. Options without effect are accepted; for the
 * others, the error names a replacement. */
#include "peer_options.h"

#include <stddef.h>
#include <string.h>

#include "base/owner.h"

static const struct peer_option options[] = {
	{"--aot", true, "strata build FILE -o NAME compiles a script into a program"},
	{"--btf", false, NULL},
	{"--dwarf-pid", true, NULL}, /* strata unwinds the stacks of all processes with tables anyway */
	{"--emit-elf", true, "-d elf writes the program to standard output"},
	{"--emit-llvm", true, "-d llvm prints it"},
	{"--fmt", false, "-d ast prints the script as strata reads it"},
	{"--mode", true, "--test runs tests, --bench runs benchmarks; -d STAGE looks at stages"},
	{"--verify-llvm-ir", false, NULL}, /* strata always verifies it */
	{"--warnings", false, "-k, or --failed-reads, warns where memory cannot be read"},
	{"-b", false, NULL},
};

static const struct peer_stage stages[] = {
	{"all", NULL, "name one of strata's stages; several -d are possible"},
	{"codegen", "llvm", NULL},
	{"codegen-opt", NULL, "-d elf is the program behind LLVM: llvm-objdump -d shows its code"},
	{"dis", NULL, "-d elf is the program: llvm-objdump -d shows its code"},
	{"libbpf", NULL, "-vv prints what libbpf says"},
	{"parse", "ast", NULL},
	{"verifier", NULL, "-vv prints the verifier's log"},
};

const struct peer_option *peer_option(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strncmp(options[i].name, word, n) && !options[i].name[n])
			return &options[i];
	return NULL;
}

const struct peer_stage *peer_stage(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		if (!strcmp(stages[i].name, name))
			return &stages[i];
	return NULL;
}
