// SPDX-License-Identifier: Apache-2.0
/* args.c - prints a program's functions from the debug information: args FILE [FUNCTION], one line per
 * function, in the order of addresses: NAME(TYPE NAME AT WHERE, ...) -> TYPE. With -m the structs in them
 * follow, with their members. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "target/elf.h"
#include "target/target.h"
#include "types/debuginfo.h"
#include "types/types.h"

static struct arena *arena;

static void print_where(const struct argument *a)
{
	switch (a->where) {
	case ARG_REGISTER:
		printf("r%u", a->reg);
		break;
	case ARG_REGISTERS:
		printf("r%u,r%u", a->reg, a->reg2);
		break;
	case ARG_STACK:
		printf("sp+%u", a->offset);
		break;
	case ARG_POINTED:
		printf("*r%u", a->reg);
		break;
	case ARG_NOWHERE:
		printf("none: %s", a->why);
		break;
	}
}

static void print_members(const struct type *t, unsigned depth)
{
	const struct composite *c;

	while (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY)
		t = t->kind == TYPE_POINTER ? t->pointer.to : t->array.of;
	if (t->kind == TYPE_INT && t->integer.names) {
		for (unsigned i = 0; i < t->integer.names->n; i++)
			printf("%*s%s = %" PRId64 "\n", 4 * depth, "", t->integer.names->list[i].name,
				(int64_t)t->integer.names->list[i].value);
		return;
	}
	if (t->kind != TYPE_STRUCT || depth > 3)
		return;
	c = composite_of(t);
	printf("%*s%s: %u bytes%s\n", 4 * depth, "", c->name, t->size, c->incomplete ? ", declared" : "");
	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];

		printf("%*s  %u", 4 * depth, "", m->offset);
		if (m->bit_size)
			printf(" bits %u+%u", m->bit_offset, m->bit_size);
		printf(" %s %s\n", type_name(arena, m->type), m->name);
		print_members(m->type, depth + 1);
	}
}

static void print_function(struct debuginfo *d, const struct elf_symbol *s, bool members)
{
	struct signature f;

	if (!debuginfo_function(d, s->name, s->vaddr, true, &f))
		return;
	printf("%s(", s->name);
	for (unsigned i = 0; i < f.n; i++) {
		printf("%s%s %s at ", i ? ", " : "", f.args[i].c_type, f.args[i].name);
		print_where(&f.args[i]);
	}
	printf(") -> %s", f.ret ? type_name(arena, f.ret) : "-");
	if (f.inlined)
		printf(", inlined at %u places", f.inlined);
	puts("");
	for (unsigned i = 0; members && i < f.n; i++)
		print_members(f.args[i].type, 1);
}

static int print_file(const char *path, const char *name, bool members, struct types *ts)
{
	const struct elf_symbol *s;
	const char *why, *hint;
	struct debuginfo *d = types_debuginfo(ts, path, &why, &hint);
	struct elf *e = NULL;
	size_t n;

	if (!d || elf_open(path, &e)) {
		printf("%s: %s\n", path, why);
		return 1;
	}
	n = elf_symbols(e, &s);
	for (size_t i = 0; i < n; i++)
		if (s[i].type == STT_FUNC && (!name || !strcmp(name, s[i].name)))
			print_function(d, &s[i], members);
	elf_close(e);
	return 0;
}

int main(int argc, char **argv)
{
	bool members = argc > 1 && !strcmp(argv[1], "-m");
	struct target *t = target_open("/");
	struct types *ts;
	int code;

	argv += members;
	arena = arena_new();
	ts = types_new(arena, t);
	code = argv[1] ? print_file(argv[1], argv[2], members, ts) : 2;
	types_close(ts);
	target_close(t);
	arena_free(arena);
	return code;
}
