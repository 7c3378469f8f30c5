// SPDX-License-Identifier: Apache-2.0
/* lang.c - Go's row: rules and names come from pclntab. */
#include <string.h>

#include "base/str.h"
#include "go.h"
#include "target/pclntab.h"
#include "unwinders/lang.h"
#include "unwinders/unwinders.h"

static int open_pclntab(const struct lang_file *f, void **ret)
{
	struct pclntab *tab;
	int err = pclntab_open(f->elf, &tab);

	if (!err)
		*ret = tab;
	return err;
}

static void close_pclntab(void *opened)
{
	pclntab_close(opened);
}

/* main.Map[go.shape.int,go.shape.string] becomes main.Map[...], which Go itself prints. */
static const char *readable(struct name_store *s, const char *name)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']'), *ret;
	struct str text = {};

	if (!open || !close || close < open || !strncmp(open, "[...]", 5))
		return s->keep(s, name);
	str_addf(&text, "%.*s[...]%s", (int)(open - name), name, close + 1);
	ret = s->keep(s, text.data);
	str_done(&text);
	return ret;
}

static bool name_code(const void *opened, struct name_store *s, struct frame_name *ret)
{
	struct pcln_position at[PCLN_POSITIONS_MAX];
	size_t n = pclntab_positions(opened, ret->vaddr, at);
	struct frame_name *to = ret, *next;

	for (size_t i = 0; i < n; i++) {
		to->lang = FRAME_LANG_GO;
		to->name = readable(s, at[i].function);
		to->file = at[i].file ? s->keep(s, at[i].file) : NULL;
		to->line = at[i].line;
		to->wrapper = at[i].wrapper;
		if (i + 1 == n)
			break;
		next = s->more(s);
		next->module = ret->module;
		next->vaddr = ret->vaddr;
		to->caller = next;
		to = next;
	}
	return n > 0;
}

const struct lang lang_go = {
	.name = "go",
	.version = 12,
	.table = go_table,
	.rules = go_rules,
	.open = open_pclntab,
	.close = close_pclntab,
	.name_code = name_code,
};
