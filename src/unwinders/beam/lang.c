// SPDX-License-Identifier: Apache-2.0
/* lang.c - Erlang's row: the tables of its runtime are found in each process. */
#include "unwinders/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "beam.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/table.h"
#include "unwinders/python/python.h"

static int table(struct elf *e, struct table_header *hdr)
{
	struct beam_file f;
	int err = beam_open(e, &f);

	if (err)
		return err;
	hdr->flags |= TABLE_LANG(FRAME_LANG_BEAM);
	return 0;
}

/* Erlang code that is interpreted runs in process_main(): stacks that come there are marked. */
static int rules(struct elf *e, struct eh_rows *rows)
{
	struct eh_row own[2] = {};
	struct elf_symbol sym;
	struct beam_file f;

	if (beam_open(e, &f) || !f.no_jit || !elf_symbol_named(e, "process_main", &sym) || !sym.size)
		return -ENOENT;
	own[0] = (struct eh_row){ sym.vaddr, RULE(RULE_LANG, 0, 0, 0, 0) };
	own[1] = (struct eh_row){ sym.vaddr + sym.size, 0 };
	eh_rows_replace(rows, &(struct eh_rows){ own, 2, 2 });
	return 0;
}

static int open_file(const struct lang_file *f, void **ret)
{
	struct beam_file *b = calloc(1, sizeof(*b));
	int err = b ? lang_note(f, &lang_beam, beam_open, b, sizeof(*b)) : -ENOMEM;

	if (err) {
		free(b);
		return err;
	}
	if (b->no_jit)
		log_warn("%s: it interprets Erlang (no JIT compiler): Erlang's frames are missing", f->path);
	*ret = b;
	return 0;
}

static void set_tsd(struct elf *e, struct beam_proc *p)
{
	struct python_layout tsd = {};

	python_tsd(e, &tsd);
	p->tsd = (struct beam_tsd){ tsd.tsd_first, tsd.tsd_blocks, tsd.tsd_inline, tsd.tsd_block_shift,
		tsd.tsd_entry_shift, tsd.tsd_value, {} };
}

/* Without a process nothing is known: the kernel half asks userspace about a process that is not published. The
 * runtime fills its tables after it was mapped. */
static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *ret)
{
	const struct beam_file *b = f->opened;
	const struct elf_segment *s;
	struct beam_memory memory = { f->read, f->arg };
	struct beam_proc proc = {};
	size_t n = elf_segments(f->elf, &s);
	int err = -EAGAIN;

	if (!b)
		return -ENOTSUP;
	if (!is_first || b->no_jit)
		return 0;
	if (!m || !f->read)
		return -EAGAIN;
	for (size_t i = 0; i < n && err; i++)
		if (s[i].write)
			err = beam_find(&memory, (s[i].vaddr + m->bias + 7) & ~7ULL, (s[i].memsz - 7) & ~7ULL, b,
				m->bias, &proc);
	if (err)
		return err;
	set_tsd(f->elf, &proc);
	memcpy(ret, &proc, sizeof(proc));
	return 0;
}

static bool libc(struct elf *libc, void *proc)
{
	struct beam_tsd *tsd = &((struct beam_proc *)proc)->tsd;
	struct python_layout at = { .has_tsd = 1, .tsd_inline = tsd->inlined, .tsd_entry_shift = tsd->entry_shift };

	if (!python_libc(libc, &at))
		return false;
	tsd->first = at.tsd_first;
	tsd->blocks = at.tsd_blocks;
	return true;
}

/* The JIT compiler maps its code twice, from a memfd; with +JMsingle its code is in anonymous memory. */
static bool compiles(const char *path)
{
	return !strncmp(path, "/memfd:vmem", 11) || !*path || !strcmp(path, "//anon");
}

static void *names_new(void)
{
	return beam_codes_new();
}

static void names_free(void *names)
{
	beam_codes_free(names);
}

static bool record(void *names, const struct lang_record *r, size_t size, const struct lang_process *p)
{
	if (size >= sizeof(struct beam_record))
		beam_codes_record(names, (const void *)r);
	return false;
}

static bool name_frame(const void *names, uint64_t frame, struct frame_name *ret)
{
	return beam_codes_name(names, frame, ret);
}

const struct lang lang_beam = {
	.name = "beam",
	.program = "beam.smp",
	.version = 1,
	.proc_size = sizeof(struct beam_proc),
	.generation_at = offsetof(struct beam_proc, generation),
	.table = table,
	.rules = rules,
	.open = open_file,
	.close = free,
	.attach = attach,
	.libc = libc,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name_frame,
};
