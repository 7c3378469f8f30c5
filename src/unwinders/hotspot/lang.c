// SPDX-License-Identifier: Apache-2.0
/* lang.c - Java's row: HotSpot describes itself in each process, and its methods are read there. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "hotspot.h"
#include "target/elf.h"
#include "unwinders/lang.h"
#include "unwinders/native/table.h"

static int table(struct elf *e, struct table_header *hdr)
{
	struct elf_symbol sym;

	if (!elf_symbol_named(e, "gHotSpotVMStructs", &sym))
		return -ENOENT;
	hdr->flags |= TABLE_LANG(FRAME_LANG_JAVA);
	return 0;
}

static int open_layout(const struct lang_file *f, void **ret)
{
	struct hotspot_layout *l = calloc(1, sizeof(*l));
	int err = l ? lang_note(f, &lang_hotspot, hotspot_variables, l, sizeof(*l)) : -ENOMEM;

	if (err) {
		free(l);
		return err;
	}
	*ret = l;
	return 0;
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *ret)
{
	struct hotspot_layout *l = f->opened;
	struct hotspot_proc *proc = ret;
	int err = 0;

	if (!l || l->unsupported)
		return -ENOTSUP;
	if (!l->known && m && f->read)
		err = hotspot_read_tables(f->elf, m->bias, &(struct hotspot_memory){ f->read, f->arg }, l);
	l->unsupported = err == -ENOTSUP;
	if (l->unsupported)
		log_warn("%s: the layout of its objects is unknown: Java methods have no names", f->path);
	if (!l->known)
		return err ? err : -EAGAIN;
	if (is_first)
		*proc = l->proc;
	if (is_first && m)
		proc->heaps += m->bias;
	return 0;
}

/* The code cache has no file, but it may have the name of huge pages. */
static bool compiles(const char *path)
{
	return true;
}

static void *names_new(void)
{
	return hotspot_codes_new();
}

static void names_free(void *names)
{
	hotspot_codes_free(names);
}

static bool record(void *names, const struct lang_record *r, size_t size, const struct lang_process *p)
{
	struct hotspot_vm vm = p ? (struct hotspot_vm){ { p->read, p->arg }, p->opened } : (struct hotspot_vm){};

	if (size >= sizeof(struct hotspot_record))
		hotspot_codes_record(names, (const void *)r, p && vm.layout->known ? &vm : NULL);
	return false;
}

static bool name_frame(const void *names, uint64_t frame, struct frame_name *ret)
{
	return hotspot_codes_name(names, frame, ret);
}

const struct lang lang_hotspot = {
	.name = "hotspot",
	.version = 1,
	.proc_size = sizeof(struct hotspot_proc),
	.generation_at = offsetof(struct hotspot_proc, generation),
	.table = table,
	.open = open_layout,
	.close = free,
	.attach = attach,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name_frame,
};
