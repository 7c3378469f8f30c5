// SPDX-License-Identifier: Apache-2.0
/* sdt.c - reads any bytes as an ELF file with notes of USDT probes, and as the text of their arguments. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "target/sdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_args(const char *text)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_NONE};
	struct sdt_arg args[SDT_ARGS_MAX];

	for (int i = 0; i < 3; i++) {
		unsigned n = sdt_args(text, machines[i], args);

		if (n > SDT_ARGS_MAX)
			abort();
		for (unsigned k = 0; k < n; k++) {
			const struct sdt_arg *a = &args[k];

			if (a->where == SDT_NOWHERE ? !a->why : !a->size || a->size > 8 || a->size & (a->size - 1))
				abort();
			if ((a->where == SDT_SYMBOL || a->where == SDT_ADDRESS) &&
				(!a->symbol_len || a->symbol < text || a->symbol + a->symbol_len > text + strlen(text)))
				abort();
			if (a->where != SDT_NOWHERE && (a->reg > SDT_ARM64_PC || a->index > SDT_ARM64_PC))
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct sdt_notes notes;
	struct sdt_note note;
	struct elf *e;

	memcpy(text, data, size);
	text[size] = '\0';
	check_args(text);
	free(text);
	if (elf_open_memory(data, size, &e) < 0)
		return 0;
	if (sdt_open(e, &notes))
		while (sdt_next(&notes, &note)) {
			if (!strlen(note.provider) || !strlen(note.name))
				abort();
			check_args(note.args);
		}
	elf_close(e);
	return 0;
}
