// SPDX-License-Identifier: Apache-2.0
/* change.c - functions that change the traced program or the system: they need --unsafe. */
#include <ctype.h>
#include <linux/bpf.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "builtins.h"

#include "model/attach_point.h"

/* Returns the provider of the first attach point for which `ok` is false, or NULL. */
static const struct provider *unfit(struct check *c, bool (*ok)(const struct provider *))
{
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		if (ap->provider && !ok(ap->provider))
			return ap->provider;
	return NULL;
}

/* ---- signal ------------------------------------------------------------- */

/* Probes that fire by the clock may fire in any process. */
static bool has_process(const struct provider *p)
{
	return p->run == RUN_ATTACHED && !p->any_process;
}

/* Returns the number of the signal "KILL" or "SIGKILL", in any case, or 0 for other names. */
static int signal_by_name(const char *name)
{
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (known && !strcasecmp(known, name))
			return i;
	}
	return 0;
}

static void hint_signal(struct check *c, const char *name)
{
	const char *names[NSIG] = {}, *near;
	size_t n = 0;

	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i))
			names[n++] = sigabbrev_np(i);
	near = nearest(strncasecmp(name, "SIG", 3) ? name : name + 3, names, n);
	if (near)
		check_hint(c, "did you mean \"%s\"?", near);
	else
		check_hint(c, "signals are \"KILL\", \"SIGKILL\" or numbers, as kill -l lists them");
}

static const struct type *check_signal_number(struct check *c, struct expr *arg)
{
	int64_t v;

	if (arg->kind == EXPR_STRING) {
		int number = signal_by_name(arg->string.text);

		if (number) {
			check_becomes_int(arg, (uint64_t)number);
			arg->type = type_int64;
			return type_none;
		}
		check_fail(c, arg->span, DIAG_NAME, "no signal is called %s", arg->string.text);
		hint_signal(c, arg->string.text);
		return type_bad;
	}
	if (arg->type->kind != TYPE_INT)
		return check_fail(c, arg->span, DIAG_ARG_TYPE, "a signal is a number, or its name in quotes");
	if (expr_is_const(arg, &v) && (v < 1 || v > 64))
		return check_fail(c, arg->span, DIAG_RANGE, "signals are 1 to 64, not %lld", (long long)v);
	return type_none;
}

static const struct type *check_signal(struct check *c, struct expr *call)
{
	const struct provider *p = unfit(c, has_process);

	if (p)
		return check_fail(c, call->span, DIAG_CONTEXT, "%s() is not available in %s probes: they fire in "
			"whatever process runs", call->call.name, p->name);
	return check_signal_number(c, call_arg(call, 0));
}

static struct ir *gen_signal(struct gen *g, struct expr *call, struct ir *into)
{
	bool thread = !strcmp(call->call.name, "signal_thread");

	gen_call(g, thread ? BPF_FUNC_send_signal_thread : BPF_FUNC_send_signal, 1, gen_value(g, call_arg(call, 0)));
	return NULL;
}

/* ---- override ----------------------------------------------------------- */

static bool is_kprobe(const struct provider *p)
{
	return p->kernel && p->ctx == CTX_PT_REGS && !p->has_retval;
}

static const struct type *check_override(struct check *c, struct expr *call)
{
	const struct provider *p = unfit(c, is_kprobe);

	if (!p)
		return type_none;
	return check_fail(c, call->span, DIAG_CONTEXT, "override() is not available in %s probes: only a kprobe "
		"can make a function return at once", p->name);
}

static struct ir *gen_override(struct gen *g, struct expr *call, struct ir *into)
{
	gen_call(g, BPF_FUNC_override_return, 2, gen_ctx(g), gen_value(g, call_arg(call, 0)));
	g->img->progs[g->img->nprogs - 1].overrides = true;
	return NULL;
}

/* ---- write_user --------------------------------------------------------- */

enum { WRITE_MAX = 4096 };

static const struct type *check_write_user(struct check *c, struct expr *call)
{
	struct expr *from = call_arg(call, 1), *len = call_arg(call, 2);
	const struct type *t = from->type;
	int64_t n = 0;

	if (!type_in_memory(t) && t->kind != TYPE_POINTER && t->kind != TYPE_INT)
		return check_fail(c, from->span, DIAG_ARG_TYPE, "write_user() writes bytes at an address, or of a "
			"string, an array or a struct, not %s", type_name(check_arena(c), t));
	if (expr_is_const(len, &n) && (n < 1 || n > WRITE_MAX))
		return check_fail(c, len->span, DIAG_RANGE, "write_user() writes 1 to %d bytes, not %lld", WRITE_MAX,
			(long long)n);
	if (type_in_memory(t) && n > t->size)
		return check_fail(c, len->span, DIAG_RANGE, "%s has %u bytes, not %lld",
			type_name(check_arena(c), t), t->size, (long long)n);
	return type_bool;
}

/* The kernel only takes bytes from the program's own memory, so they are copied there first. */
static struct ir *gen_write_user(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *from = call_arg(call, 1), *len = call_arg(call, 2);
	uint32_t size = type_in_memory(from->type) ? from->type->size : WRITE_MAX;
	struct ir *dst = gen_value(g, call_arg(call, 0)), *src = gen_value(g, from), *n, *r, *copy;
	int64_t v;

	if (expr_is_const(len, &v))
		size = (uint32_t)v;
	n = expr_is_const(len, &v) ? ir_int(g->ir, size) : gen_index(g, gen_value(g, len), size + 1);
	copy = gen_mem(g, size);
	gen_call(g, BPF_FUNC_probe_read_kernel, 3, copy, n, src);
	r = gen_call(g, BPF_FUNC_probe_write_user, 3, dst, copy, n);
	return ir_compare(g->ir, IR_EQ, r, ir_int(g->ir, 0));
}

const struct builtin builtins_change[] = {
	{
		.name = "override",
		.sig = "int -> none",
		.help = "make the probed kernel function return a value without running it (kprobe)",
		.flags = BUILTIN_STMT | BUILTIN_UNSAFE,
		.check = check_override,
		.gen = gen_override,
	},
	{
		.name = "signal",
		.sig = "any -> none",
		.help = "send a signal, by number or name, to the current process",
		.flags = BUILTIN_STMT | BUILTIN_UNSAFE,
		.check = check_signal,
		.gen = gen_signal,
	},
	{
		.name = "signal_thread",
		.sig = "any -> none",
		.help = "send a signal, by number or name, to the current thread",
		.flags = BUILTIN_STMT | BUILTIN_UNSAFE,
		.check = check_signal,
		.gen = gen_signal,
	},
	{
		.name = "write_user",
		.sig = "int any int -> special",
		.help = "write LENGTH bytes to an address of the current process; returns whether they were written",
		.flags = BUILTIN_UNSAFE,
		.check = check_write_user,
		.gen = gen_write_user,
	},
	BUILTINS_END,
};
