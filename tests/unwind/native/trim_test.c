// SPDX-License-Identifier: Apache-2.0
/* trim_test.c - unwinders_trim(): instructions that constants exclude are gone, all others stay and jump where they
 * did. Damaged files are refused, or changed within their bounds. */
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/objects.h"
#include "../../lib/check.h"
#include "unwinders/unwinders.h"

enum { DAMAGES = 2000, CUTS = 400, MOST = 32, R_DATA = 1, LINES_AT = 20, RELOCATIONS_AT = 28 };

#define MOV(d, n)        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = d, .imm = n}
#define AND(d, n)        {.code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = d, .imm = n}
#define ADD(d, n)        {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = d, .imm = n}
#define WIDE             (BPF_LD | BPF_IMM | BPF_DW)
#define DATA(d, n)       {.code = WIDE, .dst_reg = d, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = n}, {}
#define LOAD(d, s, o)    {.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = d, .src_reg = s, .off = o}
#define JUMP(op, d, n, o) {.code = BPF_JMP | op | BPF_K, .dst_reg = d, .imm = n, .off = o}
#define GOTO(o)          {.code = BPF_JMP | BPF_JA, .off = o}
#define HELPER           {.code = BPF_JMP | BPF_CALL, .imm = 8}
#define EXIT             {.code = BPF_JMP | BPF_EXIT}

enum { CODE = 1, RODATA, SYMBOLS, RELOCATIONS, STRINGS, EXT, SECTIONS };

/* One program, whose DATA() instructions have relocations. */
struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[SECTIONS];
	struct bpf_insn code[MOST];
	uint32_t rodata[4];
	Elf64_Sym symbols[3];
	Elf64_Rel relocations[MOST];
	char strings[40];
	uint32_t ext[8];
};

static Elf64_Shdr section(unsigned name, unsigned type, const struct file *f, const void *at, size_t size)
{
	return (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = (size_t)((const char *)at - (const char *)f),
		.sh_size = size};
}

static void make(struct file *f, const struct bpf_insn *code, size_t n, const uint32_t *rodata)
{
	size_t k = 0;

	*f = (struct file){.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64}, .e_shoff = sizeof(f->head)}};
	f->head.e_shnum = SECTIONS;
	f->head.e_shentsize = sizeof(Elf64_Shdr);
	f->head.e_shstrndx = STRINGS;
	memcpy(f->code, code, n * sizeof(*code));
	memcpy(f->rodata, rodata, sizeof(f->rodata));
	memcpy(f->strings, "\0.rodata\0.BTF.ext", 18);
	for (size_t i = 0; i < n; i++)
		if (code[i].src_reg == BPF_PSEUDO_MAP_VALUE && code[i].code == WIDE)
			f->relocations[k++] = (Elf64_Rel){i * sizeof(*code), ELF64_R_INFO(2, R_DATA)};
	f->symbols[1] = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = CODE,
		.st_size = n * sizeof(*code)};
	f->symbols[2] = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = RODATA};
	f->sections[CODE] = section(0, SHT_PROGBITS, f, f->code, n * sizeof(*code));
	f->sections[CODE].sh_flags = SHF_EXECINSTR;
	f->sections[RODATA] = section(1, SHT_PROGBITS, f, f->rodata, sizeof(f->rodata));
	f->sections[SYMBOLS] = section(0, SHT_SYMTAB, f, f->symbols, sizeof(f->symbols));
	f->sections[RELOCATIONS] = section(0, SHT_REL, f, f->relocations, k * sizeof(Elf64_Rel));
	f->sections[RELOCATIONS].sh_info = CODE;
	f->sections[RELOCATIONS].sh_link = SYMBOLS;
	f->sections[STRINGS] = section(0, SHT_STRTAB, f, f->strings, sizeof(f->strings));
	f->sections[EXT] = section(9, SHT_PROGBITS, f, f->ext, sizeof(f->ext));
}

static const uint32_t rodata[4] = {0, 5, 7, 0};

static void check_trimmed(int line, const struct bpf_insn *code, size_t n, const struct bpf_insn *want, size_t nwant)
{
	struct file f;
	size_t k = 0;

	make(&f, code, n, rodata);
	if (unwinders_trim(&f, sizeof(f), rodata, sizeof(rodata)) || f.symbols[1].st_size != nwant * sizeof(*want) ||
		memcmp(f.code, want, nwant * sizeof(*want))) {
		fprintf(stderr, "%s:%d: other instructions\n", __FILE__, line);
		failed = 1;
	}
	for (size_t i = 0; i < nwant; i++)
		if (want[i].src_reg == BPF_PSEUDO_MAP_VALUE && want[i].code == WIDE)
			CHECK(f.relocations[k++].r_offset == i * sizeof(*want));
	CHECK(f.sections[RELOCATIONS].sh_size == k * sizeof(Elf64_Rel));
}

#define CHECK_TRIMMED(code, want) \
	check_trimmed(__LINE__, code, sizeof(code) / sizeof(*code), want, sizeof(want) / sizeof(*want))

static void test_branches(void)
{
	static const struct bpf_insn never[] = {
		DATA(1, 4), LOAD(1, 1, 0), AND(1, 2), JUMP(BPF_JNE, 1, 0, 2), MOV(0, 1), EXIT,
		DATA(2, 0), MOV(0, 2), EXIT,
	}, never_want[] = {DATA(1, 4), LOAD(1, 1, 0), AND(1, 2), MOV(0, 1), EXIT};
	static const struct bpf_insn always[] = {
		DATA(1, 0), LOAD(1, 1, 8), JUMP(BPF_JGT, 1, 6, 3), MOV(0, 1), DATA(2, 4), MOV(0, 2), EXIT,
	}, always_want[] = {DATA(1, 0), LOAD(1, 1, 8), MOV(0, 2), EXIT};
	static const struct bpf_insn skips[] = { /* an unknown branch over a dead piece */
		HELPER, JUMP(BPF_JEQ, 0, 0, 6), DATA(1, 4), LOAD(1, 1, 0), JUMP(BPF_JEQ, 1, 5, 1), MOV(6, 3), GOTO(1),
		MOV(6, 4), DATA(2, 8), EXIT,
	}, skips_want[] = {
		HELPER, JUMP(BPF_JEQ, 0, 0, 4), DATA(1, 4), LOAD(1, 1, 0), GOTO(1), MOV(6, 4), DATA(2, 8), EXIT,
	};

	CHECK_TRIMMED(never, never_want);
	CHECK_TRIMMED(always, always_want);
	CHECK_TRIMMED(skips, skips_want);
}

/* What is known ends at calls, loads from other memory, loops, and where ways meet. */
static void test_unknown(void)
{
	static const struct bpf_insn called[] = {
		DATA(1, 0), LOAD(1, 1, 0), HELPER, JUMP(BPF_JEQ, 1, 0, 1), MOV(0, 1), EXIT,
	};
	static const struct bpf_insn kept[] = {
		DATA(6, 0), LOAD(6, 6, 0), HELPER, JUMP(BPF_JEQ, 6, 0, 1), MOV(0, 1), EXIT,
	};
	static const struct bpf_insn kept_want[] = {DATA(6, 0), LOAD(6, 6, 0), HELPER, EXIT};
	static const struct bpf_insn loop[] = {
		MOV(6, 0), HELPER, ADD(6, 1), JUMP(BPF_JLT, 6, 9, -3), MOV(0, 1), EXIT,
	};
	static const struct bpf_insn meet[] = {
		HELPER, MOV(6, 1), JUMP(BPF_JEQ, 0, 0, 1), MOV(6, 2), JUMP(BPF_JEQ, 6, 1, 1), MOV(0, 3), EXIT,
	};
	static const struct bpf_insn beyond[] = {
		DATA(1, 0), LOAD(1, 1, 14), JUMP(BPF_JEQ, 1, 0, 1), MOV(0, 1), EXIT,
	};
	static const struct bpf_insn stack[] = {LOAD(1, 10, -8), JUMP(BPF_JEQ, 1, 0, 1), MOV(0, 1), EXIT};

	CHECK_TRIMMED(called, called);
	CHECK_TRIMMED(kept, kept_want);
	CHECK_TRIMMED(loop, loop);
	CHECK_TRIMMED(meet, meet);
	CHECK_TRIMMED(beyond, beyond);
	CHECK_TRIMMED(stack, stack);
}

/* ---- the unwinder ----------------------------------------------------------- */

static char *copy_of(size_t size)
{
	const Elf64_Ehdr *h = (const void *)bpf_obj_stacks;
	const Elf64_Shdr *s = (const void *)(bpf_obj_stacks + h->e_shoff);
	const char *names = (const char *)bpf_obj_stacks + s[h->e_shstrndx].sh_offset;
	char *elf = malloc(size + !size);

	memcpy(elf, bpf_obj_stacks, size);
	for (unsigned i = 0; i < h->e_shnum; i++) /* strata links it without line information */
		if (!strcmp(names + s[i].sh_name, ".BTF.ext") && s[i].sh_offset + RELOCATIONS_AT + 4 <= size) {
			memset(elf + s[i].sh_offset + LINES_AT, 0, 4);
			memset(elf + s[i].sh_offset + RELOCATIONS_AT, 0, 4);
		}
	return elf;
}

static unsigned functions(const char *elf)
{
	const Elf64_Shdr *s = (const void *)(elf + ((const Elf64_Ehdr *)elf)->e_shoff);
	unsigned n = 0;

	for (unsigned i = 0; i < ((const Elf64_Ehdr *)elf)->e_shnum; i++)
		for (size_t k = 0; s[i].sh_type == SHT_SYMTAB && k < s[i].sh_size / sizeof(Elf64_Sym); k++)
			n += ELF64_ST_TYPE(((const Elf64_Sym *)(elf + s[i].sh_offset))[k].st_info) == STT_FUNC;
	return n;
}

static void test_unwinder(void)
{
	static const char zeros[4096];
	size_t size = bpf_obj_stacks_size;
	char *elf = copy_of(size);
	struct bpf_object *obj;

	CHECK(!unwinders_trim(elf, size, zeros, sizeof(zeros)));
	CHECK(functions(elf) && functions(elf) < functions((const char *)bpf_obj_stacks));
	obj = bpf_object__open_mem(elf, size, NULL);
	CHECK(obj);
	bpf_object__close(obj);
	free(elf);
}

static void survives(char *elf, size_t size)
{
	static const char zeros[256];

	unwinders_trim(elf, size, zeros, sizeof(zeros));
	free(elf);
}

/* Each copy has exactly its size, so that the sanitizers find reads and writes beyond it. */
static void test_damage(void)
{
	static const uint8_t codes[] = {BPF_JMP | BPF_JA, BPF_JMP32 | BPF_JEQ, WIDE, BPF_JMP | BPF_CALL};
	size_t size = bpf_obj_stacks_size;
	const Elf64_Ehdr *h = (const void *)bpf_obj_stacks;
	char *elf = copy_of(size);

	elf[0] = 'x';
	CHECK(unwinders_trim(elf, size, "", 1) == -EINVAL);
	free(elf);
	for (size_t i = 0; i < CUTS; i++)
		survives(copy_of(size * i / CUTS), size * i / CUTS);
	srand(1);
	for (int i = 0; i < DAMAGES; i++) {
		size_t sections = h->e_shnum * sizeof(Elf64_Shdr);

		elf = copy_of(size);
		for (int k = 0; k < 4; k++)
			elf[i % 2 ? h->e_shoff + (size_t)rand() % sections : (size_t)rand() % size] = (char)rand();
		for (int k = 0; k < 4; k++)
			elf[(size_t)rand() % (size / 8) * 8] = (char)codes[k];
		survives(elf, size);
	}
}

int main(void)
{
	libbpf_set_print(NULL);
	test_branches();
	test_unknown();
	test_unwinder();
	test_damage();
	return failed;
}
