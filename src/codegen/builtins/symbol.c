// SPDX-License-Identifier: Apache-2.0
/* symbol.c - addresses that are shown as names. */
#include <linux/bpf.h>

#include "builtins.h"

#include "bpf/lib/record.h"

static struct ir *gen_ksym(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

static struct ir *gen_usym(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *addr = gen_value(g, call_arg(call, 0));
	struct ir *dst = into ? into : gen_tmp(g, sizeof(struct usym)), *pid;

	pid = gen_current_pid(g);
	ir_store(g->ir, dst, offsetof(struct usym, addr), 8, addr);
	ir_store(g->ir, dst, offsetof(struct usym, pid), 8, pid);
	g->img->user_symbols = true;
	return dst;
}

const struct builtin builtins_symbol[] = {
	{
		.name = "ksym",
		.sig = "int -> ksym",
		.help = "the kernel function at an address",
		.gen = gen_ksym,
	},
	{
		.name = "usym",
		.sig = "int -> usym",
		.help = "the function at an address of the current process",
		.gen = gen_usym,
	},
	BUILTINS_END,
};
