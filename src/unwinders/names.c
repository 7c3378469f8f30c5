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
#include "unwinders/procs/file.h"
#include "unwinders/procs/perfmap.h"

struct names {
	struct name_store store; /* first: for languages */
	struct target *target;
	const struct files *files;
	void *const *lang_names; /* by enum frame_lang */
	struct arena *arena;
	struct idmap known;     /* frame -> struct frame_name * */
	struct idmap texts;     /* hash -> struct text *: what names are made of, each once */
	struct idmap demangled; /* mangled name, as a text -> char *, in the arena */
};

struct text {
	struct text *next; /* of the same hash */
	char text[];
};

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

static const char *store_keep(struct name_store *s, const char *text)
{
	return keep((struct names *)s, text);
}

static struct frame_name *store_more(struct name_store *s)
{
	return arena_new_obj(((struct names *)s)->arena, struct frame_name);
}

struct names *names_new(struct target *t, const struct files *fs, void *const *lang_names)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->target = t;
	n->files = fs;
	n->lang_names = lang_names;
	n->store = (struct name_store){ store_keep, store_more };
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
	const char *name = perfmap_find(f->jit, ret->vaddr, &ret->offset);

	if (!name) {
		perfmap_read(f->jit, n->target);
		name = perfmap_find(f->jit, ret->vaddr, &ret->offset);
	}
	if (name)
		ret->name = keep(n, name);
}

/* By a LANG_NATIVE language whose code it is. */
static bool name_by_lang(struct names *n, struct file *f, struct frame_name *ret)
{
	uint32_t languages = file_languages(f) & LANGS_NATIVE;

	for (unsigned i = 1; languages >> i; i++) {
		struct lang_file of;

		if (!(languages >> i & 1))
			continue;
		of = file_of_lang(f, i);
		if (of.opened && langs[i]->name_code(of.opened, &n->store, ret))
			return true;
	}
	return false;
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
	if (f->jit) {
		ret->vaddr += f->jit_base;
		name_jit(n, f, ret);
	}
	if (name_by_lang(n, f, ret))
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
	uint64_t addr = FRAME_ADDRESS(frame);

	ret->lang = FRAME_LANG_KERNEL;
	if (!target_ksym(n->target, addr, &ret->name, &ret->offset, &ret->module))
		ret->offset = addr;
}

static bool make_name(struct names *n, uint64_t frame, struct frame_name *ret)
{
	unsigned lang = (unsigned)(frame >> FRAME_LANG_SHIFT);

	*ret = (struct frame_name){};
	if (lang == FRAME_LANG_NATIVE)
		name_native(n, frame, ret);
	else if (lang == FRAME_LANG_ADDRESS)
		ret->vaddr = FRAME_ADDRESS(frame);
	else if (lang == FRAME_LANG_KERNEL)
		name_kernel(n, frame, ret);
	else if (lang < FRAME_LANGS && n->lang_names[lang])
		langs[lang]->name_frame(n->lang_names[lang], frame, ret);
	else
		ret->lang = (enum frame_lang)lang;
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
