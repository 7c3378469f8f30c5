// SPDX-License-Identifier: Apache-2.0
/* info.c - --info, for users and for bug reports; the lists are the program's own. */
#include "info.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "model/builtin.h"
#include "model/provider.h"
#include "target/target.h"
#include "version.h"

static void print_builtins(FILE *out)
{
	fprintf(out, "\nBuiltins\n");
	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			fprintf(out, "  %-10s %s\n", b->name, b->help);
}

void info_print(struct target *t, FILE *out)
{
	struct utsname u;

	uname(&u);
	fprintf(out, "strata %s\n\nSystem\n", version());
	fprintf(out, "  %-16s %s %s\n", "kernel", u.release, u.machine);
	fprintf(out, "  %-16s %s\n", "libbpf", libbpf_version_string());
	fprintf(out, "  %-16s %s\n", "BTF", target_has_btf(t) ? "yes" : "no");
	fprintf(out, "  %-16s %s\n", "tracefs",
		target_tracefs(t) ? target_tracefs(t) : "not mounted");
	fprintf(out, "\nKernel features\n");
	for (int f = 0; f < FEATURE_MAX; f++)
		fprintf(out, "  %-16s %-4s %s\n", feature_name(f),
			target_feature(t, f) ? "yes" : "no", feature_help(f));
	fprintf(out, "\nProbes\n");
	for (const struct provider *const *p = providers; *p; p++)
		fprintf(out, "  %-16s %s\n    %s\n", (*p)->name, (*p)->help, (*p)->form);
	print_builtins(out);
}
