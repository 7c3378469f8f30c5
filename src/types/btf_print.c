// SPDX-License-Identifier: Apache-2.0
/* btf_print.c - declares and defines BTF types in C, with the names of typedefs. */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "btf.h"
#include "kernel.h"

enum {
	DEPTH_MAX = 24,     /* nesting: pointers to arrays of.., unnamed structs in unnamed structs */
	STEPS_MAX = 100000, /* of one declaration or definition, since BTF that lies may have no end */
};

struct printer {
	struct btf_file *file;
	struct arena *arena;
	bool spaced;    /* print "char * name" */
	bool offsets;   /* print a comment after each member */
	uint32_t base;  /* byte offset of the struct that is being printed within the outermost struct */
	unsigned indent, steps;
};

static const char *declare(struct printer *p, uint32_t id, const char *inner, unsigned depth);
static const char *body(struct printer *p, const struct btf_type *t, unsigned depth);

/* A name that is too long for a C program counts as more than one step. */
static const char *name_at(struct printer *p, uint32_t offset)
{
	const char *name = btf__name_by_offset(p->file->btf, offset);

	name = name ? name : "";
	p->steps += strlen(name) / 64;
	return name;
}

static const struct btf_type *type_of(struct printer *p, uint32_t id)
{
	return ++p->steps < STEPS_MAX ? btf__type_by_id(p->file->btf, id) : NULL;
}

/* ---- declarations ------------------------------------------------------- */

static const char *params(struct printer *p, const struct btf_type *t, unsigned depth)
{
	struct str s = {};
	const char *text;

	for (uint32_t i = 0; i < btf_vlen(t) && p->steps < STEPS_MAX; i++)
		str_addf(&s, "%s%s", i ? ", " : "", btf_params(t)[i].type ?
			declare(p, btf_params(t)[i].type, "", depth + 1) : "...");
	text = btf_vlen(t) ? arena_strdup(p->arena, str_text(&s)) : "void";
	str_done(&s);
	return text;
}

/* Returns whether a type's syntax binds tighter than a pointer's star. */
static bool binds_tighter(const struct btf_type *t)
{
	return t && (btf_is_array(t) || btf_is_func_proto(t));
}

static const char *pointer(struct printer *p, const struct btf_type *t, const char *inner, unsigned depth)
{
	const struct btf_type *to = type_of(p, t->type);
	bool blank = *inner == '(' || (p->spaced && *inner && *inner != '*');

	inner = arena_printf(p->arena, binds_tighter(to) ? "(*%s%s)" : "*%s%s",
		blank && !binds_tighter(to) ? " " : "", inner);
	return declare(p, t->type, inner, depth + 1);
}

static const char *keyword(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_CONST ? "const" : btf_kind(t) == BTF_KIND_VOLATILE ? "volatile" : "restrict";
}

/* The qualifier of a pointer stands after the star; others stand before the name. */
static const char *qualified(struct printer *p, const struct btf_type *t, const char *inner, unsigned depth)
{
	const struct btf_type *to = type_of(p, t->type);

	if (to && btf_is_ptr(to))
		return declare(p, t->type, arena_printf(p->arena, *inner ? "%s %s" : "%s%s", keyword(t), inner),
			depth + 1);
	return arena_printf(p->arena, "%s %s", keyword(t), declare(p, t->type, inner, depth + 1));
}

static const char *tag_of(const struct btf_type *t)
{
	if (btf_is_any_enum(t))
		return "enum ";
	if (btf_is_fwd(t))
		return btf_kflag(t) ? "union " : "struct ";
	return btf_is_union(t) ? "union " : btf_is_struct(t) ? "struct " : "";
}

/* Returns "unsigned int", "struct file"; an unnamed struct with its members. */
static const char *base(struct printer *p, const struct btf_type *t, unsigned depth)
{
	const char *name = name_at(p, t->name_off);

	if (btf_kind(t) == BTF_KIND_UNKN)
		return "void";
	if (*name || (!btf_is_composite(t) && !btf_is_any_enum(t)))
		return arena_printf(p->arena, "%s%s", tag_of(t), name);
	return arena_printf(p->arena, "%s%s", tag_of(t), body(p, t, depth));
}

static const char *declare(struct printer *p, uint32_t id, const char *inner, unsigned depth)
{
	const struct btf_type *t = type_of(p, id);

	if (!t || depth > DEPTH_MAX)
		return arena_printf(p->arena, "? %s", inner);
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		return pointer(p, t, inner, depth);
	case BTF_KIND_ARRAY:
		inner = btf_array(t)->nelems ? arena_printf(p->arena, "%s[%u]", inner, btf_array(t)->nelems) :
			arena_printf(p->arena, "%s[]", inner);
		return declare(p, btf_array(t)->type, inner, depth + 1);
	case BTF_KIND_FUNC_PROTO:
		inner = arena_printf(p->arena, "%s(%s)", inner, params(p, t, depth));
		return declare(p, t->type, inner, depth + 1);
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
		return qualified(p, t, inner, depth);
	case BTF_KIND_TYPE_TAG:
		return declare(p, t->type, inner, depth + 1);
	default:
		return arena_printf(p->arena, *inner ? "%s %s" : "%s%s", base(p, t, depth), inner);
	}
}

void btf_declare(struct btf_file *f, uint32_t id, const char *name, struct str *out)
{
	struct printer p = {.file = f, .arena = arena_new(), .spaced = true};

	str_add(out, declare(&p, id, name, 0));
	arena_free(p.arena);
}

/* ---- definitions -------------------------------------------------------- */

static void indent(const struct printer *p, struct str *out)
{
	for (unsigned i = 0; i < p->indent; i++)
		str_addc(out, '\t');
}

/* Adds a member's offset and size, as pahole does; for a bit-field also the bit. */
static void add_place(struct printer *p, const struct btf_type *t, uint32_t i, struct str *out)
{
	int64_t size = btf__resolve_size(p->file->btf, btf_members(t)[i].type);
	uint32_t at = btf_member_bit_offset(t, i) + 8 * p->base;

	if (btf_member_bitfield_size(t, i))
		str_addf(out, " /* %u:%u %lld */", at / 8, at % 8, (long long)(size < 0 ? 0 : size));
	else
		str_addf(out, " /* %u %lld */", at / 8, (long long)(size < 0 ? 0 : size));
}

static void add_member(struct printer *p, const struct btf_type *t, uint32_t i, unsigned depth, struct str *out)
{
	const struct btf_member *m = &btf_members(t)[i];
	const struct btf_type *of = btf__type_by_id(p->file->btf, m->type);
	uint32_t bits = btf_member_bitfield_size(t, i), base = p->base;

	indent(p, out);
	p->base = of && btf_is_composite(of) ? base + btf_member_bit_offset(t, i) / 8 : 0;
	str_add(out, declare(p, m->type, name_at(p, m->name_off), depth + 1));
	p->base = base;
	if (bits)
		str_addf(out, ": %u", bits);
	str_addc(out, ';');
	if (p->offsets)
		add_place(p, t, i, out);
	str_addc(out, '\n');
}

static void add_enumerator(struct printer *p, const struct btf_type *t, uint32_t i, struct str *out)
{
	bool wide = btf_is_enum64(t);
	const char *name = name_at(p, wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off);
	int64_t v = wide ? (int64_t)btf_enum64_value(&btf_enum64(t)[i]) : btf_enum(t)[i].val;

	p->steps++;
	indent(p, out);
	if (btf_kflag(t))
		str_addf(out, "%s = %lld,\n", name, (long long)v);
	else
		str_addf(out, "%s = %llu,\n", name, wide ? (unsigned long long)v : (uint32_t)v);
}

/* Returns "{", one line per member, "}". */
static const char *body(struct printer *p, const struct btf_type *t, unsigned depth)
{
	struct str s = {};
	const char *text;

	str_add(&s, btf_vlen(t) ? "{\n" : "{");
	p->indent++;
	for (uint32_t i = 0; i < btf_vlen(t) && depth < DEPTH_MAX && p->steps < STEPS_MAX; i++)
		if (btf_is_any_enum(t))
			add_enumerator(p, t, i, &s);
		else
			add_member(p, t, i, depth, &s);
	p->indent--;
	if (btf_vlen(t))
		indent(p, &s);
	str_addc(&s, '}');
	text = arena_strdup(p->arena, str_text(&s));
	str_done(&s);
	return text;
}

void btf_define(struct btf_file *f, uint32_t id, bool offsets, struct str *out)
{
	const struct btf_type *t = btf__type_by_id(f->btf, id);
	struct printer p = {.file = f, .arena = arena_new(), .offsets = offsets};

	if (t && (btf_is_composite(t) || btf_is_any_enum(t))) {
		str_addf(out, "%s%s %s;", tag_of(t), name_at(&p, t->name_off), body(&p, t, 0));
		if (offsets)
			str_addf(out, " /* size: %u */", t->size);
		str_addc(out, '\n');
	}
	arena_free(p.arena);
}

bool kernel_define(struct types *ts, enum type_tag tag, const char *name, bool offsets, struct str *out)
{
	struct btf_types *all = types_kernel(ts);
	struct btf_file *f;
	uint32_t id = all ? btf_find(all, tag, name, &f) : 0;

	if (!id || btf_is_fwd(btf__type_by_id(f->btf, id)))
		return false;
	str_addf(out, "%s: ", f->name);
	btf_define(f, id, offsets, out);
	return true;
}
