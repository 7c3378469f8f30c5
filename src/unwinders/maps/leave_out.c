// SPDX-License-Identifier: Apache-2.0
/* leave_out.c - an object without some of its languages. libbpf copies the functions that a program calls into the
 * program, so the calls are replaced: the verifier, the JIT and the kernel's memory see nothing of these functions.
 * Each call is guarded by unwind_config.loaded (LANG_IS_LOADED() in bpf/walk/lang.bpf.h), so it is never made.
 *
 * ELF: System V gABI; relocations of BPF: Linux Documentation/bpf/llvm_reloc.rst. */
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "bpf/walk/unwind.h"
#include "object.h"
#include "rodata.h"
#include "unwinders/unwinders.h"

#ifndef R_BPF_64_32
#define R_BPF_64_32 10 /* a call */
#endif

/* The maps of a language: bpf/walk/langmaps.bpf.h, and its ids of code. Imported C may have maps with other names. */
static const char *const maps[] = {"procs", "files", "scratch", "seen", NULL};

/* The functions that a language of each kind defines for the walk: bpf/walk/lang.bpf.h. beam_pid() is called by
 * beam_id(), which asks for unknown processes also without the language. */
static const char *const list_calls[] = {"begin", "next", "batch", "outer", "compiled", "meet", "forget", NULL};
static const char *const native_calls[] = {"unwind", NULL};
static const char *const frame_calls[] = {"meet", "frame", "frames", "unwind", "above", "forget", "pid", NULL};

static const struct {
	const char *stem;
	const char *const *calls;
} rows[FRAME_LANGS] = {
#define LIST_CALLS   list_calls
#define NATIVE_CALLS native_calls
#define FRAME_CALLS  frame_calls
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = {#stem, kind##_CALLS},
#include "bpf/languages.def"
#undef L
};

/* Returns whether name is "STEM_" and one of these words. */
static bool is_of(const char *name, unsigned lang, const char *const *words)
{
	size_t n = strlen(rows[lang].stem);
	bool ret = false;

	if (strncmp(name, rows[lang].stem, n) != 0 || name[n] != '_')
		return false;
	for (; *words && !ret; words++)
		ret = !strcmp(name + n + 1, *words);
	return ret;
}

/* ---- calls -------------------------------------------------------------- */

static bool is_call_of(const char *name, uint32_t languages)
{
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (languages >> i & 1 && is_of(name, i, rows[i].calls))
			return true;
	return false;
}

/* Returns the name of the relocation's symbol, or "". */
static const char *name_of(const Elf64_Rel *r, const struct part *symbols, const struct part *strings)
{
	uint64_t i = ELF64_R_SYM(r->r_info);
	const Elf64_Sym *s = i < symbols->size / sizeof(*s) ? (const Elf64_Sym *)symbols->at + i : NULL;

	return s && s->st_name < strings->size ? strings->at + s->st_name : "";
}

/* Replaces a call by `r0 = 0`. Returns false if the instruction is not a call. */
static bool replace(struct part *code, uint64_t at)
{
	static const struct bpf_insn zero = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0};
	struct bpf_insn *insn;

	if (at % sizeof(*insn) || code->size < sizeof(*insn) || at > code->size - sizeof(*insn))
		return false;
	insn = (struct bpf_insn *)(code->at + at);
	if (insn->code != (BPF_JMP | BPF_CALL))
		return false;
	*insn = zero;
	return true;
}

static void leave_out_of(struct object *o, Elf64_Shdr *s, uint32_t languages)
{
	struct part relocations = object_part(o, (unsigned)(s - o->sections)), code = object_part(o, s->sh_info);
	struct part symbols = object_part(o, s->sh_link), strings = {};
	Elf64_Rel *r = (Elf64_Rel *)relocations.at;
	size_t n = relocations.size / sizeof(*r), kept = 0;

	if (s->sh_link < o->n)
		strings = object_strings(o, o->sections[s->sh_link].sh_link);
	for (size_t i = 0; i < n; i++)
		if (ELF64_R_TYPE(r[i].r_info) != R_BPF_64_32 ||
			!is_call_of(name_of(&r[i], &symbols, &strings), languages) || !replace(&code, r[i].r_offset))
			r[kept++] = r[i];
	s->sh_size = kept * sizeof(*r);
}

int unwinders_leave_out(void *elf, size_t size, uint32_t languages)
{
	struct object o;

	if (!object_open(&o, elf, size))
		return -EINVAL;
	for (unsigned i = 0; languages && i < o.n; i++)
		if (o.sections[i].sh_type == SHT_REL && o.sections[i].sh_info < o.n)
			leave_out_of(&o, (Elf64_Shdr *)&o.sections[i], languages);
	return 0;
}

/* ---- maps --------------------------------------------------------------- */

unsigned unwinders_map_language(const char *name)
{
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (is_of(name, i, maps))
			return i;
	return 0;
}

void unwinders_load_only(struct bpf_object *obj, uint32_t languages)
{
	struct unwind_config *c = rodata_find(obj, "unwind_config", sizeof(*c));
	struct bpf_map *m;

	if (c)
		c->loaded = languages;
	bpf_object__for_each_map(m, obj) {
		unsigned lang = unwinders_map_language(bpf_map__name(m));

		if (lang && !(languages >> lang & 1))
			bpf_map__set_autocreate(m, false);
	}
}
