// SPDX-License-Identifier: Apache-2.0
/* usdt.c - usdt: the probes that a program's author put into it.
 *
 * Each is a nop and a note (target/sdt.h), and is probed like any instruction. One name may have several
 * places, with the arguments elsewhere in each: a place's fields are arg0, arg1.. of its own note, and places
 * with equal notes share them, so that they share a program, too (codegen/gen.c). A program that computes
 * arguments only for tracers checks its semaphore first: while the probe is attached, the kernel increments
 * the semaphore in each process that has the file. */
#include "probes.h"

#include <elf.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/regs.h"
#include "model/type.h"
#include "target/elf.h"
#include "target/sdt.h"
#include "target/target.h"
#include "uprobe.h"

/* The file whose notes are read. */
struct notes {
	const char *path;
	struct elf *elf;
	VEC(struct sdt_note) list; /* matching notes, in the order of their places */
	const char *args;          /* the last arguments that were read */
	uint64_t vaddr;            /* the place of these arguments */
	const struct field *fields; /* the fields of these arguments */
	struct elf_symbol symbol;  /* the last symbol that was searched; name NULL: none */
	bool has_symbol;
};

/* ---- arguments ---------------------------------------------------------- */

/* Symbols of data are often only in the debug file. */
static bool find_symbol(struct notes *n, const char *name)
{
	const struct elf_symbol *s;
	size_t count;

	if (n->symbol.name && !strcmp(n->symbol.name, name))
		return n->has_symbol;
	n->has_symbol = elf_symbol_named(n->elf, name, &n->symbol);
	if (n->has_symbol)
		return true;
	count = elf_symbols(n->elf, &s);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(s[i].name, name)) {
			n->symbol = s[i];
			return n->has_symbol = true;
		}
	n->symbol = (struct elf_symbol){.name = name};
	return false;
}

static void nowhere(struct field *f, const char *why)
{
	f->where = FIELD_NOWHERE;
	f->why = why;
}

/* A symbol's address in a process is known by its distance from the probe, which is the pc. */
static void set_symbol(struct arena *arena, struct notes *n, uint64_t vaddr, const struct sdt_arg *a,
	struct field *f)
{
	const char *name = arena_strndup(arena, a->symbol, a->symbol_len);

	if (!find_symbol(n, name)) {
		nowhere(f, arena_printf(arena, "it is at the symbol %s, which %s does not have; its debug file may",
				   name, n->path));
		return;
	}
	f->where = a->where == SDT_ADDRESS ? FIELD_ADDRESS : FIELD_MEMORY;
	f->offset = (uint32_t)regs_pc();
	f->value = (int64_t)(n->symbol.vaddr + (uint64_t)a->disp - vaddr);
}

static int64_t narrow(int64_t v, const struct sdt_arg *a)
{
	unsigned up = 64 - 8 * a->size;
	uint64_t bits = (uint64_t)v << up;

	return a->is_signed ? (int64_t)bits >> up : (int64_t)(bits >> up);
}

static void set_where(struct arena *arena, struct notes *n, uint64_t vaddr, const struct sdt_arg *a,
	struct field *f)
{
	int reg = regs_dwarf(a->reg), index = regs_dwarf(a->index);

	switch (a->where) {
	case SDT_CONSTANT:
		f->where = FIELD_CONSTANT;
		f->value = narrow(a->disp, a);
		return;
	case SDT_REGISTER:
		f->where = FIELD_CONTEXT;
		break;
	case SDT_MEMORY:
		f->where = FIELD_MEMORY;
		break;
	case SDT_SYMBOL:
	case SDT_ADDRESS:
		set_symbol(arena, n, vaddr, a, f);
		return;
	case SDT_NOWHERE:
		nowhere(f, a->why);
		return;
	}
	f->offset = (uint32_t)reg + a->shift / 8;
	f->offset2 = (uint32_t)index;
	f->scale = a->scale;
	f->value = a->disp;
	if (reg < 0 || index < 0)
		nowhere(f, "this machine has no such register");
}

static bool is_relative(const struct sdt_arg *args, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (args[i].where == SDT_SYMBOL || args[i].where == SDT_ADDRESS)
			return true;
	return false;
}

static const struct field *fields_of(struct arena *arena, struct notes *n, const struct sdt_note *note)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	unsigned count = sdt_args(note->args, elf_machine(n->elf), args);
	const struct field **last = &n->fields;

	if (n->args && !strcmp(n->args, note->args) && (n->vaddr == note->vaddr || !is_relative(args, count)))
		return n->fields;
	n->args = note->args;
	n->vaddr = note->vaddr;
	n->fields = NULL;
	for (unsigned i = 0; i < count; i++) {
		struct field *f = arena_new_obj(arena, struct field);

		f->name = arena_printf(arena, "arg%u", i);
		f->type = type_int(args[i].size, args[i].is_signed);
		f->size = args[i].size;
		set_where(arena, n, note->vaddr, &args[i], f);
		if (args[i].is_float)
			f->decl = arena_printf(arena, "%s %s (BPF programs have no floating-point numbers)",
				args[i].size == 4 ? "float" : "double", f->name);
		*last = f;
		last = &f->next;
	}
	return n->fields;
}

/* ---- places ------------------------------------------------------------- */

static void add_place(const struct request *req, struct attach_point *ap, struct notes *n,
	const struct sdt_note *note)
{
	const char *provider = uprobe_safe(req->arena, note->provider), *name = uprobe_safe(req->arena, note->name);
	struct place *p;
	uint64_t offset;

	if (!uprobe_offset(n->elf, note->vaddr, &offset)) {
		log_info("passed over %s:%s:%s: its note names an address without code", n->path, provider, name);
		return;
	}
	p = place_add(req, ap);
	p->path = uprobe_attach_path(req, n->path);
	p->offset = offset;
	if (note->semaphore && !uprobe_data_offset(n->elf, note->semaphore, &p->ref_ctr))
		log_info("%s:%s:%s: its semaphore is not in the file", n->path, provider, name);
	p->name = arena_printf(req->arena, "usdt:%s:%s:%s", uprobe_file_name(ap, n->path), provider, name);
	if (!req->names_only)
		p->fields = fields_of(req->arena, n, note);
}

/* Sorts places of one name and the same arguments together. */
static int note_cmp(const void *va, const void *vb)
{
	const struct sdt_note *a = va, *b = vb;
	int r = strcmp(a->provider, b->provider);

	if (!r)
		r = strcmp(a->name, b->name);
	if (!r)
		r = strcmp(a->args, b->args);
	return r ? r : (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static bool is_same_name(const struct sdt_note *a, const struct sdt_note *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

static void read_notes(const struct attach_point *ap, struct notes *n)
{
	const char *name = ap->nwords > 2 ? ap->words[ap->nwords - 1] : "*";
	const char *provider = ap->nwords > 3 ? ap->words[2] : "*";
	struct sdt_notes all;
	struct sdt_note note;

	if (!sdt_open(n->elf, &all))
		return;
	while (sdt_next(&all, &note))
		if (glob_match(provider, note.provider) && glob_match(name, note.name))
			vec_push(&n->list, note);
	if (n->list.len)
		qsort(n->list.data, n->list.len, sizeof(*n->list.data), note_cmp);
}

static void expand_file(const struct request *req, struct attach_point *ap, const char *path)
{
	struct notes n = {.path = path};

	if (!uprobe_open(req, ap, path, &n.elf))
		return;
	read_notes(ap, &n);
	for (size_t i = 0; i < n.list.len; i++) {
		const struct sdt_note *before = i ? &n.list.data[i - 1] : NULL, *note = &n.list.data[i];

		if (before && is_same_name(before, note) && (req->listing || !note_cmp(before, note)))
			continue;
		add_place(req, ap, &n, note);
	}
	vec_done(&n.list);
	uprobe_close(req, n.elf);
}

/* ---- missing probes ----------------------------------------------------- */

static const char *nearest_note(const struct request *req, const struct attach_point *ap, const char *path)
{
	const char *written = ap->nwords < 4 ? ap->words[ap->nwords - 1] :
					       arena_printf(req->arena, "%s:%s", ap->words[2], ap->words[3]);
	_cleanup_(elf_closep) struct elf *e = NULL;
	VEC(const char *) names = {};
	const char *near = NULL;
	struct sdt_notes all;
	struct sdt_note note;

	if (!elf_open(path, &e) && sdt_open(e, &all)) {
		while (sdt_next(&all, &note))
			vec_push(&names, ap->nwords < 4 ? note.name :
				arena_printf(req->arena, "%s:%s", note.provider, note.name));
		near = nearest(written, names.data, names.len);
	}
	near = near ? uprobe_safe(req->arena, near) : NULL;
	vec_done(&names);
	return near;
}

static bool no_note(const struct request *req, const struct attach_point *ap, const char *const *files)
{
	const char *name = ap->words[ap->nwords - 1], *near;
	bool one = !files[1];

	if (!missing_place(req, ap->word_spans[ap->nwords - 1], "%s ha%s no USDT probe %s%s%s",
		    one ? files[0] : "these files", one ? "s" : "ve", ap->nwords == 4 ? ap->words[2] : "",
		    ap->nwords == 4 ? ":" : "", name))
		return true;
	near = one ? nearest_note(req, ap, files[0]) : NULL;
	if (near)
		diag_hint(req->diags, "did you mean %s?", near);
	else if (one)
		diag_hint(req->diags, "strata -l 'usdt:%s:*' lists those that it has", ap->words[1]);
	return missing_allowed(req);
}

/* FILE::NAME matches any provider. */
static void drop_empty_provider(struct attach_point *ap)
{
	if (ap->nwords != 4 || *ap->words[2])
		return;
	ap->words[2] = ap->words[3];
	ap->word_spans[2] = ap->word_spans[3];
	ap->nwords = 3;
}

/* Some of several files may be unreadable, such as those of processes that have just ended. */
static bool usdt_expand(const struct request *req, struct attach_point *ap)
{
	struct request quiet = *req;
	const char *const *files, *const *f;

	drop_empty_provider(ap);
	if (ap->nwords > 4 || (ap->nwords < 3 && !req->listing) || !*ap->words[ap->nwords - 1])
		return form_error(req, ap, "a usdt probe needs a file and a name");
	files = uprobe_files(req, ap, true);
	if (!files)
		return false;
	if (!*files)
		return req->listing || uprobe_no_file(req, ap);
	if (files[1])
		quiet.diags = diags_new(req->arena, NULL);
	for (f = files; *f; f++)
		expand_file(&quiet, ap, arena_strdup(req->arena, *f));
	return ap->places || req->listing || diags_failed(req->diags) || no_note(req, ap, files);
}

static int usdt_attach(struct loaded_probe *p)
{
	return uprobe_attach_all(p, false);
}

const struct provider provider_usdt = {
	.name = "usdt",
	.short_name = "U",
	.form = "usdt:PATH:NAME or :PROVIDER:NAME",
	.help = "a static (USDT) probe, put into a program or library by its author",
	.ctx = CTX_PT_REGS,
	.prog_type = BPF_PROG_TYPE_KPROBE,
	.multi_type = TRACE_UPROBE_MULTI,
	.multi_feature = FEATURE_UPROBE_MULTI,
	.section = "uprobe",
	.newest_first = true,
	.may_sleep = true,
	.has_args = true,
	.args_are_fields = true,
	.file = true,
	.expand = usdt_expand,
	.attach = usdt_attach,
};
