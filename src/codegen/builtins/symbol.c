// SPDX-License-Identifier: Apache-2.0
/* symbol.c - addresses that are printed as function names. */
#include <linux/bpf.h>

#include "builtins.h"

#include "bpf/lib/record.h"
#include "model/attach_point.h"
#include "model/regs.h"

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

/* Returns the type of the same address in another space. */
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

/* ---- addresses of symbols ----------------------------------------------- */

static const struct type *check_kaddr(struct check *c, struct expr *call)
{
	struct expr *name = call_arg(call, 0);
	uint64_t addr;

	if (!check_kernel_address(c, name->string.text, &addr))
		return check_fail(c, name->span, DIAG_NAME, "the kernel has no symbol %s, or does not show it",
			name->string.text);
	check_becomes_int(call, addr);
	return type_uint64;
}

/* The symbol of a per-CPU variable is an offset in each CPU's area, which begins at __per_cpu_offset[cpu]
 * (include/asm-generic/percpu.h). */
static const struct type *check_percpu_kaddr(struct check *c, struct expr *call)
{
	struct expr *name = call_arg(call, 0);
	uint64_t *addr = arena_new_array(check_arena(c), uint64_t, 2);

	if (!check_kernel_address(c, name->string.text, &addr[0]) ||
		!check_kernel_address(c, "__per_cpu_offset", &addr[1]))
		return check_fail(c, name->span, DIAG_NAME, "the kernel has no variable %s for each CPU, or does not "
			"show it", name->string.text);
	call->call.data = addr;
	return type_uint64;
}

/* Returns 0 if there is no such CPU. */
static struct ir *gen_percpu_kaddr(struct gen *g, struct expr *call, struct ir *into)
{
	const uint64_t *addr = call->call.data;
	struct expr *which = call_arg(call, 1);
	struct ir *slot = gen_tmp(g, 8), *cpu, *at, *there;

	cpu = which ? gen_value(g, which) : ir_binary(g->ir, IR_AND, gen_call(g, BPF_FUNC_get_smp_processor_id, 0),
		ir_int(g->ir, UINT32_MAX));
	there = ir_compare(g->ir, IR_ULT, cpu, gen_cpus(g));
	at = ir_binary(g->ir, IR_ADD, ir_int(g->ir, addr[1]), ir_binary(g->ir, IR_SHL, cpu, ir_int(g->ir, 3)));
	ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 8), at);
	at = ir_binary(g->ir, IR_ADD, ir_load(g->ir, slot, 0, 8, false), ir_int(g->ir, addr[0]));
	return ir_select(g->ir, there, at, ir_int(g->ir, 0));
}

/* ---- uaddr -------------------------------------------------------------- */

/* The address of the symbol in the file of a place. */
struct place_symbol {
	const struct place *place;
	struct file_symbol symbol;
};

static struct place_symbol *symbols_of_places(struct check *c, struct expr *call, unsigned *ret_n)
{
	const char *name = call_arg(call, 0)->string.text;
	struct place_symbol *list;
	unsigned n = 0;

	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		n += ap->nplaces;
	list = arena_new_array(check_arena(c), struct place_symbol, n + 1);
	*ret_n = 0;
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next) {
			struct place_symbol *s = &list[(*ret_n)++];

			s->place = p;
			if (p->path && check_file_symbol(c, p->path, name, p->offset, &s->symbol))
				continue;
			check_fail(c, call_arg(call, 0)->span, DIAG_NAME, p->path ? "%s has no symbol %s" :
				"uaddr() needs probes of programs: %s is none", p->path ? p->path : p->name, name);
			return NULL;
		}
	return list;
}

/* Returns a pointer to an integer of the symbol's size. */
static const struct type *check_uaddr(struct check *c, struct expr *call)
{
	unsigned n;
	struct place_symbol *list = call->call.data ? call->call.data : symbols_of_places(c, call, &n);
	uint64_t size;

	if (!list)
		return type_bad;
	call->call.data = list;
	size = list[0].symbol.size;
	return type_pointer(check_arena(c), type_int(size == 1 || size == 2 || size == 4 ? (uint32_t)size : 8, false),
		SPACE_USER);
}

/* The symbol's address follows from the probe's, which is known in the file and, when the probe fires, in
 * memory. For a probe at a return, the kernel keeps the function's address. */
static struct ir *gen_uaddr(struct gen *g, struct expr *call, struct ir *into)
{
	const struct place_symbol *s = call->call.data;
	struct ir *ip;

	while (s->place && s->place != g->place)
		s++;
	g->bound_to_place |= g->place->next != NULL;
	if (!s->symbol.moves)
		return ir_int(g->ir, s->symbol.vaddr);
	if (g->provider->has_retval && !g->place->at_return)
		ip = gen_call(g, BPF_FUNC_get_func_ip, 1, gen_ctx(g));
	else
		ip = ir_load_ctx(g->ir, gen_ctx(g), (uint32_t)regs_ip(), 8, false);
	return ir_binary(g->ir, IR_ADD, ip, ir_int(g->ir, s->symbol.vaddr - s->symbol.place - s->place->skip));
}

const struct builtin builtins_symbol[] = {
	{
		.name = "kaddr",
		.sig = "format -> special",
		.help = "the address of a kernel symbol",
		.check = check_kaddr,
	},
	{
		.name = "kptr",
		.sig = "int -> special",
		.help = "a pointer that reads kernel memory",
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
		.name = "percpu_kaddr",
		.sig = "format [int] -> special",
		.help = "the address of a per-CPU kernel variable, on this CPU or a given one",
		.check = check_percpu_kaddr,
		.gen = gen_percpu_kaddr,
	},
	{
		.name = "uaddr",
		.sig = "format -> special",
		.help = "the address of a symbol of the probed program or library",
		.check = check_uaddr,
		.gen = gen_uaddr,
	},
	{
		.name = "uptr",
		.sig = "int -> special",
		.help = "a pointer that reads the memory of the current process",
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
