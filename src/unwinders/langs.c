// SPDX-License-Identifier: Apache-2.0
/* langs.c - the languages, from their list, and functions that they share. */
#include "lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/native/cache.h"
#include "unwinders/unwinders.h"

const struct lang *const langs[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = &lang_##stem,
#include "bpf/languages.def"
#undef L
};

uint32_t unwinders_usual_languages(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint32_t ret = 0;

	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (langs[i]->program && !strncmp(name, langs[i]->program, strlen(langs[i]->program)))
			ret |= 1U << i;
	return ret;
}

int lang_note(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void *ret,
	size_t size)
{
	int err = f->dir < 0 ? -ENOENT : cache_load_note(f->dir, f->key, l->name, ret, size);

	if (!err)
		return 0;
	err = find(f->elf, ret);
	if (!err && f->dir >= 0)
		cache_store_note(f->dir, f->key, l->name, ret, size);
	return err;
}

int lang_open_proc(const struct lang_file *f, const struct lang *l, int (*find)(struct elf *e, void *ret), void **ret)
{
	void *proc = malloc(l->proc_size);
	int err = proc ? lang_note(f, l, find, proc, l->proc_size) : -ENOMEM;

	if (err)
		free(proc);
	else
		*ret = proc;
	return err;
}
