// SPDX-License-Identifier: Apache-2.0
/* uprobe_args.c - names and types of the arguments of programs' functions, from debug information, which is
 * read only for scripts that use them. */
#include "uprobe_args.h"

#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "model/regs.h"
#include "model/type.h"
#include "probes.h"
#include "types/debuginfo.h"

bool uprobe_wants_types(const struct request *req, const struct attach_point *ap)
{
	if (!req->types)
		return false;
	return (req->listing && !req->names_only) || req->lists_args || req->wants_args ||
	       (req->wants_retval && ap->provider->has_retval);
}

/* A missing argument is an error only if the script asks for arguments. */
static bool is_error(const struct request *req, const struct attach_point *ap)
{
	return req->wants_args && ap->provider->has_fields && !req->listing;
}

struct debuginfo *uprobe_debuginfo(
	const struct request *req, const struct attach_point *ap, const char *path)
{
	const char *why, *hint;
	struct debuginfo *d = types_debuginfo(req->types, path, &why, &hint);

	if (d)
		return d;
	if (!is_error(req, ap)) {
		log_info("%s: %s: types of arguments are not known", path, why);
		return NULL;
	}
	diag(req->diags, ap->word_spans[1], DIAG_FIELD, "%s: %s: args is not known", path, why);
	if (hint)
		diag_hint(req->diags, "%s", hint);
	return NULL;
}

/* ---- from registers to the context -------------------------------------- */

static void nowhere(struct field *f, const char *why)
{
	f->where = FIELD_NOWHERE;
	f->why = why;
}

static void set_where(struct field *f, const struct argument *a)
{
	int reg = regs_arg(a->reg), reg2 = regs_arg(a->reg2);

	f->offset = reg < 0 ? 0 : (uint32_t)reg;
	switch (a->where) {
	case ARG_REGISTER:
		f->where = FIELD_CONTEXT;
		break;
	case ARG_REGISTERS:
		f->where = FIELD_REGS;
		f->offset2 = reg2 < 0 ? 0 : (uint32_t)reg2;
		break;
	case ARG_POINTED:
		f->where = FIELD_POINTED;
		break;
	case ARG_STACK:
		f->where = FIELD_STACK;
		f->offset = a->offset;
		return;
	case ARG_NOWHERE:
		nowhere(f, a->why);
		return;
	}
	if (reg < 0 || (a->where == ARG_REGISTERS && reg2 < 0))
		nowhere(f, "this machine has no such register");
}

static const struct field *fields_of(struct arena *a, const struct signature *s)
{
	const struct field *first = NULL, **last = &first;

	for (unsigned i = 0; i < s->n; i++) {
		struct field *f = arena_new_obj(a, struct field);

		f->name = s->args[i].name;
		f->type = s->args[i].type;
		f->decl = arena_printf(a, "%s %s", s->args[i].c_type, s->args[i].name);
		f->size = f->type->size;
		set_where(f, &s->args[i]);
		*last = f;
		last = &f->next;
	}
	return first;
}

/* ---- arguments of a place ----------------------------------------------- */

static void no_args(const struct request *req, const struct attach_point *ap,
	const struct place *p, const char *why)
{
	if (is_error(req, ap) && !strchr(ap->words[ap->nwords - 1], '*'))
		diag(req->diags, ap->word_spans[ap->nwords - 1], DIAG_FIELD, "the arguments of %s are not known: %s",
			p->func, why);
}

/* A script that works without debug information must also work with it: `retval / 4096` of malloc(), for
 * example. A pointer to a struct adds members, which are not available without a type. */
static bool is_worth_a_type(const struct type *t)
{
	return t && (t->kind != TYPE_POINTER || t->pointer.to->kind == TYPE_STRUCT);
}

void uprobe_types(const struct request *req, const struct attach_point *ap, struct debuginfo *d,
	struct place *p, const char *symbol, uint64_t vaddr)
{
	struct signature s;

	if (p->abi != ABI_C) {
		no_args(req, ap, p, p->abi == ABI_C32 ? "functions of 32-bit programs have arg0, arg1.. here" :
			"Go's functions have arg0, arg1.. here");
		return;
	}
	if (!symbol || !debuginfo_function(d, symbol, vaddr, log_level > 0 && !req->listing && !req->lists_args, &s)) {
		no_args(req, ap, p, symbol ? "the debug information does not have the function" :
			"they are known only where a function begins");
		return;
	}
	if (s.inlined)
		log_info("%s is also inlined at %u place%s of its source file, not probed", p->func,
			s.inlined, s.inlined > 1 ? "s" : "");
	if (ap->provider->has_fields)
		p->fields = fields_of(req->arena, &s);
	p->ret = is_worth_a_type(s.ret) ? s.ret : NULL;
	if (s.ret && ap->provider->has_retval)
		p->ret_decl = arena_printf(req->arena, "%s retval", s.ret_c_type);
}
