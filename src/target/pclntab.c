// SPDX-License-Identifier: Apache-2.0
/* pclntab.c - see pclntab.h. Layouts are those of Go's src/runtime/symtab.go and src/internal/abi/symtab.go,
 * and of src/cmd/link/internal/ld/pcln.go, which writes them, of go1.16 to go1.27.0. */
#include "pclntab.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"

#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u

#define HEADER_SIZE    72
#define FUNCTIONS_MAX  (1u << 24)
#define VALUES_MAX     65536 /* maximum number of pairs read of one table */
#define NAME_MAX_BYTES 65536

/* struct moduledata of runtime/symtab.go: offsets. gofunc's depends on the version. */
#define MODULE_FUNCNAMES 8 /* the slice after the pointer to pclntab */
#define MODULE_TEXT      176

/* struct _func */
#define FUNC_NAME     4
#define FUNC_PCSP     16
#define FUNC_PCFILE   20
#define FUNC_PCLN     24
#define FUNC_NPCDATA  28
#define FUNC_CU       32
#define FUNC_ID(t)    ((t)->is_118 ? 36 : 40)

/* internal/abi/symtab.go, the same since Go 1.12 */
#define PCDATA_INLINE   2
#define FUNCDATA_INLINE 3

struct bytes {
	const uint8_t *p;
	size_t size;
};

struct pclntab {
	struct elf *elf;
	unsigned version;
	bool is_118;              /* struct _func has no startLine, inline entries have 20 bytes */
	uint64_t text, vaddr;     /* vaddr of the code, of the table */
	uint32_t quantum;         /* minimum size of an instruction */
	size_t nfunctions;
	struct bytes all, names, units, files, values, functions;
	uint64_t gofunc;          /* vaddr from which function data count; 0: unknown */
	unsigned wrapper;         /* funcID of wrappers; 0: unknown */
};

/* ---- bytes ---- */

static uint64_t get(struct bytes b, uint64_t at, unsigned size)
{
	uint64_t v = 0;

	if (at <= b.size && size <= b.size - at)
		memcpy(&v, b.p + at, size);
	return v;
}

static uint32_t get32(struct bytes b, uint64_t at)
{
	return (uint32_t)get(b, at, 4);
}

static const char *get_string(struct bytes b, uint64_t at)
{
	size_t left = at < b.size ? b.size - at : 0;

	if (left > NAME_MAX_BYTES)
		left = NAME_MAX_BYTES;
	return left && memchr(b.p + at, 0, left) ? (const char *)b.p + at : NULL;
}

/* A section of the table, at an offset from its header. */
static struct bytes part(struct bytes all, uint64_t at)
{
	return at < all.size ? (struct bytes){ all.p + at, all.size - at } : (struct bytes){};
}

/* ---- words that the dynamic linker fills in ---- */

static bool relocations(struct elf *e, struct elf_section *ret)
{
	return (elf_section(e, ".rela", ret) || elf_section(e, ".rela.dyn", ret)) && ret->data;
}

/* Finds a relocation by its place, or, if that is 0, by its addend. */
static bool find_relocation(struct elf *e, uint64_t where, uint64_t addend, Elf64_Rela *ret)
{
	struct elf_section s;

	if (!relocations(e, &s))
		return false;
	for (uint64_t i = 0; i + sizeof(*ret) <= s.size; i += sizeof(*ret)) {
		memcpy(ret, s.data + i, sizeof(*ret));
		if (where ? ret->r_offset == where : (uint64_t)ret->r_addend == addend)
			return true;
	}
	return false;
}

/* Returns the word at a vaddr, as in a process that is loaded at 0. */
static uint64_t word_at(struct elf *e, uint64_t vaddr)
{
	const uint8_t *p = elf_at(e, vaddr, 8);
	Elf64_Rela r;
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	if (!v && find_relocation(e, vaddr, 0, &r))
		v = (uint64_t)r.r_addend;
	return v;
}

/* ---- opening ---- */

static bool is_header(struct bytes b)
{
	uint32_t magic = get32(b, 0);
	unsigned quantum = (unsigned)get(b, 6, 1);

	return b.size > HEADER_SIZE && (magic == MAGIC_118 || magic == MAGIC_120) &&
		!get(b, 4, 2) && (quantum == 1 || quantum == 4) && get(b, 7, 1) == 8;
}

/* Finds the table without section headers: by its magic, 8-aligned, in segments without code. */
static bool scan_segments(struct elf *e, struct elf_section *ret)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = s[i].exec ? NULL : elf_at(e, s[i].vaddr, s[i].filesz);
		uint64_t at = -s[i].vaddr & 7;

		for (; p && at + HEADER_SIZE < s[i].filesz; at += 8) {
			if (!is_header((struct bytes){ p + at, s[i].filesz - at }))
				continue;
			*ret = (struct elf_section){ .vaddr = s[i].vaddr + at, .data = p + at,
				.size = s[i].filesz - at };
			return true;
		}
	}
	return false;
}

static bool find_table(struct elf *e, struct elf_section *ret)
{
	struct elf_section s;
	const char *const *name;
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab", NULL };

	for (name = names; *name; name++)
		if (elf_section(e, *name, ret) && ret->data)
			return true;
	/* Search only a file that calls itself Go's. */
	return elf_section(e, ".go.buildinfo", &s) && scan_segments(e, ret);
}

/* The section has "\xff Go buildinf:", pointer size, flags; with flag 2 (Go 1.18 on), a text with its
 * length is at 32: "go1.21.3". */
static unsigned read_version(struct elf *e)
{
	struct elf_section s;
	unsigned major, minor;
	char text[16] = {};

	if (!elf_section(e, ".go.buildinfo", &s) || !s.data || s.size < 64 ||
		memcmp(s.data, "\xff Go buildinf:", 14) || !(s.data[15] & 2) || s.data[32] > 127)
		return 0;
	memcpy(text, s.data + 33, s.data[32] < sizeof(text) ? s.data[32] : sizeof(text) - 1);
	if (sscanf(text, "go%2u.%3u", &major, &minor) == 2 ||
		sscanf(text, "devel go%2u.%3u", &major, &minor) == 2)
		return major * 100 + minor;
	return 0;
}

/* struct moduledata begins with a pointer to the table and the slice of names. */
static bool is_module(struct elf *e, uint64_t at, const struct pclntab *t)
{
	return word_at(e, at) == t->vaddr &&
		word_at(e, at + MODULE_FUNCNAMES) == t->vaddr + (uint64_t)(t->names.p - t->all.p);
}

static uint64_t scan_module(struct elf *e, const struct pclntab *t)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = s[i].write ? elf_at(e, s[i].vaddr, s[i].filesz) : NULL;
		uint64_t at = -s[i].vaddr & 7, word;

		for (; p && at + 16 < s[i].filesz; at += 8) {
			memcpy(&word, p + at, sizeof(word));
			if (word == t->vaddr && is_module(e, s[i].vaddr + at, t))
				return s[i].vaddr + at;
		}
	}
	return 0;
}

static uint64_t find_module(struct elf *e, const struct pclntab *t)
{
	struct elf_section s;
	struct elf_symbol sym;
	Elf64_Rela r;

	if (elf_section(e, ".go.module", &s)) /* from Go 1.26 on */
		return s.vaddr;
	if (elf_symbol_named(e, "runtime.firstmoduledata", &sym))
		return sym.vaddr;
	if (find_relocation(e, 0, t->vaddr, &r) && is_module(e, r.r_offset, t))
		return r.r_offset;
	return scan_module(e, t);
}

static unsigned gofunc_offset(unsigned version)
{
	if (version && version <= 119)
		return 304;
	return version && version <= 126 ? 320 : 344;
}

static void read_module(struct pclntab *t)
{
	uint64_t module = find_module(t->elf, t);
	struct elf_symbol sym;

	if (module) {
		t->gofunc = word_at(t->elf, module + gofunc_offset(t->version));
		if (!elf_at(t->elf, t->gofunc, 1))
			t->gofunc = 0;
	}
	if (!t->text && module) /* from Go 1.26 on, the table does not have it */
		t->text = word_at(t->elf, module + MODULE_TEXT);
	if (!t->text && elf_symbol_named(t->elf, "runtime.text", &sym))
		t->text = sym.vaddr;
}

static bool read_header(struct pclntab *t)
{
	struct bytes b = t->all;
	uint64_t n = get(b, 8, 8);

	t->is_118 = get32(b, 0) == MAGIC_118;
	t->quantum = (uint32_t)get(b, 6, 1);
	t->text = word_at(t->elf, t->vaddr + 24);
	t->names = part(b, get(b, 32, 8));
	t->units = part(b, get(b, 40, 8));
	t->files = part(b, get(b, 48, 8));
	t->values = part(b, get(b, 56, 8));
	t->functions = part(b, get(b, 64, 8));
	if (!n || n > FUNCTIONS_MAX || n * 8 + 4 > t->functions.size)
		return false;
	t->nfunctions = (size_t)n;
	read_module(t);
	return t->text != 0;
}

/* The numbers of kinds of functions change, but that of wrappers is the last in all versions, and every
 * program has some: the runtime's own. */
static void find_wrapper(struct pclntab *t)
{
	for (size_t i = 0; i < t->nfunctions; i++) {
		struct bytes raw = part(t->functions, get32(t->functions, i * 8 + 4));
		unsigned id = (unsigned)get(raw, FUNC_ID(t), 1);

		if (id > t->wrapper)
			t->wrapper = id;
	}
}

int pclntab_open(struct elf *e, struct pclntab **ret)
{
	struct elf_section s;
	struct pclntab *t;

	if (elf_is_32(e) || !find_table(e, &s) || !is_header((struct bytes){ s.data, (size_t)s.size }))
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->elf = e;
	t->vaddr = s.vaddr;
	t->all = (struct bytes){ s.data, (size_t)s.size };
	t->version = read_version(e);
	if (!read_header(t)) {
		free(t);
		return -ENOENT;
	}
	find_wrapper(t);
	*ret = t;
	return 0;
}

void pclntab_close(struct pclntab *t)
{
	free(t);
}

unsigned pclntab_version(const struct pclntab *t)
{
	return t->version;
}

/* ---- functions ---- */

size_t pclntab_functions(const struct pclntab *t)
{
	return t->nfunctions;
}

/* The table has pairs of u32: the code's offset from text, and struct _func's offset from the first pair;
 * then the end of the code. */
static uint64_t function_start(const struct pclntab *t, size_t i)
{
	return t->text + get32(t->functions, i * 8);
}

static uint32_t field(const struct pcln_function *f, uint64_t at)
{
	return get32((struct bytes){ f->raw, f->size }, at);
}

bool pclntab_function(const struct pclntab *t, size_t i, struct pcln_function *ret)
{
	struct bytes raw = part(t->functions, get32(t->functions, i * 8 + 4));

	if (i >= t->nfunctions || raw.size < 44)
		return false;
	*ret = (struct pcln_function){ .start = function_start(t, i), .raw = raw.p,
		.end = function_start(t, i + 1), .size = raw.size };
	if (ret->end <= ret->start)
		return false;
	ret->name = get_string(t->names, field(ret, FUNC_NAME));
	if (!ret->name)
		ret->name = "?";
	ret->flags = raw.p[t->is_118 ? 37 : 41];
	return true;
}

bool pclntab_find(const struct pclntab *t, uint64_t vaddr, struct pcln_function *ret)
{
	size_t lo = 0, hi = t->nfunctions;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (function_start(t, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pclntab_function(t, lo - 1, ret) && vaddr < ret->end && vaddr >= ret->start;
}

/* ---- values by address ---- */

static uint32_t read_varint(struct pcln_values *v)
{
	uint32_t value = 0, shift = 0;

	while (v->p < v->stop && shift < 35) {
		uint8_t byte = *v->p++;

		value |= shift < 32 ? (uint32_t)(byte & 127) << shift : 0;
		if (!(byte & 128))
			return value;
		shift += 7;
	}
	v->p = v->stop;
	return 0;
}

static void values(const struct pclntab *t, const struct pcln_function *f, uint32_t table,
	struct pcln_values *ret)
{
	struct bytes b = table ? part(t->values, table) : (struct bytes){};

	*ret = (struct pcln_values){ .p = b.p, .stop = b.p ? b.p + b.size : NULL, .end = f->start,
		.value = -1, .quantum = t->quantum, .first = true };
}

/* The table has pairs: the change of the value (zigzag), then the length of its range. A change of 0 ends the
 * table, unless it is the first. */
bool pclntab_next(struct pcln_values *v)
{
	uint32_t change = v->p < v->stop ? read_varint(v) : 0, n;

	if (!change && (!v->first || v->p >= v->stop))
		return false;
	v->first = false;
	v->value = (int32_t)((uint32_t)v->value + (change & 1 ? ~(change >> 1) : change >> 1));
	n = read_varint(v);
	v->start = v->end;
	v->end += (uint64_t)n * v->quantum;
	return v->end > v->start;
}

void pclntab_sp(const struct pclntab *t, const struct pcln_function *f, struct pcln_values *ret)
{
	values(t, f, field(f, FUNC_PCSP), ret);
}

static int32_t value_at(const struct pclntab *t, const struct pcln_function *f, uint32_t table,
	uint64_t vaddr)
{
	struct pcln_values v;

	values(t, f, table, &v);
	for (int i = 0; i < VALUES_MAX && pclntab_next(&v); i++)
		if (vaddr < v.end)
			return v.value;
	return -1;
}

/* ---- source positions ---- */

static uint64_t pcdata_at(const struct pclntab *t)
{
	return t->is_118 ? 40 : 44;
}

static uint32_t inline_table(const struct pclntab *t, const struct pcln_function *f)
{
	if (field(f, FUNC_NPCDATA) <= PCDATA_INLINE)
		return 0;
	return field(f, pcdata_at(t) + 4 * PCDATA_INLINE);
}

/* Returns the vaddr of the tree of inlined calls, or 0. */
static uint64_t inline_tree(const struct pclntab *t, const struct pcln_function *f)
{
	uint64_t n = field(f, FUNC_NPCDATA), at = pcdata_at(t) + 4 * (n + FUNCDATA_INLINE);
	uint8_t nfuncdata = f->raw[t->is_118 ? 39 : 43];
	uint32_t offset = n < 256 ? field(f, at) : UINT32_MAX;

	if (nfuncdata <= FUNCDATA_INLINE || offset == UINT32_MAX || !t->gofunc)
		return 0;
	return t->gofunc + offset;
}

/* struct inlinedCall: from 1.20 on {u8 id, pad, s32 name, s32 parentPc, s32 line}, before {s16 parent, u8 id,
 * pad, s32 file, line, name, parentPc}. */
static bool inlined_call(const struct pclntab *t, uint64_t tree, int32_t i, struct pcln_position *ret,
	uint64_t *ret_parent)
{
	unsigned size = t->is_118 ? 20 : 16;
	const uint8_t *p = i >= 0 && i < 65536 ?
		elf_at(t->elf, tree + (uint64_t)i * size, size) : NULL;
	struct bytes b = { p, p ? size : 0 };

	if (!p)
		return false;
	ret->function = get_string(t->names, get32(b, t->is_118 ? 12 : 4));
	ret->wrapper = t->wrapper && p[t->is_118 ? 2 : 0] == t->wrapper;
	*ret_parent = get32(b, t->is_118 ? 16 : 8);
	return ret->function != NULL;
}

static void set_line(const struct pclntab *t, const struct pcln_function *f, uint64_t vaddr,
	struct pcln_position *ret)
{
	int32_t line = value_at(t, f, field(f, FUNC_PCLN), vaddr);
	int32_t file = value_at(t, f, field(f, FUNC_PCFILE), vaddr);
	uint32_t offset = UINT32_MAX;

	if (file >= 0)
		offset = get32(t->units, 4 * ((uint64_t)field(f, FUNC_CU) + (uint32_t)file));
	ret->line = line > 0 ? (uint32_t)line : 0;
	ret->file = offset != UINT32_MAX ? get_string(t->files, offset) : NULL;
}

size_t pclntab_positions(const struct pclntab *t, uint64_t vaddr,
	struct pcln_position ret[PCLN_POSITIONS_MAX])
{
	struct pcln_function f;
	uint64_t tree, parent;
	uint32_t table;
	size_t n = 0;

	if (!pclntab_find(t, vaddr, &f))
		return 0;
	table = inline_table(t, &f);
	tree = table ? inline_tree(t, &f) : 0;
	while (tree && n < PCLN_POSITIONS_MAX - 1) {
		if (!inlined_call(t, tree, value_at(t, &f, table, vaddr), &ret[n], &parent) ||
			parent >= f.end - f.start)
			break;
		set_line(t, &f, vaddr, &ret[n++]);
		vaddr = f.start + parent;
	}
	ret[n] = (struct pcln_position){ .function = f.name,
		.wrapper = t->wrapper && f.raw[FUNC_ID(t)] == t->wrapper };
	set_line(t, &f, vaddr, &ret[n]);
	return n + 1;
}
