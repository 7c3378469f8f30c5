// SPDX-License-Identifier: Apache-2.0
/* elf_symbols.c - an ELF file's symbols: all of them in order, or single ones, found without a list. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/vec.h"
#include "debugfile.h"
#include "elf32.h"
#include "elf_priv.h"

#define SYMBOLS_MAX (1u << 23)
#define SYMTABS_MAX 4
enum { SYMBOLS_PART = 4096, SYMBOL_BYTES = 100 /* of an entry and its name; C++ has names of 80 bytes and more */ };

struct symtab {
	const uint8_t *data;
	size_t n;
	bool is_32;
	struct strings names;
};

static bool symtab_of(const struct elf *e, const Elf64_Shdr *sh, struct symtab *ret)
{
	if ((sh->sh_type != SHT_SYMTAB && sh->sh_type != SHT_DYNSYM) || sh->sh_link >= e->sections.len)
		return false;
	ret->data = file_bytes(e, sh->sh_offset, sh->sh_size);
	ret->n = sh->sh_size / elf_sym_size(e->is_32);
	ret->is_32 = e->is_32;
	ret->names = strings_at(e, e->sections.data[sh->sh_link].sh_offset,
		e->sections.data[sh->sh_link].sh_size);
	return ret->data && ret->n <= SYMBOLS_MAX;
}

static uint64_t symtab_size_by_gnu_hash(const struct elf *e, uint64_t vaddr)
{
	const uint8_t *p = elf_at(e, vaddr, 16), *chain;
	uint32_t h[4], last = 0, v;

	if (!p)
		return 0;
	memcpy(h, p, sizeof(h)); /* h is: buckets, first symbol, bloom words, shift */
	vaddr += 16 + 8ull * h[2];
	for (uint64_t i = 0; i < h[0] && (p = elf_at(e, vaddr + 4 * i, 4)); i++) {
		memcpy(&v, p, 4);
		last = v > last ? v : last;
	}
	if (last < h[1])
		return h[1];
	vaddr += 4ull * h[0];
	while ((chain = elf_at(e, vaddr + 4ull * (last - h[1]), 4))) {
		memcpy(&v, chain, 4);
		last++;
		if ((v & 1) || last == UINT32_MAX)
			break;
	}
	return last;
}

/* Finds the dynamic symbols of a file without section headers: an image read from memory, or a packed file. */
static bool symtab_dynamic(const struct elf *e, struct symtab *ret)
{
	uint64_t syms = 0, strs = 0, strsize = 0, hash = 0;
	const uint8_t *names;
	Elf64_Dyn d;

	for (size_t i = 0; elf_dynamic_entry(e, i, &d); i++) {
		if (d.d_tag == DT_SYMTAB)
			syms = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRTAB)
			strs = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			strsize = d.d_un.d_val;
		else if (d.d_tag == DT_GNU_HASH)
			hash = d.d_un.d_ptr;
	}
	if (!syms || !strs || !hash || e->is_32)
		return false;
	ret->n = symtab_size_by_gnu_hash(e, hash);
	ret->data = ret->n <= SYMBOLS_MAX ? elf_at(e, syms, ret->n * sizeof(Elf64_Sym)) : NULL;
	ret->is_32 = false;
	names = elf_at(e, strs, strsize);
	if (!ret->data || !names)
		return false;
	ret->names = strings_at(e, names - e->data, strsize);
	return true;
}

static bool in_code(const struct elf *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct elf_segment *s = &e->segments.data[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

static bool symbol_at(const struct symtab *t, size_t i, struct elf_symbol *ret)
{
	Elf64_Sym s;

	elf_sym_read(t->is_32, t->data + i * elf_sym_size(t->is_32), &s);
	*ret = (struct elf_symbol){string(t->names, s.st_name), s.st_value, s.st_size,
		ELF64_ST_BIND(s.st_info), ELF64_ST_TYPE(s.st_info)};
	/* The values of absolute symbols are versions and sizes, not addresses. */
	return s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS && ret->name && ret->name[0];
}

static bool is_function(const struct elf_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_NOTYPE;
}

/* Symbols of assembler code often have no type: such a symbol is a function if it lies in code. */
static bool wanted(const struct elf *e, const struct elf_symbol *s)
{
	if (s->type == STT_NOTYPE)
		return in_code(e, s->vaddr) && s->name[0] != '$' && s->name[0] != '.';
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_OBJECT;
}

static void open_debug(struct elf *e)
{
	_cleanup_(freep) char *path = e->debug_sought ? NULL : debugfile_find(e, e->path);

	e->debug_sought = true;
	if (path)
		elf_open(path, &e->debug);
}

struct elf *elf_debug(struct elf *e)
{
	open_debug(e);
	return e->debug;
}

typedef void symbol_fn(struct elf *e, const struct elf_symbol *s, void *arg);

static void pass_symbol(const struct elf *from, size_t i)
{
	if (i % SYMBOLS_PART == 0)
		elf_passed(from, SYMBOLS_PART * SYMBOL_BYTES);
}

/* from: e or its debug file. */
static void each_symbol_of(struct elf *e, const struct elf *from, const struct symtab *t, symbol_fn *f, void *arg)
{
	struct elf_symbol s;

	for (size_t i = 1; i < t->n; i++) {
		if (symbol_at(t, i, &s) && wanted(e, &s))
			f(e, &s, arg);
		pass_symbol(from, i);
	}
}

static bool each_symbol_in(struct elf *e, const struct elf *from, symbol_fn *f, void *arg)
{
	struct symtab t;
	int n = 0;

	for (size_t i = 0; i < from->sections.len && n < SYMTABS_MAX; i++)
		if (symtab_of(from, &from->sections.data[i], &t)) {
			each_symbol_of(e, from, &t, f, arg);
			n++;
		}
	return n > 0;
}

/* Calls f for the symbols of the file and of its separate debug file. Some occur twice. */
static void each_symbol(struct elf *e, symbol_fn *f, void *arg)
{
	struct symtab t;

	if (!each_symbol_in(e, e, f, arg) && symtab_dynamic(e, &t))
		each_symbol_of(e, e, &t, f, arg);
	open_debug(e);
	if (e->debug)
		each_symbol_in(e, e->debug, f, arg);
}

static int bind_rank(const struct elf_symbol *s)
{
	return s->bind == STB_LOCAL ? 2 : s->bind == STB_WEAK;
}

static int symbol_cmp(const void *va, const void *vb)
{
	const struct elf_symbol *a = va, *b = vb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (bind_rank(a) != bind_rank(b))
		return bind_rank(a) - bind_rank(b);
	if (a->name != b->name && strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	return a->size < b->size ? 1 : a->size > b->size ? -1 : 0;
}

static void drop_duplicates(struct elf *e)
{
	struct elf_symbol *s = e->symbols.data;
	size_t n = 0;

	for (size_t i = 0; i < e->symbols.len; i++)
		if (!n || s[i].vaddr != s[n - 1].vaddr || strcmp(s[i].name, s[n - 1].name) != 0)
			s[n++] = s[i];
	e->symbols.len = n;
	vec_fit(&e->symbols);
}

static uint64_t segment_end(const struct elf *e, uint64_t vaddr)
{
	for (size_t k = 0; k < e->segments.len; k++) {
		const struct elf_segment *g = &e->segments.data[k];

		if (vaddr >= g->vaddr && vaddr - g->vaddr < g->memsz)
			return g->vaddr + g->memsz;
	}
	return vaddr;
}

/* A function without a size ends with its section at the latest: _init does not include the PLT after it. */
static uint64_t within_section(const struct elf *e, uint64_t vaddr, uint64_t end)
{
	for (size_t i = 0; i < e->sections.len; i++) {
		const Elf64_Shdr *sh = &e->sections.data[i];

		if (sh->sh_flags & SHF_EXECINSTR && vaddr >= sh->sh_addr && vaddr - sh->sh_addr < sh->sh_size &&
			sh->sh_size < end - sh->sh_addr)
			return sh->sh_addr + sh->sh_size;
	}
	return end;
}

/* Computes the end of each function (by its size, or else by the start of the next symbol or the end of the
 * segment), and the highest end up to each symbol, which bounds a search. */
static void index_symbols(struct elf *e)
{
	const struct elf_symbol *s = e->symbols.data;
	uint64_t next = 0, reach = 0;

	e->end = calloc(e->symbols.len + 1, sizeof(*e->end));
	e->reach = calloc(e->symbols.len + 1, sizeof(*e->reach));
	if (!e->end || !e->reach)
		out_of_memory();
	for (size_t i = e->symbols.len; i-- > 0;) {
		if (i + 1 == e->symbols.len)
			next = segment_end(e, s[i].vaddr);
		else if (s[i + 1].vaddr != s[i].vaddr)
			next = s[i + 1].vaddr;
		if (is_function(&s[i]))
			e->end[i] = !s[i].size ? within_section(e, s[i].vaddr, next) :
				s[i].vaddr + s[i].size < s[i].vaddr ? UINT64_MAX : s[i].vaddr + s[i].size;
	}
	for (size_t i = 0; i < e->symbols.len; i++) {
		reach = e->end[i] > reach ? e->end[i] : reach;
		e->reach[i] = reach;
	}
}

void elf_drop_symbols(struct elf *e)
{
	vec_done(&e->symbols);
	free(e->end);
	free(e->reach);
	e->end = e->reach = NULL;
	e->symbols_read = false;
}

static void add_symbol(struct elf *e, const struct elf_symbol *s, void *arg)
{
	(void)arg;
	if (e->symbols.len < SYMBOLS_MAX)
		vec_push(&e->symbols, *s);
}

static void read_symbols(struct elf *e)
{
	if (e->symbols_read)
		return;
	e->symbols_read = true;
	each_symbol(e, add_symbol, NULL);
	if (e->symbols.len)
		qsort(e->symbols.data, e->symbols.len, sizeof(*e->symbols.data), symbol_cmp);
	drop_duplicates(e);
	index_symbols(e);
	elf_release_pages(e); /* the pages of all names were read, but few names are needed again */
}

size_t elf_symbols(struct elf *e, const struct elf_symbol **ret)
{
	read_symbols(e);
	*ret = e->symbols.data;
	return e->symbols.len;
}

const struct elf_symbol *elf_symbol_at(struct elf *e, uint64_t vaddr)
{
	size_t lo = 0, hi, best;

	read_symbols(e);
	hi = e->symbols.len;
	while (lo < hi) { /* find the first symbol above vaddr */
		size_t mid = (lo + hi) / 2;

		if (e->symbols.data[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (best = lo; best-- > 0 && e->reach[best] > vaddr;) {
		if (e->end[best] <= vaddr)
			continue;
		for (size_t k = best; k-- > 0 && e->symbols.data[k].vaddr == e->symbols.data[best].vaddr;)
			if (e->end[k] > vaddr)
				best = k; /* take the first of the aliases */
		return &e->symbols.data[best];
	}
	return NULL;
}

/* ---- symbols of a list of addresses -------------------------------------- */

struct seekers {
	const uint64_t *vaddr; /* sorted */
	size_t n;
	struct elf_symbol *found; /* the result for each address; the name is NULL until one is found */
	uint64_t *last;           /* start of the last symbol at or below each address.. */
	struct elf_symbol *open;  /* ..and the first symbol there that has no size, which ends at the next symbol */
};

static size_t first_from(const struct seekers *k, uint64_t vaddr)
{
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (k->vaddr[mid] < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Prefers the symbol that begins later; of aliases, the first. */
static void prefer(struct elf_symbol *best, const struct elf_symbol *s)
{
	if (!best->name || s->vaddr > best->vaddr || (s->vaddr == best->vaddr && symbol_cmp(s, best) < 0))
		*best = *s;
}

static void seek(struct elf *e, const struct elf_symbol *s, void *arg)
{
	struct seekers *k = arg;
	size_t i = first_from(k, s->vaddr);
	uint64_t end = s->vaddr + s->size < s->vaddr ? UINT64_MAX : s->vaddr + s->size;

	(void)e;
	if (i == k->n)
		return;
	if (s->vaddr > k->last[i])
		k->last[i] = s->vaddr;
	if (!is_function(s))
		return;
	if (!s->size)
		prefer(&k->open[i], s);
	for (; i < k->n && k->vaddr[i] < end; i++)
		prefer(&k->found[i], s);
}

/* A symbol without a size ends where any other symbol begins, or at the end of its section. */
static void use_open(const struct elf *e, struct seekers *k)
{
	struct elf_symbol open = {};
	uint64_t last = 0;

	for (size_t i = 0; i < k->n; i++) {
		last = k->last[i] > last ? k->last[i] : last;
		if (k->open[i].name)
			prefer(&open, &k->open[i]);
		if (open.name && open.vaddr == last &&
			k->vaddr[i] < within_section(e, last, segment_end(e, last)))
			prefer(&k->found[i], &open);
	}
}

void elf_symbols_at(struct elf *e, const uint64_t *vaddrs, size_t n, struct elf_symbol *ret)
{
	struct seekers k = {vaddrs, n, ret, calloc(n, sizeof(*k.last)), calloc(n, sizeof(*k.open))};

	if (!k.last || !k.open)
		out_of_memory();
	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; e->symbols_read && i < n; i++) {
		const struct elf_symbol *s = elf_symbol_at(e, vaddrs[i]);

		ret[i] = s ? *s : ret[i];
	}
	if (!e->symbols_read) {
		each_symbol(e, seek, &k);
		use_open(e, &k);
	}
	free(k.last);
	free(k.open);
}

/* ---- by name ------------------------------------------------------------ */

struct wanted { /* the symbols to find, by name */
	const char *const *names;
	size_t nnames;
	bool starting; /* the names are prefixes */
	struct elf_symbol *ret;
	size_t n, max;
};

static bool is_wanted(const struct wanted *w, const char *name)
{
	for (size_t i = 0; i < w->nnames; i++) {
		const char *a = name, *b = w->names[i]; /* most names differ in the first few bytes */

		while (*b && *a == *b)
			a++, b++;
		if (!*b && (w->starting || !*a))
			return true;
	}
	return false;
}

static void find_in(const struct elf *e, const struct symtab *t, struct wanted *w)
{
	for (size_t i = 1; i < t->n && w->n < w->max; i++) {
		struct elf_symbol s;

		if (symbol_at(t, i, &s) && is_wanted(w, s.name))
			w->ret[w->n++] = s;
		pass_symbol(e, i);
	}
}

/* .dynsym comes first, since it is shorter. */
static size_t find_symbols(struct elf *e, struct wanted w)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct symtab t;
	int n = 0;

	for (size_t k = 0; k < ARRAY_SIZE(types); k++)
		for (size_t i = 0; i < e->sections.len && n < SYMTABS_MAX && w.n < w.max; i++) {
			const Elf64_Shdr *sh = &e->sections.data[i];

			if (sh->sh_type != types[k] || !symtab_of(e, sh, &t))
				continue;
			n++;
			find_in(e, &t, &w);
		}
	if (!n && symtab_dynamic(e, &t))
		find_in(e, &t, &w);
	return w.n;
}

bool elf_symbol_named(struct elf *e, const char *name, struct elf_symbol *ret)
{
	return find_symbols(e, (struct wanted){&name, 1, false, ret, 0, 1}) == 1;
}

size_t elf_symbols_starting(struct elf *e, const char *const *prefixes, size_t n,
	struct elf_symbol *ret, size_t max)
{
	return find_symbols(e, (struct wanted){prefixes, n, true, ret, 0, max});
}
