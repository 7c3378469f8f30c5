// SPDX-License-Identifier: Apache-2.0
/* file.c - Erlang's runtime in a file: the name of its table of atoms, and the place of the process that a scheduler
 * runs. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "beam.h"
#include "target/elf.h"

static const char atom_tab[] = "\0atom_tab";

/* Returns the vaddr of the table's name, or 0. */
static uint64_t find_name(const struct elf *e)
{
	struct elf_section s;
	const uint8_t *p;

	if (!elf_section(e, ".rodata", &s))
		return 0;
	p = elf_find(e, &s, atom_tab, sizeof(atom_tab));
	return p ? s.vaddr + (uint64_t)(p + 1 - s.data) : 0;
}

static int32_t disp32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* Returns the distance from code to the first place with these two bytes, or n. */
static size_t find_bytes(const uint8_t *code, size_t n, uint8_t first, uint8_t second)
{
	size_t i = 0;

	while (i + 1 < n && (code[i] != first || code[i + 1] != second))
		i++;
	return i + 1 < n ? i : n;
}

/* enif_thread_type() calls erts_get_scheduler_data(), which passes the key (mov key(%rip),%edi) to the C library, and
 * then reads the member after current_process (mov type(%rax),%eax). */
static void find_key(struct elf *e, struct beam_file *f)
{
	enum { LOOKED_AT = 48, ENTRY = 12 };
	struct elf_symbol sym;
	const uint8_t *code = NULL, *call;
	uint64_t vaddr = 0;
	size_t at;

	if (elf_symbol_named(e, "enif_thread_type", &sym)) {
		vaddr = sym.vaddr;
		code = elf_at(e, vaddr, LOOKED_AT);
	}
	if (!code || elf_machine(e) != EM_X86_64)
		return;
	at = find_bytes(code, LOOKED_AT - 4, 0x8b, 0x80);
	if (at < LOOKED_AT - 4 && disp32(code + at + 2) > 8 && disp32(code + at + 2) < 4096)
		f->current = (uint32_t)disp32(code + at + 2) - 8;
	call = memchr(code, 0xe8, ENTRY);
	if (call) {
		vaddr += (uint64_t)(call + 5 - code) + (uint64_t)(int64_t)disp32(call + 1);
		code = elf_at(e, vaddr, LOOKED_AT);
	}
	at = code ? find_bytes(code, ENTRY, 0x8b, 0x3d) : ENTRY;
	if (at < ENTRY && f->current)
		f->key = vaddr + at + 6 + (uint64_t)(int64_t)disp32(code + at + 2);
}

int beam_open(struct elf *e, void *ret)
{
	struct beam_file *f = ret;
	struct elf_symbol sym;
	const uint8_t *jit;

	*f = (struct beam_file){ .atom_tab = find_name(e) };
	/* The functions that libraries of native functions call. */
	if (!f->atom_tab || !elf_symbol_named(e, "enif_make_atom", &sym))
		return -ENOENT;
	jit = elf_symbol_named(e, "etp_beamasm", &sym) ? elf_at(e, sym.vaddr, 4) : NULL;
	f->no_jit = jit && !(jit[0] | jit[1] | jit[2] | jit[3]);
	find_key(e, f);
	return 0;
}
