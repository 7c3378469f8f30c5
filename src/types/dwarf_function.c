// SPDX-License-Identifier: Apache-2.0
/* dwarf_function.c - the arguments of a function.
 *
 * A function that other files may call follows the calling convention, which decides here. A function that only
 * its own file calls, or a copy that the compiler made for some callers (f.constprop.0), may have lost or moved
 * parameters. For these, DWARF's locations at the first instruction decide, if there are any. */
#include "dwarf_read.h"

#include <string.h>

#include "base/arena.h"

static const char optimised_out[] = "it is optimised out";

struct param {
	Dwarf_Die die;
	struct argument abi, dwarf;
	enum location_kind location;
};

struct function {
	struct debuginfo *info;
	Dwarf_Die die;
	uint64_t entry;
	bool own; /* only its own file calls it, or it is in Rust: arguments may be passed in any way */
	bool copy; /* made for some of its callers, or with a calling convention of its own */
	bool contradicts; /* DWARF contradicts the calling convention for at least one parameter */
	unsigned n;
	struct param params[DIE_ARGS_MAX];
};

/* ---- parameters --------------------------------------------------------- */

/* For constructors and destructors, GCC lists a parameter that no code passes. */
static bool is_passed(const struct function *f, const Dwarf_Die *param)
{
	const char *name = die_name(f->info, param);

	return !name || strcmp(name, "__in_chrg") != 0;
}

static void read_params(struct function *f, const Dwarf_Die *of)
{
	Dwarf_Die child;

	if (!die_child(f->info, of, &child))
		return;
	do {
		if (die_tag(f->info, &child) == DW_TAG_formal_parameter && is_passed(f, &child))
			f->params[f->n++].die = child;
	} while (f->n < DIE_ARGS_MAX && die_next(f->info, &child));
}

/* A copy without parameters has those of the function that it copies. */
static void all_params(struct function *f)
{
	Dwarf_Die of = f->die;

	read_params(f, &of);
	for (unsigned i = 0; i < 2 && !f->n; i++)
		if (die_ref(f->info, &of, DW_AT_abstract_origin, &of) ||
			die_ref(f->info, &of, DW_AT_specification, &of))
			read_params(f, &of);
}

/* ---- places of parameters ------------------------------------------------- */

static bool same_place(const struct argument *a, const struct argument *b)
{
	if (a->where != b->where)
		return false;
	switch (a->where) {
	case ARG_REGISTER:
	case ARG_POINTED:
		return a->reg == b->reg;
	case ARG_REGISTERS:
		return a->reg == b->reg && a->reg2 == b->reg2;
	case ARG_STACK:
		return a->offset == b->offset;
	case ARG_NOWHERE:
		return true;
	}
	return false;
}

static void find_params(struct function *f)
{
	struct abi_state s;

	abi_begin(f->info, &f->die, &s);
	for (unsigned i = 0; i < f->n; i++) {
		struct param *p = &f->params[i];
		Dwarf_Die type;

		p->abi = (struct argument){.where = ARG_NOWHERE, .why = "its type is not known"};
		if (die_type(f->info, &p->die, &type))
			abi_next(f->info, &s, &type, &p->abi);
		p->location = die_location(f->info, &f->die, &p->die, f->entry, &p->dwarf);
		f->contradicts |= p->location == LOCATION_CONST ||
			(p->location == LOCATION_KNOWN && !same_place(&p->abi, &p->dwarf));
	}
}

/* Returns whether DWARF's location makes sense for a value of that size. */
static bool holds(const struct argument *a, uint32_t size)
{
	return a->where == ARG_REGISTER ? size <= 8 : a->where != ARG_REGISTERS || size <= 16;
}

static void decide(const struct function *f, const struct param *p, struct argument *ret)
{
	const struct argument *from = &p->abi;

	if (p->location == LOCATION_KNOWN && holds(&p->dwarf, ret->type->size) &&
		(f->own || f->copy || from->where == ARG_NOWHERE || p->dwarf.where == ARG_REGISTER))
		from = &p->dwarf;
	ret->where = from->where;
	ret->reg = from->reg;
	ret->reg2 = from->reg2;
	ret->offset = from->offset;
	ret->why = from->why;
	if ((!f->own && !f->copy) || p->location == LOCATION_KNOWN)
		return;
	if (p->location == LOCATION_CONST) {
		ret->where = ARG_NOWHERE;
		ret->why = arena_printf(f->info->arena, "it is always %d here", (int)p->dwarf.offset);
	} else if (p->location == LOCATION_NONE || f->contradicts || f->copy) {
		ret->where = ARG_NOWHERE;
		ret->why = optimised_out;
	}
}

static void describe(const struct function *f, unsigned i, struct argument *ret)
{
	const struct param *p = &f->params[i];
	const char *name = die_text(f->info, &p->die);

	ret->name = name ? arena_strdup(f->info->arena, name) : arena_printf(f->info->arena, "arg%u", i);
	ret->type = die_to_type(f->info, &p->die);
	ret->c_type = die_c_type(f->info, &p->die);
	decide(f, p, ret);
	if (ret->type->kind == TYPE_NONE || !ret->type->size || !holds(ret, ret->type->size)) {
		ret->where = ARG_NOWHERE;
		ret->why = "its size is not known";
	}
}

/* ---- the function ------------------------------------------------------- */

static unsigned count_copies(struct debuginfo *d, uint64_t vaddr, const Dwarf_Die *function)
{
	Dwarf_Die origin;

	if (!die_ref(d, function, DW_AT_abstract_origin, &origin))
		return 0;
	return units_inlined(d, vaddr, &origin);
}

/* Returns whether it is GCC's name of a copy: f.part.0, f.isra.0, f.constprop.0. */
static bool is_copy(const char *symbol)
{
	return strstr(symbol, ".part.") || strstr(symbol, ".isra.") || strstr(symbol, ".constprop.");
}

/* Returns whether LLVM has marked that it dropped parameters. */
static bool has_own_convention(const struct debuginfo *d, const Dwarf_Die *function)
{
	uint64_t convention;

	return die_unsigned(d, function, DW_AT_calling_convention, &convention) && convention == DW_CC_nocall;
}

bool debuginfo_function(struct debuginfo *d, const char *symbol, uint64_t vaddr, bool count_inlined,
	struct signature *ret)
{
	struct function f = {.info = d, .entry = vaddr, .copy = is_copy(symbol)};
	struct argument *args;

	if (!units_function(d, vaddr, &f.die))
		return false;
	f.copy |= has_own_convention(d, &f.die);
	f.own = !die_flag(d, &f.die, DW_AT_external) || die_unit_is_rust(d, &f.die);
	all_params(&f);
	find_params(&f);
	args = arena_new_array(d->arena, struct argument, f.n + 1);
	for (unsigned i = 0; i < f.n; i++)
		describe(&f, i, &args[i]);
	*ret = (struct signature){.n = f.n, .args = args};
	if (abi_returns_int(d, &f.die)) {
		ret->ret = die_to_type(d, &f.die);
		ret->ret_c_type = die_c_type(d, &f.die);
	}
	if (count_inlined)
		ret->inlined = count_copies(d, vaddr, &f.die);
	return true;
}
