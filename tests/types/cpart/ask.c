// SPDX-License-Identifier: Apache-2.0
/* ask.c - prints the meaning of a script's C part: `ask [-I DIR]... FILE`. Lines of the script name the
 * questions:
 *
 *     // ask struct item         a struct or union with its members, an enum, a typedef
 *     // ask N                   a constant or a macro */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "model/type.h"
#include "parser/ast.h"
#include "parser/parse.h"
#include "target/target.h"
#include "types/types.h"

static void print_type(struct arena *a, const struct type *t, unsigned depth);

static void print_members(struct arena *a, const struct type *t, unsigned depth)
{
	const struct composite *c = composite_of(t);

	if (c->incomplete)
		printf(" incomplete");
	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];

		printf("\n%*s%u", (int)depth * 2 + 2, "", m->offset);
		if (m->bit_size)
			printf(" bits %u..%u", m->bit_offset, m->bit_offset + m->bit_size - 1);
		printf(" %s: ", *m->name ? m->name : "(unnamed)");
		print_type(a, m->type, depth + 1);
	}
}

static void print_enum(const struct enumeration *e)
{
	printf(" %s {", e->name);
	for (unsigned i = 0; i < e->n; i++)
		printf(" %s=%" PRId64, e->list[i].name, (int64_t)e->list[i].value);
	printf(" }");
}

static void print_type(struct arena *a, const struct type *t, unsigned depth)
{
	printf("%s, %u bytes", type_name(a, t), t->size);
	if (t->kind == TYPE_INT && t->integer.names)
		print_enum(t->integer.names);
	if (t->kind == TYPE_STRUCT && depth < 4)
		print_members(a, t, depth);
}

static void ask(struct arena *a, struct types *ts, const char *name)
{
	static const char *const tags[] = {"", "struct ", "union ", "enum "};
	const struct type *t = NULL;
	struct constant c;
	const char *text;

	printf("%s: ", name);
	for (int i = 3; i >= 0 && !t; i--)
		if (!strncmp(name, tags[i], strlen(tags[i])))
			t = types_find(ts, (enum type_tag)i, name + strlen(tags[i]));
	if (t)
		print_type(a, t, 0);
	else if (types_constant(ts, name, &c) && c.type->kind == TYPE_STRING)
		printf("\"%s\", %s", c.text, type_name(a, c.type));
	else if (types_constant(ts, name, &c))
		printf(c.type->is_signed ? "%" PRId64 ", %s" : "%" PRIu64 ", %s", c.value, type_name(a, c.type));
	else if ((text = types_macro(ts, name)))
		printf("macro `%s`", text);
	else
		printf("unknown");
	putchar('\n');
}

static void ask_all(struct arena *a, struct types *ts, const struct source *src)
{
	static const char mark[] = "// ask ";

	for (const char *p = src->text; (p = strstr(p, mark));) {
		p += strlen(mark);
		ask(a, ts, arena_strndup(a, p, strcspn(p, "\n")));
	}
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct target *t = target_open("/");
	struct types *ts = types_new(a, t);
	const char *dirs[8];
	struct c_options opt = {.dirs = dirs, .kernel_source = getenv("BPFTRACE_KERNEL_SOURCE"),
		.kernel_build = getenv("BPFTRACE_KERNEL_BUILD")};
	struct source src = {};
	struct diags *d;
	int i = 1, failed;

	for (; i + 1 < argc && !strcmp(argv[i], "-I") && opt.ndirs < 8; i += 2)
		dirs[opt.ndirs++] = argv[i + 1];
	if (i >= argc || source_read(a, argv[i], &src))
		return 2;
	d = diags_new(a, &src);
	if (types_add_c(ts, d, &src, preamble_span(&src, (struct span){0, (uint32_t)src.len}, d), &opt))
		ask_all(a, ts, &src);
	fflush(stdout);
	diags_print(d, stderr, false);
	failed = diags_failed(d);
	types_close(ts);
	target_close(t);
	arena_free(a);
	return failed;
}
