// SPDX-License-Identifier: Apache-2.0
/* holes.c - finds the values of an image's holes on this machine, compares what must not differ, and writes the
 * values into the instructions. */
#include <bpf/libbpf.h>
#include <elf.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "model/type.h"
#include "priv.h"
#include "types/types.h"

/* ---- the kernel's types -------------------------------------------------- */

/* "struct dentry" */
static const struct type *find_struct(const struct request *req, const char *name)
{
	const char *bare = strchr(name, ' ') + 1;
	const struct type *t = types_find(req->types, name[0] == 'u' ? TAG_UNION : TAG_STRUCT, bare);

	return t && t->kind == TYPE_STRUCT && !composite_of(t)->incomplete ? t : NULL;
}

/* Adds up the offsets of the first n bytes of the path. Returns false if a member does not exist. */
static bool find_path(const struct request *req, const struct type *t, const char *path, size_t n, struct member *ret)
{
	uint64_t at = 0;
	struct member m;

	for (size_t from = 0; from < n; ) {
		size_t len = strcspn(path + from, ".");
		const char *name = arena_strndup(req->arena, path + from, len);

		if (t->kind != TYPE_STRUCT || !type_member(types_complete(req->types, t), name, &m))
			return false;
		at += m.offset;
		t = m.type;
		from += len + 1;
	}
	m.offset = (uint32_t)at;
	*ret = m;
	return true;
}

static bool lacks(const struct request *req, const char *strct, const char *member, const char *how)
{
	log_error("this program: %s.%s %s", strct, *member ? member : "(unnamed)", how);
	log_hint("it was built for a kernel whose %s differs: build it on a machine like this one", strct);
	return false;
}

static bool member_value(const struct request *req, const struct hole *h, uint64_t *ret)
{
	const struct type *t = find_struct(req, h->root);
	struct member m, before = {};

	if (!t || !find_path(req, t, h->path, strlen(h->path), &m) ||
		(h->skip && !find_path(req, t, h->path, h->skip, &before)))
		return lacks(req, h->root, h->path, "does not exist in this kernel");
	if (h->size && (m.type->size != h->size || m.bit_size != h->bit_size || m.bit_offset != h->bit_offset))
		return lacks(req, h->root, h->path, "has another size in this kernel");
	*ret = m.offset - before.offset;
	return true;
}

/* ---- facts -------------------------------------------------------------- */

static bool layout_is_same(const struct request *req, const struct fact_layout *was)
{
	const struct type *t = find_struct(req, was->name);
	struct fact_layout here;

	if (!t)
		return lacks(req, was->name, was->nparts ? was->parts[0].name : "", "does not exist in this kernel");
	fact_layout_of(req->arena, t, &here);
	for (unsigned i = 0; i < was->nparts; i++) {
		const struct fact_part *a = &was->parts[i], *b = i < here.nparts ? &here.parts[i] : NULL;

		if (!b || strcmp(a->name, b->name) || a->offset != b->offset || a->size != b->size)
			return lacks(req, was->name, a->name, "has another place in this kernel");
	}
	if (was->size != here.size || was->nparts != here.nparts)
		return lacks(req, was->name, here.nparts > was->nparts ? here.parts[was->nparts].name : "",
			"is new in this kernel");
	return true;
}

static bool constant_is_same(const struct request *req, const struct fact_constant *was)
{
	struct constant here = {};

	if (types_constant(req->types, was->name, &here) && here.value == was->value)
		return true;
	log_error("this program: %s has another value in this kernel", was->name);
	log_hint("build it on a machine like this one");
	return false;
}

static bool facts_hold(const struct request *req, const struct facts *f)
{
	for (unsigned i = 0; i < f->nlayouts; i++)
		if (!layout_is_same(req, &f->layouts[i]))
			return false;
	for (unsigned i = 0; i < f->nconstants; i++)
		if (!constant_is_same(req, &f->constants[i]))
			return false;
	return true;
}

/* ---- the code ----------------------------------------------------------- */

static bool find_values(const struct request *req, const struct facts *f, uint64_t *values)
{
	uint64_t start = clock_ns(CLOCK_BOOTTIME), tai = clock_ns(CLOCK_TAI), wall = clock_ns(CLOCK_REALTIME);

	for (unsigned i = 0; i < f->nholes; i++) {
		switch (f->holes[i].kind) {
		case HOLE_MEMBER:
			if (!member_value(req, &f->holes[i], &values[i]))
				return false;
			break;
		case HOLE_CPUS:
			values[i] = (uint64_t)libbpf_num_possible_cpus();
			break;
		case HOLE_START:
			values[i] = start;
			break;
		case HOLE_TAI:
			values[i] = tai - start;
			break;
		case HOLE_WALL:
			values[i] = wall - start;
			break;
		case HOLE_CHILD:
			values[i] = (uint64_t)req->cmd.child;
			break;
		case HOLE_MAX:
			return false;
		}
	}
	return true;
}

static bool fill_section(uint8_t *code, size_t size, const struct facts *f, const uint64_t *values)
{
	struct bpf_insn insn[2];

	for (size_t at = 0; at + sizeof(insn) <= size; at += sizeof(*insn)) {
		memcpy(insn, code + at, sizeof(insn));
		if (insn[0].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (!insn[0].src_reg && (uint32_t)insn[1].imm == HOLE_MARK) {
			if ((uint32_t)insn[0].imm >= f->nholes)
				return false;
			insn[1].imm = (int32_t)(values[insn[0].imm] >> 32);
			insn[0].imm = (int32_t)values[insn[0].imm];
			memcpy(code + at, insn, sizeof(insn));
		}
		at += sizeof(*insn); /* it has two slots */
	}
	return true;
}

/* Sections of code are executable. The ELF is not trusted. */
static bool fill_elf(uint8_t *elf, size_t size, const struct facts *f, const uint64_t *values)
{
	Elf64_Ehdr h;
	Elf64_Shdr s;

	if (size < sizeof(h))
		return false;
	memcpy(&h, elf, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_shoff > size || h.e_shnum > (size - h.e_shoff) / sizeof(s))
		return false;
	for (unsigned i = 0; i < h.e_shnum; i++) {
		memcpy(&s, elf + h.e_shoff + i * sizeof(s), sizeof(s));
		if (s.sh_type != SHT_PROGBITS || !(s.sh_flags & SHF_EXECINSTR))
			continue;
		if (s.sh_offset > size || s.sh_size > size - s.sh_offset ||
			!fill_section(elf + s.sh_offset, s.sh_size, f, values))
			return false;
	}
	return true;
}

bool start_holes(const struct request *req, struct image *img)
{
	const struct facts *f = img->facts;
	uint64_t *values = arena_new_array(req->arena, uint64_t, f->nholes + 1);
	uint8_t *elf = arena_alloc(req->arena, img->elf_size + 1);

	if (!facts_hold(req, f) || !find_values(req, f, values))
		return false;
	memcpy(elf, img->elf, img->elf_size);
	img->elf = elf;
	if (fill_elf(elf, img->elf_size, f, values))
		return true;
	log_error("the program is damaged: its code is not a BPF object");
	return false;
}
