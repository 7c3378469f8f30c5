// SPDX-License-Identifier: Apache-2.0
/* probe.c - builtins for the probe: arguments, return value, names. */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "builtins.h"

#include "model/attach_point.h"
#include "model/regs.h"
#include "model/request.h"
#include "types/types.h"

/* ---- checks of every provider of the probe --------------------------------- */

/* Returns the probe's first provider for which `has` is false, or NULL. */
static const struct provider *lacking(struct check *c, bool (*has)(const struct provider *))
{
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		if (ap->provider && !has(ap->provider))
			return ap->provider;
	return NULL;
}

static bool has_args(const struct provider *p)
{
	return p->has_args;
}

static bool has_retval(const struct provider *p)
{
	return p->has_retval;
}

static bool has_fields(const struct provider *p)
{
	return p->has_fields;
}

static bool is_kernel(const struct provider *p)
{
	return p->kernel;
}

static bool has_func(const struct provider *p)
{
	return (p->ctx == CTX_PT_REGS && !p->args_are_fields) || p->ctx == CTX_TRAMPOLINE;
}

/* ---- arguments ---------------------------------------------------------- */

/* Returns the first place where the passing of arguments is not known, or NULL. */
static const struct place *unsure_place(struct check *c)
{
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next)
			if (p->abi == ABI_GO_EITHER && !p->at_return)
				return p;
	return NULL;
}

/* The number of a raw tracepoint's arguments comes from BTF: the kernel would not attach a program that
 * reads more. */
static const struct type *check_raw_arg(struct check *c, struct expr *call)
{
	unsigned i = atoi(call->call.name + 3), n;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p && ap->provider->ctx == CTX_RAW; p = p->next) {
			n = 0;
			for (const struct field *f = p->fields; f; f = f->next)
				if (f->where == FIELD_CONTEXT && f->offset / 8 >= n)
					n = f->offset / 8 + 1;
			if (n && i >= n)
				return check_fail(c, call->span, DIAG_FIELD, "%s is not there: %s has %u argument%s",
					call->call.name, p->name, n, n == 1 ? "" : "s");
		}
	return type_int64;
}

static const struct field *field_named(const struct place *p, const char *name)
{
	const struct field *f = p->fields;

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	return f;
}

/* The argument is 0 at a place that lacks it; it is a mistake if all places lack it. */
static const struct type *check_noted_arg(struct check *c, struct expr *call)
{
	const struct field *f = NULL;
	const struct place *place = NULL;
	unsigned n = 0;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next) {
			const struct field *here = field_named(p, call->call.name);

			if (!ap->provider->args_are_fields || (here && here->where != FIELD_NOWHERE))
				return check_raw_arg(c, call);
			f = f ? f : here;
			place = place ? place : p;
		}
	if (f)
		return check_fail(c, call->span, DIAG_FIELD, "%s is not there: %s", call->call.name, f->why);
	for (const struct field *g = place ? place->fields : NULL; g; g = g->next)
		n++;
	if (place)
		check_warn(c, call->span, DIAG_FIELD, "%s is always 0: %s has %u argument%s", call->call.name,
			place->name, n, n == 1 ? "" : "s");
	return type_int64;
}

static const struct type *check_arg(struct check *c, struct expr *call)
{
	const struct provider *p = lacking(c, has_args);
	const struct place *unsure = unsure_place(c);

	if (!p && !unsure)
		return check_noted_arg(c, call);
	if (!p) {
		check_fail(c, call->span, DIAG_CONTEXT, "where %s has its arguments is not known: it is assembler's, "
			"and the program has no symbols", unsure->func);
		check_hint(c, "Go's assembler passes them on the stack or in registers, which symbols tell");
		return type_bad;
	}
	check_fail(c, call->span, DIAG_CONTEXT, "%s is not available in %s probes",
		call->call.name, p->name);
	if (p->has_fields)
		check_hint(c, "arguments have names here: args.NAME; see strata -lv '%s:...'",
			p->name);
	return type_bad;
}

/* Reads the argument at sp + at, which has size bytes. */
static struct ir *stack_arg(struct gen *g, unsigned at, uint32_t size)
{
	struct ir *sp = ir_load_ctx(g->ir, gen_ctx(g), regs_sp(), 8, false);
	struct ir *slot = gen_tmp(g, 8);

	sp = ir_binary(g->ir, IR_ADD, sp,
		ir_int(g->ir, at));
	ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
	gen_call(g, g->provider->kernel ? BPF_FUNC_probe_read_kernel : BPF_FUNC_probe_read_user, 3,
		slot, ir_int(g->ir, size), sp);
	return ir_load(g->ir, slot, 0, 8, false);
}

/* Returns how arguments are passed. If that differs at the next place, another program begins there. */
static enum place_abi abi_of(struct gen *g)
{
	g->bound_to_args = true;
	return g->place->abi;
}

static struct ir *gen_arg(struct gen *g, struct expr *call, struct ir *into)
{
	unsigned i = atoi(call->call.name + 3), held;
	enum place_abi abi;
	int reg;

	if (g->provider->args_are_fields)
		return gen_args_field(g, call->call.name, call->type);
	if (g->provider->ctx == CTX_RAW)
		return ir_load_ctx(g->ir, gen_ctx(g), 8 * i, 8, false);
	abi = abi_of(g);
	if (abi == ABI_GO_STACK)
		return stack_arg(g, regs_go_stack_args() + 8 * i, 8);
	if (abi == ABI_C32)
		return stack_arg(g, 4 + 4 * i, 4);
	reg = abi == ABI_GO ? regs_go_arg(i) : regs_arg(i);
	held = abi == ABI_GO ? regs_go_args() : regs_args();
	if (reg < 0)
		return stack_arg(g, (abi == ABI_GO ? regs_go_stack_args() : regs_stack_args()) + 8 * (i - held), 8);
	return ir_load_ctx(g->ir, gen_ctx(g), reg, 8, false);
}

static const struct type *check_args(struct check *c, struct expr *call)
{
	const struct provider *p = lacking(c, has_fields);

	if (!p)
		return type_args;
	check_fail(c, call->span, DIAG_CONTEXT, "args is not available in %s probes", p->name);
	if (p->has_args)
		check_hint(c, "arguments are numbered here: arg0, arg1..");
	return type_bad;
}

static struct ir *gen_args(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_args_value(g, call->type, into);
}

/* Returns the type in BTF, if all places have the same one. */
static const struct type *retval_type(struct check *c)
{
	const struct type *t = NULL;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next) {
			if (!p->ret || (t && !type_eq(t, p->ret)))
				return type_int64;
			t = p->ret;
		}
	return t ? t : type_int64;
}

static const struct type *check_retval(struct check *c, struct expr *call)
{
	const struct provider *p = lacking(c, has_retval);

	if (!p)
		return retval_type(c);
	check_fail(c, call->span, DIAG_CONTEXT, "retval is not available in %s probes", p->name);
	if (!strcmp(p->name, "uprobe"))
		check_hint(c, "the value a function returns is seen by uretprobe");
	if (!strcmp(p->name, "kprobe"))
		check_hint(c, "the value a function returns is seen by kretprobe");
	if (!strcmp(p->name, "fentry"))
		check_hint(c, "the value a function returns is seen by fexit");
	return type_bad;
}

static struct ir *gen_retval(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *v;

	if (g->provider->ctx == CTX_TRAMPOLINE) {
		struct ir *slot = gen_tmp(g, 8);

		ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
		gen_call(g, BPF_FUNC_get_func_ret, 2, gen_ctx(g), slot);
		v = ir_load(g->ir, slot, 0, 8, false);
	} else {
		v = ir_load_ctx(g->ir, gen_ctx(g), regs_return(), 8, false);
	}
	if (call->type->kind == TYPE_INT && call->type->size < 8)
		v = ir_resize(g->ir, v, call->type->size, call->type->is_signed);
	return v;
}

/* ---- the context -------------------------------------------------------- */

static const char *iterator_name(struct check *c, const struct place *p)
{
	return arena_printf(check_arena(c), "bpf_iter__%s", p->func);
}

static const struct type *context_of(struct check *c, const struct attach_point *ap)
{
	const struct provider *p = ap->provider;
	struct types *types = check_request(c)->types;
	const char *name = NULL;

	if (p->ctx == CTX_ITER && ap->places)
		name = iterator_name(c, ap->places);
	else if (p->ctx == CTX_PERF || p->ctx == CTX_PT_REGS)
		name = p->ctx == CTX_PERF ? "bpf_perf_event_data" : "pt_regs";
	return name && types ? types_find(types, TAG_STRUCT, name) : NULL;
}

static const struct type *check_ctx(struct check *c, struct expr *call)
{
	const struct type *t = NULL, *known = NULL;
	struct type *pointer;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next) {
		t = ap->provider ? context_of(c, ap) : NULL;
		if (!t || (known && !type_eq(t, known)))
			return check_fail(c, call->span, DIAG_CONTEXT, "ctx is not available in %s probes",
				ap->provider ? ap->provider->name : "these");
		known = t;
	}
	pointer = (struct type *)type_pointer(check_arena(c), t, SPACE_KERNEL);
	/* An iterator's members are pointers that the verifier would only follow in its own way, so helpers
	 * read them. */
	pointer->pointer.context = check_probe(c)->points->provider->ctx != CTX_ITER;
	return pointer;
}

static struct ir *gen_ctx_pointer(struct gen *g, struct expr *call, struct ir *into)
{
	return call->type->pointer.context ? gen_ctx(g) : gen_pointer_number(g, gen_ctx(g));
}

/* ---- registers ---------------------------------------------------------- */

/* Programs of perf events, including interval, have all registers. */
static bool has_registers(const struct provider *p)
{
	return p->ctx == CTX_PT_REGS || p->ctx == CTX_PERF || p->prog_type == BPF_PROG_TYPE_PERF_EVENT;
}

static const struct type *check_reg(struct check *c, struct expr *call)
{
	const struct provider *p = lacking(c, has_registers);
	struct expr *name = call_arg(call, 0);

	if (p)
		return check_fail(c, call->span, DIAG_CONTEXT, "reg() is not available in %s probes", p->name);
	if (regs_named(name->string.text) >= 0)
		return type_uint64;
	check_fail(c, name->span, DIAG_NAME, "this machine has no register %s", name->string.text);
	check_hint(c, "registers are ax, di, sp, ip, r8.. on x86_64 and r0 .. r30, sp, pc on arm64");
	return type_bad;
}

static struct ir *gen_reg(struct gen *g, struct expr *call, struct ir *into)
{
	int at = regs_named(call_arg(call, 0)->string.text);
	struct ir *value = ir_load_ctx(g->ir, gen_ctx(g), (uint32_t)at, 8, false);

	return at == regs_ip() ? ir_binary(g->ir, IR_SUB, value, gen_skip(g)) : value;
}

/* ---- names -------------------------------------------------------------- */

/* The number of the place is the attach cookie. Without cookies, each place has its own program. */
static struct ir *gen_place(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *id;

	if (!gen_place_id(g, call->type->place.func, &id))
		g->bound_to_place = true;
	return id;
}

/* Returns bpftrace's name of the probe type. */
static const char *type_of_probe(const struct provider *p)
{
	return p->run == RUN_ATTACHED ? p->name : "special";
}

/* The type is a constant, unless the probe has attach points of several types: then all are kept for .gen,
 * and the text has room for the longest. */
static const struct type *check_probetype(struct check *c, struct expr *call)
{
	const struct provider *first = NULL;
	uint32_t size = 0;
	bool same = true;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next) {
		uint32_t n = ap->provider ? (uint32_t)strlen(type_of_probe(ap->provider)) + 1 : 0;

		size = n > size ? n : size;
		same &= !first || !ap->provider || type_of_probe(ap->provider) == type_of_probe(first);
		first = first ? first : ap->provider;
	}
	if (!first)
		return type_bad;
	if (same)
		check_becomes_string(call, type_of_probe(first));
	return type_string(check_arena(c), size);
}

/* Each program has places of only one provider. */
static struct ir *gen_probetype(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *dst = into ? into : gen_mem(g, call->type->size);

	gen_text(g, type_of_probe(g->provider), dst, call->type->size);
	return dst;
}

static const struct type *check_func(struct check *c, struct expr *call)
{
	const struct provider *p = lacking(c, has_func);

	if (p)
		return check_fail(c, call->span, DIAG_CONTEXT,
			"func is not available in %s probes", p->name);
	return lacking(c, is_kernel) ? type_func : type_kfunc;
}

#define ARG(n)                                                                           \
	{                                                                                \
		.name = "arg" #n, .sig = " -> special",                                  \
		.help = "argument " #n " of the function, from 0", .flags = BUILTIN_VAR,  \
		.check = check_arg, .gen = gen_arg,                                    \
	}

const struct builtin builtins_probe[] = {
	ARG(0), ARG(1), ARG(2), ARG(3), ARG(4), ARG(5), ARG(6), ARG(7), ARG(8), ARG(9),
	ARG(10), ARG(11),
	{
		.name = "args",
		.sig = " -> special",
		.help = "the named arguments: args.NAME",
		.flags = BUILTIN_VAR,
		.check = check_args,
		.gen = gen_args,
	},
	{
		.name = "ctx",
		.sig = " -> special",
		.help = "the context that the kernel passes to the probe: ctx.NAME",
		.flags = BUILTIN_VAR,
		.check = check_ctx,
		.gen = gen_ctx_pointer,
	},
	{
		.name = "func",
		.sig = " -> special",
		.help = "name of the probed function",
		.flags = BUILTIN_VAR,
		.check = check_func,
		.gen = gen_place,
	},
	{
		.name = "probe",
		.sig = " -> probe",
		.help = "full name of the probe",
		.flags = BUILTIN_VAR,
		.gen = gen_place,
	},
	{
		.name = "probetype",
		.sig = " -> special",
		.help = "type of the probe: \"uprobe\", \"tracepoint\"; \"special\" for begin and end",
		.flags = BUILTIN_VAR,
		.check = check_probetype,
		.gen = gen_probetype,
	},
	{
		.name = "reg",
		.sig = "format -> special",
		.help = "a register of the CPU, by name",
		.check = check_reg,
		.gen = gen_reg,
	},
	{
		.name = "retval",
		.sig = " -> special",
		.help = "return value of the function",
		.flags = BUILTIN_VAR,
		.check = check_retval,
		.gen = gen_retval,
	},
	BUILTINS_END,
};
