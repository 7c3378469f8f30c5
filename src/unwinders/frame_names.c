// SPDX-License-Identifier: Apache-2.0
/* frame_names.c - names of frames: from a file's symbols, a JIT's map, a code object, the kernel's symbols. Names
 * are remembered by frame. */
#include "frame_names.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allowance.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "idmap.h"
#include "stacks.h"
#include "target/demangle.h"
#include "target/elf.h"
#include "target/target.h"
#include "texts.h"
#include "unwinders/native/inlines.h"
#include "unwinders/procs/file.h"
#include "unwinders/procs/perfmap.h"
#include "unwinders/procs/process.h"

#define SOME_MAX 64 /* frames of a stack that are named at once */
#define NAMES_NEED (16 << 20) /* bytes while a large program with debug information is read */

/* A name lives longer than the file that it comes from. */
struct kept {
	struct arena *arena;    /* of the names, the functions into which they were inlined, and demangled names */
	struct idmap known;     /* frame -> struct frame_name * */
	struct texts *texts;    /* of the names */
	struct idmap demangled; /* mangled name in texts -> char * in the arena, or the same name */
};

struct names {
	struct name_store store; /* first: for languages */
	struct target *target;
	const struct files *files;
	void *const *lang_names; /* by enum frame_lang */
	struct kept kept;
	size_t gone;             /* stacks that were forgotten, but whose names may be in kept */
};

static void kept_open(struct kept *k)
{
	*k = (struct kept){.arena = arena_new(), .texts = texts_new()};
	if (!k->texts)
		out_of_memory();
}

static void kept_done(struct kept *k)
{
	idmap_done(&k->known);
	idmap_done(&k->demangled);
	texts_free(k->texts);
	arena_free(k->arena);
}

static const char *store_keep(struct name_store *s, const char *text)
{
	return texts_keep(((struct names *)s)->kept.texts, text);
}

static struct frame_name *store_more(struct name_store *s)
{
	return arena_new_obj(((struct names *)s)->kept.arena, struct frame_name);
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
	kept_open(&n->kept);
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	kept_done(&n->kept);
	free(n);
}

static bool without_inlines;

void unwinders_show_inlines(bool on)
{
	without_inlines = !on;
}

static const char *readable(struct names *n, const char *name)
{
	const char *known;
	char *text;

	name = texts_keep(n->kept.texts, name);
	known = idmap_pointer(&n->kept.demangled, (uintptr_t)name);
	if (known)
		return known;
	text = demangle(name);
	known = text ? arena_strdup(n->kept.arena, text) : name;
	free(text);
	idmap_set(&n->kept.demangled, (uintptr_t)name, (uintptr_t)known);
	return known;
}

static void name_jit(struct names *n, const struct file *f, struct frame_name *ret)
{
	struct perfmap_code c;

	if (!perfmap_find(f->jit, ret->vaddr, f->jit_before, &c)) {
		perfmap_read(f->jit, n->target);
		if (!perfmap_find(f->jit, ret->vaddr, f->jit_before, &c))
			return;
	}
	ret->name = texts_keep(n->kept.texts, c.name);
	ret->offset = c.offset;
	ret->line = c.line;
	ret->file = c.file ? texts_keep(n->kept.texts, c.file) : NULL;
}

/* Asks the LANG_NATIVE language of the code. */
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

/* sym: result of elf_symbol_at(), or NULL. */
static void name_by_symbol(struct names *n, struct file *f, const struct elf_symbol *sym, struct frame_name *ret)
{
	uint64_t start;

	if (sym) {
		ret->name = readable(n, sym->name);
		ret->offset = ret->vaddr - sym->vaddr;
	} else if (file_function(f, ret->vaddr, &start)) {
		ret->offset = ret->vaddr - start;
	}
}

/* ---- inlined functions and lines ------------------------------------------ */

static struct inlines *inlines_of(const struct names *n, struct file *f)
{
	int r;

	if (without_inlines || !f->elf || f->inlines_sought)
		return f->inlines;
	f->inlines_sought = true;
	r = inlines_open(f->elf, target_cache_dir(n->target), f->key, &f->inlines);
	if (r && r != -ENODATA)
		log_info("the debug information of %s cannot be read: %s", f->path, strerror(-r));
	return f->inlines;
}

struct inlining { /* of some frames of a file */
	struct names *names;
	struct frame_name *list; /* named by symbols */
};

/* The outermost function keeps the symbol's name, which says more: f.part.0 */
static void use_chain(void *arg, size_t i, const struct inline_chain *c)
{
	const struct inlining *in = arg;
	struct names *n = in->names;
	struct frame_name *to = &in->list[i], outer = *to;

	for (size_t k = 0; k < c->n; k++) {
		const struct inline_function *from = &c->at[k];
		bool is_outer = k + 1 == c->n;

		*to = (struct frame_name){.module = outer.module, .vaddr = outer.vaddr, .line = from->line,
			.column = from->column, .file = from->file ? texts_keep(n->kept.texts, from->file) : NULL};
		if (is_outer && (outer.name || !from->name)) {
			to->name = outer.name;
			to->offset = outer.offset;
		} else {
			to->name = from->name ? readable(n, from->name) : "[unknown]";
			to->offset = is_outer ? outer.vaddr - c->start : 0;
		}
		if (!is_outer) {
			to->caller = store_more(&n->store);
			to = (struct frame_name *)to->caller;
		}
	}
}

/* Adds the inlined functions and lines of a file's addresses, from its debug information. vaddrs: sorted. */
static void add_inlined(struct names *n, struct file *f, const uint64_t *vaddrs, size_t len, struct frame_name *list)
{
	struct inlines *l = len ? inlines_of(n, f) : NULL;

	if (!l)
		return;
	inlines_find(l, vaddrs, len, use_chain, &(struct inlining){n, list});
	if (inlines_are_cut(l) && !f->inlines_cut)
		log_warn("%s: its debug information takes too long to read: some inlined functions are missing",
			f->path);
	f->inlines_cut |= inlines_are_cut(l);
}

static struct file *file_of(const struct names *n, uint64_t frame)
{
	return files_get(n->files, (uint32_t)(frame >> FRAME_FILE_SHIFT) & (FILES_MAX - 1));
}

static void name_native(struct names *n, uint64_t frame, struct frame_name *ret)
{
	struct file *f = file_of(n, frame);

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
	name_by_symbol(n, f, f->elf ? elf_symbol_at(f->elf, ret->vaddr) : NULL, ret);
	add_inlined(n, f, &ret->vaddr, 1, ret);
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
	struct frame_name *known = arena_new_obj(n->kept.arena, struct frame_name);

	*known = *name;
	idmap_set(&n->kept.known, frame, (uintptr_t)known);
}

void names_frame(struct names *n, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *known = idmap_pointer(&n->kept.known, frame);

	if (known)
		*ret = *known;
	else if (make_name(n, frame, ret))
		remember(n, frame, ret); /* otherwise a record or a map may still arrive */
}

void names_code(struct names *n, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *outer = ret;

	names_frame(n, frame, ret);
	if (ret->lang != FRAME_LANG_NATIVE)
		return;
	while (outer->caller)
		outer = outer->caller;
	if (outer->name && !outer->offset)
		*ret = *outer;
}

struct staying {
	struct names *names;
	const struct kept *before;
};

static const char *keep_text(struct names *n, const char *text)
{
	return text ? texts_keep(n->kept.texts, text) : NULL;
}

/* Copies a name and its callers with their texts. */
static void copy_name(struct names *n, uint64_t frame, const struct frame_name *from)
{
	struct frame_name *to = arena_new_obj(n->kept.arena, struct frame_name);

	idmap_set(&n->kept.known, frame, (uintptr_t)to);
	for (;; from = from->caller) {
		*to = *from;
		to->name = keep_text(n, from->name);
		to->file = keep_text(n, from->file);
		if (!from->caller)
			break;
		to->caller = store_more(&n->store);
		to = (struct frame_name *)to->caller;
	}
}

static void stays(void *arg, uint64_t frame)
{
	struct staying *s = arg;
	const struct frame_name *name = idmap_pointer(&s->before->known, frame);

	if (name && !idmap_find(&s->names->kept.known, frame))
		copy_name(s->names, frame, name);
}

size_t names_bytes(const struct names *n)
{
	return arena_size(n->kept.arena) + texts_bytes(n->kept.texts) +
		n->kept.known.cap * sizeof(*n->kept.known.slot) +
		n->kept.demangled.cap * sizeof(*n->kept.demangled.slot);
}

void names_forget(struct names *n, const struct stacks *s, size_t gone)
{
	struct kept before = n->kept;

	n->gone += gone;
	if (n->gone <= stacks_count(s) / 4)
		return;
	n->gone = 0;
	kept_open(&n->kept);
	stacks_each_frame(s, stays, &(struct staying){n, &before});
	kept_done(&before);
}

/* ---- many frames at once ------------------------------------------------- */

void names_list(const struct names *n, uint64_t frame, struct name_list *l)
{
	const struct file *f = frame >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE ? file_of(n, frame) : NULL;

	if (!f || !f->elf || idmap_find(&n->kept.known, frame) || idmap_find(&l->listed, frame))
		return;
	idmap_set(&l->listed, frame, 1);
	vec_push(&l->frames, frame);
}

static int cmp_frame(const void *pa, const void *pb);

/* Names frames of one file by its sorted symbols, and by one question about all of them. */
static void name_some(struct names *n, struct file *f, const uint64_t *frames, size_t len)
{
	struct frame_name list[SOME_MAX];
	uint64_t vaddrs[SOME_MAX];

	for (size_t i = 0; i < len; i++) {
		vaddrs[i] = frames[i] & FRAME_VADDR_MASK;
		list[i] = (struct frame_name){.vaddr = vaddrs[i], .module = f->path};
		name_by_symbol(n, f, elf_symbol_at(f->elf, vaddrs[i]), &list[i]);
	}
	add_inlined(n, f, vaddrs, len, list);
	for (size_t i = 0; i < len; i++)
		if (list[i].name)
			remember(n, frames[i], &list[i]);
}

void names_stack(struct names *n, const uint64_t *frames, size_t len)
{
	uint64_t some[SOME_MAX];
	size_t left = 0, end;

	for (size_t i = 0; i < len && left < SOME_MAX; i++) {
		struct file *f = frames[i] >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE ? file_of(n, frames[i]) : NULL;

		if (f && !f->jit && !(file_languages(f) & LANGS_NATIVE) && !idmap_find(&n->kept.known, frames[i]) &&
			inlines_of(n, f))
			some[left++] = frames[i];
	}
	if (left)
		qsort(some, left, sizeof(*some), cmp_frame);
	for (size_t i = 0; i < left; i = end) {
		struct file *f = file_of(n, some[i]);

		for (end = i + 1; end < left && file_of(n, some[end]) == f;)
			end++;
		name_some(n, f, some + i, end - i);
	}
}

static int cmp_frame(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Names by the file's symbols and debug information. */
static void name_by_file(struct names *n, struct file *f, const uint64_t *vaddrs, size_t len)
{
	_cleanup_(freep) struct elf_symbol *symbols = calloc(len + 1, sizeof(*symbols));
	_cleanup_(freep) struct frame_name *list = calloc(len + 1, sizeof(*list));

	if (!symbols || !list)
		out_of_memory();
	elf_symbols_at(f->elf, vaddrs, len, symbols);
	for (size_t i = 0; i < len; i++) {
		list[i] = (struct frame_name){.vaddr = vaddrs[i], .module = f->path};
		name_by_symbol(n, f, symbols[i].name ? &symbols[i] : NULL, &list[i]);
	}
	add_inlined(n, f, vaddrs, len, list);
	for (size_t i = 0; i < len; i++)
		remember(n, FRAME_NATIVE(f->id, vaddrs[i]), &list[i]);
}

/* Symbols and debug information take memory while they are read, so units of strata agent take turns. A unit whose turn
 * does not come reads them all the same, because it needs the names. */
static void name_in_turn(struct names *n, struct file *f, const uint64_t *vaddrs, size_t len)
{
	bool is_turn = len && allowance_begin();

	if (is_turn)
		allowance_fits(NAMES_NEED); /* if not, other units are asked for memory */
	name_by_file(n, f, vaddrs, len);
	elf_release_pages(f->elf); /* all of its names are known now */
	if (f->inlines)
		inlines_release(f->inlines);
	if (is_turn)
		allowance_end();
}

/* Names frames of one file, in order. These names depend only on the file, so a missing name is remembered, too. */
static void name_in_file(struct names *n, struct file *f, const uint64_t *frames, size_t len)
{
	_cleanup_(freep) uint64_t *vaddrs = calloc(len, sizeof(*vaddrs));
	size_t left = 0;

	if (!vaddrs)
		out_of_memory();
	for (size_t i = 0; i < len; i++) {
		struct frame_name name = {.vaddr = frames[i] & FRAME_VADDR_MASK, .module = f->path};

		if (name_by_lang(n, f, &name))
			remember(n, frames[i], &name);
		else
			vaddrs[left++] = name.vaddr;
	}
	name_in_turn(n, f, vaddrs, left);
}

void names_frames(struct names *n, struct name_list *l)
{
	const uint64_t *frames = l->frames.data;
	size_t end;

	if (l->frames.len)
		qsort(l->frames.data, l->frames.len, sizeof(*frames), cmp_frame);
	for (size_t i = 0; i < l->frames.len; i = end) {
		struct file *f = file_of(n, frames[i]);

		for (end = i + 1; end < l->frames.len && file_of(n, frames[end]) == f;)
			end++;
		name_in_file(n, f, frames + i, end - i);
	}
	vec_done(&l->frames);
	idmap_done(&l->listed);
}

struct leaving {
	struct names *names;
	struct name_list list;
};

/* A name of anonymous code may also be missing. */
static void keep_name(void *arg, uint64_t frame)
{
	struct leaving *l = arg;
	const struct file *f = frame >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE ? file_of(l->names, frame) : NULL;
	struct frame_name name;

	if (!f || !f->leaving)
		return;
	if (f->elf) {
		names_list(l->names, frame, &l->list);
	} else if (!idmap_find(&l->names->kept.known, frame)) {
		make_name(l->names, frame, &name);
		remember(l->names, frame, &name);
	}
}

/* One by one, the names of a large file would need all of its symbols: 100 MB with their pages. */
void names_keep(struct names *n, const struct stacks *s)
{
	struct leaving l = { .names = n };

	stacks_each_frame(s, keep_name, &l);
	names_frames(n, &l.list);
}

/* ---- variables ---------------------------------------------------------- */

static bool is_in_segment(const struct elf *e, uint64_t vaddr)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	while (n && vaddr - s->vaddr >= s->memsz) {
		s++;
		n--;
	}
	return n;
}

/* Returns the variable that contains vaddr, or NULL. */
static const char *variable_at(struct elf *e, uint64_t vaddr)
{
	const struct elf_symbol *s;
	size_t low = 0, high = elf_symbols(e, &s);

	while (low < high) { /* find the first symbol above */
		size_t mid = (low + high) / 2;

		if (s[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low && (s[low - 1].type != STT_OBJECT || !s[low - 1].size))
		low--;
	return low && vaddr - s[low - 1].vaddr < s[low - 1].size ? s[low - 1].name : NULL;
}

/* The distance of data and code is the same as in the file, whatever is mapped there by now. */
const char *names_variable(const struct names *n, const struct process *p, uint64_t addr)
{
	for (size_t i = 0; p && i < p->nmaps; i++) {
		const struct mapping *m = &p->maps[i];
		const struct file *f = m->file ? files_get(n->files, m->file) : NULL;
		const char *name;

		if (!f || !f->elf || !is_in_segment(f->elf, addr - m->bias))
			continue;
		name = variable_at(f->elf, addr - m->bias);
		if (name)
			return name;
	}
	return NULL;
}
