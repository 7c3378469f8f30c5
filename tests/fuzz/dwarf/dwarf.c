// SPDX-License-Identifier: Apache-2.0
/* dwarf.c - reads any bytes as a program with debug information: its functions' arguments, their types
 * with all members, types by name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "types/dwarf_read.h"
#include "types/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS_MAX = 256, TYPES_MAX = 2000 };

static struct programs *programs;

struct programs *types_programs(struct types *ts)
{
	return programs;
}

static void look(struct arena *a, const struct type *t, unsigned depth, unsigned *left)
{
	const struct composite *c;

	if (!*left || !--*left || depth > 12)
		return;
	type_name(a, t);
	if (t->kind == TYPE_POINTER)
		look(a, t->pointer.to, depth + 1, left);
	if (t->kind == TYPE_ARRAY)
		look(a, t->array.of, depth + 1, left);
	if (t->kind == TYPE_INT && t->integer.names)
		for (unsigned i = 0; i < t->integer.names->n; i++)
			if (!t->integer.names->list[i].name)
				abort();
	if (t->kind != TYPE_STRUCT)
		return;
	c = composite_of(t);
	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];

		if (m->offset > t->size || m->type->size > t->size - m->offset ||
			(m->bit_size && m->bit_offset + m->bit_size > 8 * m->type->size))
			abort();
		look(a, m->type, depth + 1, left);
	}
}

static void look_function(struct debuginfo *d, const char *name, uint64_t at)
{
	struct signature s;
	unsigned left = TYPES_MAX;

	if (!debuginfo_function(d, name, at, true, &s))
		return;
	for (unsigned i = 0; i < s.n; i++) {
		const struct argument *g = &s.args[i];

		if (!g->name || !g->c_type || (g->where == ARG_NOWHERE && !g->why) ||
			(g->where == ARG_REGISTER && g->type->size > 8) || g->reg > 7 || g->reg2 > 7)
			abort();
		look(d->arena, g->type, 0, &left);
	}
	if (s.ret)
		look(d->arena, s.ret, 0, &left);
}

static void look_lines(struct debuginfo *d)
{
	struct source_line line;

	for (unsigned n = 1; n < 40; n += 1 + n / 4) {
		debuginfo_line(d, "a.c", n, n % 3, &line);
		for (size_t i = 1; i < line.n; i++)
			if (line.addresses[i] <= line.addresses[i - 1])
				abort();
	}
}

static void look_program(struct debuginfo *d)
{
	unsigned left = FUNCTIONS_MAX;

	look_lines(d);

	look_function(d, "f", 0);
	for (size_t i = 0; i < d->ranges.len && left; i++, left--)
		look_function(d, "f", d->ranges.data[i].start);
	for (size_t i = 0; i < d->units.len && left; i++)
		for (size_t k = 0; k < d->units.data[i].functions.len && left; k++, left--)
			look_function(d, k % 2 ? "f.part.0" : "f", d->units.data[i].functions.data[k].entry);
}

struct all {
	struct arena *arena;
	struct type_source *source;
	enum type_tag tag;
	unsigned left;
};

static void found(void *arg, const char *name)
{
	struct all *all = arg;
	const struct type *t = all->left ? all->source->find(all->source->state, all->tag, name) : NULL;

	if (t)
		look(all->arena, t, 0, &all->left);
}

static void look_names(struct arena *a, struct type_source *s)
{
	struct constant c;

	for (unsigned tag = TAG_NAME; tag <= TAG_ENUM; tag++) {
		struct all all = {a, s, tag, TYPES_MAX};

		s->names(s->state, tag, found, &all);
	}
	s->constant(s->state, "RED", &c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("dwarf", MFD_CLOEXEC);
	struct arena *a = arena_new();
	struct type_source s;
	struct debuginfo *d;
	char path[32];

	log_level = -1;
	programs = programs_source(a, &s);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size && !debuginfo_open(a, path, &d)) {
		look_program(d);
		debuginfo_close(d);
		types_add_program(NULL, path);
		look_names(a, &s);
	}
	s.close(s.state);
	close(fd);
	arena_free(a);
	return 0;
}
