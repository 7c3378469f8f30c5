// SPDX-License-Identifier: Apache-2.0
/* test_fields.c - types of tracepoints' fields by the text of a format file, also fields that this kernel may
 * not have. */
#include <stdio.h>
#include <string.h>

#include "../lib/check.h"
#include "base/arena.h"
#include "model/request.h"
#include "model/type.h"
#include "probes/probes.h"
#include "target/target.h"
#include "types/types.h"

/* type, name, offset, size, elements, is_signed */
static const struct trace_field fields[] = {
	{"pid_t", "typedef", 8, 4, 0, true},
	{"const unsigned long", "constant", 16, 8, 0, false},
	{"char[]", "text", 24, 16, 16, false},
	{"unsigned int[]", "numbers", 40, 12, 3, false},
	{"u16[]", "flexible", 52, 0, 0, false},
	{"__data_loc char[]", "located", 52, 4, 0, false},
	{"__rel_loc char[]", "relative", 56, 4, 0, false},
	{"__data_loc u64[]", "far", 60, 4, 0, false},
	{"const char *const *", "argv", 64, 8, 0, false},
	{"struct task_struct *", "task", 72, 8, 0, false},
	{"const void*", "any", 80, 8, 0, false},
	{"bool", "yes", 88, 1, 0, false},
	{"struct list_head", "inside", 96, 16, 0, false},
	{"struct nothing_of_this_name", "unknown", 112, 16, 0, false},
	{"enum no_such_enum", "number", 128, 4, 0, false},
	{"enum pid_type", "enumerated", 132, 4, 0, false},
	{"long", "unsigned_long", 136, 8, 0, false},
	{"no_such_type_t", "lost", 144, 12, 0, false},
};

static const struct field *list;

static const struct field *field(const char *name)
{
	static const struct field none;

	for (const struct field *f = list; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	fprintf(stderr, "no field %s\n", name);
	failed = 1;
	return &none;
}

static bool is_int(const char *name, uint32_t size, bool is_signed)
{
	const struct field *f = field(name);

	return f->where == FIELD_CONTEXT && f->type->kind == TYPE_INT && f->type->size == size &&
		f->type->is_signed == is_signed;
}

static void test_numbers(void)
{
	const struct type *t = field("numbers")->type;

	CHECK(is_int("typedef", 4, true) && is_int("constant", 8, false) && is_int("number", 4, false));
	CHECK(is_int("unsigned_long", 8, false)); /* the kernel gives its sign */
	CHECK(field("yes")->type == type_bool);
	CHECK(t->kind == TYPE_ARRAY && t->array.n == 3 && t->array.of->size == 4 && !t->array.of->is_signed);
	t = field("flexible")->type;
	CHECK(t->kind == TYPE_ARRAY && t->array.n == 0 && t->array.of->size == 2);
	CHECK(field("lost")->where == FIELD_NOWHERE && strstr(field("lost")->why, "no_such_type_t"));
}

static void test_text(void)
{
	CHECK(field("text")->type->kind == TYPE_STRING && field("text")->type->size == 16);
	CHECK(field("located")->type->kind == TYPE_STRING && field("located")->where == FIELD_DATA_LOC);
	CHECK(field("relative")->type->kind == TYPE_STRING && field("relative")->where == FIELD_REL_LOC);
}

static void test_pointers(struct types *ts, enum space space)
{
	const struct type *t = field("argv")->type;

	CHECK(t->kind == TYPE_POINTER && t->pointer.space == space && t->pointer.to->kind == TYPE_POINTER);
	CHECK(t->pointer.to->pointer.to->size == 1);
	t = field("any")->type;
	CHECK(t->kind == TYPE_POINTER && t->pointer.to == type_none);
	t = field("far")->type;
	CHECK(t->kind == TYPE_POINTER && t->pointer.space == SPACE_KERNEL && t->pointer.to->size == 8);
	t = field("task")->type;
	CHECK(t->pointer.to->kind == TYPE_STRUCT && composite_of(t->pointer.to)->incomplete);
	t = types_complete(ts, t->pointer.to);
	CHECK(!strcmp(composite_of(t)->name, "struct task_struct"));
}

/* with: whether the kernel's types are known. */
static void test_structs(struct types *ts, bool with)
{
	const struct type *t = field("inside")->type;
	struct member m;

	CHECK(t->kind == TYPE_STRUCT && t->size == 16 && composite_of(t)->incomplete != with);
	CHECK(type_member(t, "prev", &m) == with);
	t = field("unknown")->type;
	CHECK(t->kind == TYPE_STRUCT && composite_of(t)->incomplete);
	t = types_complete(ts, field("task")->type->pointer.to);
	CHECK(composite_of(t)->incomplete != with && type_member(t, "comm", &m) == with);
}

static void test_event(struct target *target, const char *category)
{
	struct arena *a = arena_new();
	struct types *ts = types_new(a, target);
	struct request req = {.arena = a, .target = target, .types = ts, .listing = true};
	struct trace_event e = {.category = category, .name = "event", .fields = fields,
		.nfields = sizeof(fields) / sizeof(fields[0])};

	list = tracepoint_fields(&req, &e);
	test_numbers();
	test_text();
	test_pointers(ts, strcmp(category, "syscalls") ? SPACE_KERNEL : SPACE_USER);
	test_structs(ts, target_has_btf(target));
	CHECK(is_int("enumerated", 4, false));
	CHECK(!enumeration_of(field("enumerated")->type)->n != target_has_btf(target));
	CHECK(!strcmp(field("text")->decl, "char text[16]") && !strcmp(field("flexible")->decl, "u16 flexible[]"));
	CHECK(!strcmp(field("located")->decl, "__data_loc char[] located"));
	types_close(ts);
	arena_free(a);
}

/* argv[1]: the root of a machine without types. */
int main(int argc, char **argv)
{
	struct target *here = target_open("/"), *without = target_open(argc > 1 ? argv[1] : "/nonexistent");

	if (!here || !without || target_has_btf(without))
		return 2;
	test_event(here, "sched");
	test_event(here, "syscalls");
	test_event(without, "sched");
	target_close(without);
	target_close(here);
	return failed;
}
