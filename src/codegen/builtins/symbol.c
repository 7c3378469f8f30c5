// SPDX-License-Identifier: Apache-2.0
/* symbol.c - addresses that are printed as names of functions. */
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

/* The same address, in another space. */
static const struct type *in_space(struct check *c, struct expr *call, enum space space)
{
	const struct type *t = call_arg(call, 0)->type;

	return type_pointer(check_arena(c), t->kind == TYPE_POINTER ? t->pointer.to : type_none, space);
}

static const struct type *check_kptr(struct check *c, struct expr *call)
{
	return in_space(c, call, SPACE_KERNEL);
}

static const struct type *check_uptr(struct check *c, struct expr *call)
{
	return in_space(c, call, SPACE_USER);
}

static struct ir *gen_same(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

const struct builtin builtins_symbol[] = {
	{
		.name = "kptr",
		.sig = "int -> special",
		.help = "the pointer, to memory of the kernel",
		.check = check_kptr,
		.gen = gen_same,
	},
	{
		.name = "ksym",
		.sig = "int -> ksym",
		.help = "the kernel function at an address",
		.gen = gen_ksym,
	},
	{
		.name = "uptr",
		.sig = "int -> special",
		.help = "the pointer, to memory of the current process",
		.check = check_uptr,
		.gen = gen_same,
	},
	{
		.name = "usym",
		.sig = "int -> usym",
		.help = "the function at an address of the current process",
		.gen = gen_usym,
	},
	BUILTINS_END,
};
