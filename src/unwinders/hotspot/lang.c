// SPDX-License-Identifier: Apache-2.0
/* lang.c - Java's row: HotSpot describes itself in each process, and its methods are read there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
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

/* A file. Each process has the tables in memory that it can write, so one process says nothing about another one,
 * though most have the same layout. */
#define LAYOUTS_MAX 4096
struct hotspot_file {
	struct hotspot_variables at;
	VEC(struct known_layout {
		struct hotspot_layout layout;
		uint32_t number; /* hotspot_proc.layout; of all files; never used again */
	} *) layouts;
	bool unsupported; /* the tables of a process lack fields; this was reported */
};

static int open_file(const struct lang_file *f, void **ret)
{
	struct hotspot_file *h = calloc(1, sizeof(*h));
	int err = h ? lang_note(f, &lang_hotspot, hotspot_variables, &h->at, sizeof(h->at)) : -ENOMEM;

	if (err) {
		free(h);
		return err;
	}
	*ret = h;
	return 0;
}

static void close_file(void *opened)
{
	struct hotspot_file *h = opened;

	if (!h)
		return;
	for (size_t i = 0; i < h->layouts.len; i++)
		free(h->layouts.data[i]);
	vec_done(&h->layouts);
	free(h);
}

/* Returns the number of the layout, or 0 if there are too many. */
static uint32_t keep_layout(struct hotspot_file *h, const struct hotspot_layout *l)
{
	static uint32_t numbers;
	struct known_layout *k;

	for (size_t i = 0; i < h->layouts.len; i++)
		if (!memcmp(&h->layouts.data[i]->layout, l, sizeof(*l)))
			return h->layouts.data[i]->number;
	k = h->layouts.len < LAYOUTS_MAX ? calloc(1, sizeof(*k)) : NULL;
	if (!k)
		return 0;
	k->layout = *l;
	k->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	vec_push(&h->layouts, k);
	return k->number;
}

static const struct hotspot_layout *known_layout(const struct hotspot_file *h, uint32_t number)
{
	for (size_t i = 0; i < h->layouts.len; i++)
		if (h->layouts.data[i]->number == number)
			return &h->layouts.data[i]->layout;
	return NULL;
}

/* Without a process nothing is known: the kernel half asks userspace about a process that is not published. */
static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *ret)
{
	struct hotspot_file *h = f->opened;
	struct hotspot_proc *proc = ret;
	struct hotspot_layout l;
	int err;

	if (!h)
		return -ENOTSUP;
	if (!m || !f->read)
		return -EAGAIN;
	err = hotspot_read_tables(f->elf, m->bias, &(struct hotspot_memory){ f->read, f->arg }, &h->at, &l);
	if (err == -ENOTSUP && !h->unsupported)
		log_warn("%s: the layout of its objects is unknown: Java methods have no names", f->path);
	h->unsupported |= err == -ENOTSUP;
	if (err || !is_first)
		return err;
	*proc = l.proc;
	proc->heaps += m->bias;
	proc->layout = keep_layout(h, &l);
	return proc->layout ? 0 : -ENOTSUP;
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
	struct hotspot_vm vm = {};

	if (p && p->opened) {
		const struct hotspot_proc *proc = p->proc;

		vm = (struct hotspot_vm){ { p->read, p->arg }, known_layout(p->opened, proc->layout) };
	}
	if (size >= sizeof(struct hotspot_record))
		hotspot_codes_record(names, (const void *)r, vm.layout ? &vm : NULL);
	return false;
}

static bool name_frame(const void *names, uint64_t frame, struct frame_name *ret)
{
	return hotspot_codes_name(names, frame, ret);
}

const struct lang lang_hotspot = {
	.name = "hotspot",
	.program = "java",
	.version = 2,
	.proc_size = sizeof(struct hotspot_proc),
	.generation_at = offsetof(struct hotspot_proc, generation),
	.table = table,
	.open = open_file,
	.close = close_file,
	.attach = attach,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name_frame,
};
