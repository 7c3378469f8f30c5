// SPDX-License-Identifier: Apache-2.0
/* names.c - frames in words: from a file's symbols, a JIT's map, a code object, the
 * kernel's symbols. A name once found is kept, by frame. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "demangle.h"
#include "idmap.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/go/pclntab.h"
#include "unwinders/procs/file.h"
#include "unwinders/procs/perfmap.h"
#include "unwinders/python/python.h"

struct names {
	struct target *target;
	const struct files *files;
	const struct python_codes *codes;
	const struct v8_codes *v8;
	struct arena *arena;
	struct idmap known;     /* frame -> struct frame_name * */
	struct idmap texts;     /* hash -> struct text *: what names are made of, each once */
	struct idmap demangled; /* mangled name, as a text -> char *, in the arena */
};

struct text {
	struct text *next; /* of the same hash */
	char text[];
};

struct names *names_new(struct target *t, const struct files *fs, const struct python_codes *codes,
	const struct v8_codes *v8)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->target = t;
	n->files = fs;
	n->codes = codes;
	n->v8 = v8;
	n->arena = arena_new();
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	idmap_done(&n->known);
	idmap_done(&n->texts);
	idmap_done(&n->demangled);
	arena_free(n->arena);
	free(n);
}

/* A name outlives the file that it was read from. */
static const char *keep(struct names *n, const char *text)
{
	size_t len = strlen(text);
	uint64_t h = STACK_HASH_SEED;
	struct text *first, *t;

	for (size_t i = 0; i < len; i++)
		h = STACK_HASH(h, (uint8_t)text[i]);
	first = idmap_pointer(&n->texts, h | 1);
	for (t = first; t; t = t->next)
		if (!strcmp(t->text, text))
			return t->text;
	t = arena_alloc(n->arena, sizeof(*t) + len + 1);
	t->next = first;
	memcpy(t->text, text, len + 1);
	idmap_set(&n->texts, h | 1, (uintptr_t)t);
	return t->text;
}

static const char *readable(struct names *n, const char *name)
{
	const char *known;
	char *text;

	name = keep(n, name);
	known = idmap_pointer(&n->demangled, (uintptr_t)name);
	if (known)
		return known;
	text = demangle(name);
	known = text ? arena_strdup(n->arena, text) : name;
	free(text);
	idmap_set(&n->demangled, (uintptr_t)name, (uintptr_t)known);
	return known;
}

static void name_jit(struct names *n, const struct file *f, struct frame_name *ret)
{
	uint64_t addr = f->jit_base + ret->vaddr;
	const char *name = perfmap_find(f->jit, addr, &ret->offset);

	if (!name) {
		perfmap_read(f->jit, n->target);
		name = perfmap_find(f->jit, addr, &ret->offset);
	}
	if (name)
		ret->name = keep(n, name);
}

/* main.Map[go.shape.int,go.shape.string] is main.Map[...], as Go itself prints it. */
static const char *go_name(struct names *n, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');

	if (!open || !close || close < open || !strncmp(open, "[...]", 5))
		return keep(n, name);
	return arena_printf(n->arena, "%.*s[...]%s", (int)(open - name), name, close + 1);
}

/* With the functions that were inlined there. */
static bool name_go(struct names *n, struct file *f, struct frame_name *ret)
{
	const struct pclntab *tab = file_pclntab(f);
	struct pcln_place places[PCLN_PLACES_MAX];
	size_t count = tab ? pclntab_places(tab, ret->vaddr, places) : 0;
	struct frame_name *to = ret, *next;

	for (size_t i = 0; i < count; i++) {
		to->lang = FRAME_LANG_GO;
		to->name = go_name(n, places[i].function);
		to->file = places[i].file ? keep(n, places[i].file) : NULL;
		to->line = places[i].line;
		to->wrapper = places[i].wrapper;
		if (i + 1 == count)
			break;
		next = arena_new_obj(n->arena, struct frame_name);
		next->module = ret->module;
		next->vaddr = ret->vaddr;
		to->caller = next;
		to = next;
	}
	return count > 0;
}

static void name_native(struct names *n, uint64_t frame, struct frame_name *ret)
{
	uint32_t id = (uint32_t)(frame >> FRAME_FILE_SHIFT) & (FILES_MAX - 1);
	struct file *f = files_get(n->files, id);
	const struct elf_symbol *sym;
	uint64_t start;

	ret->vaddr = frame & FRAME_VADDR_MASK;
	if (!f)
		return;
	ret->module = f->path;
	if (f->jit)
		name_jit(n, f, ret);
	if (name_go(n, f, ret))
		return;
	sym = f->elf ? elf_symbol_at(f->elf, ret->vaddr) : NULL;
	if (!sym) {
		if (file_function(f, ret->vaddr, &start))
			ret->offset = ret->vaddr - start;
		return;
	}
	ret->name = readable(n, sym->name);
	ret->offset = ret->vaddr - sym->vaddr;
}

static void name_kernel(struct names *n, uint64_t frame, struct frame_name *ret)
{
	uint64_t addr = (uint64_t)((int64_t)(frame << 4) >> 4);

	ret->lang = FRAME_LANG_KERNEL;
	if (!target_ksym(n->target, addr, &ret->name, &ret->offset, &ret->module))
		ret->offset = addr;
}

static bool make_name(struct names *n, uint64_t frame, struct frame_name *ret)
{
	*ret = (struct frame_name){};
	switch (frame >> FRAME_LANG_SHIFT) {
	case FRAME_LANG_NATIVE:
		name_native(n, frame, ret);
		break;
	case FRAME_LANG_PYTHON:
		python_codes_name(n->codes, frame, ret);
		break;
	case FRAME_LANG_JS:
		v8_codes_name(n->v8, frame, ret);
		break;
	case FRAME_LANG_KERNEL:
		name_kernel(n, frame, ret);
		break;
	default:
		ret->lang = (enum frame_lang)(frame >> FRAME_LANG_SHIFT);
	}
	return ret->name != NULL;
}

static void remember(struct names *n, uint64_t frame, const struct frame_name *name)
{
	struct frame_name *known = arena_new_obj(n->arena, struct frame_name);

	*known = *name;
	idmap_set(&n->known, frame, (uintptr_t)known);
}

void names_frame(struct names *n, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *known = idmap_pointer(&n->known, frame);

	if (known)
		*ret = *known;
	else if (make_name(n, frame, ret))
		remember(n, frame, ret); /* else a record or a map may still come */
}

void names_keep(struct names *n, uint64_t frame)
{
	struct frame_name name;

	if (idmap_pointer(&n->known, frame))
		return;
	make_name(n, frame, &name);
	remember(n, frame, &name);
}
