// SPDX-License-Identifier: Apache-2.0
/* inlines.c - reads any bytes as an ELF file with debug information: the functions and lines of some addresses. */
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "unwinders/native/inlines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 64 };

static void take(void *arg, size_t i, const struct inline_chain *c)
{
	size_t *texts = arg;

	if (i >= ADDRESSES || !c->n || c->n > INLINES_MAX)
		abort();
	for (size_t k = 0; k < c->n; k++)
		*texts += (c->at[k].name ? strlen(c->at[k].name) : 0) + (c->at[k].file ? strlen(c->at[k].file) : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t vaddrs[ADDRESSES], start;
	struct inlines *in;
	struct elf *e;
	size_t texts = 0;

	if (elf_open_memory(data, size, &e))
		return 0;
	start = elf_entry(e) & ~0xfffull;
	for (uint64_t i = 0; i < ADDRESSES; i++)
		vaddrs[i] = start + i * 17;
	if (vaddrs[ADDRESSES - 1] > start && !inlines_open(e, -1, NULL, &in)) {
		inlines_find(in, vaddrs, ADDRESSES, take, &texts);
		inlines_find(in, vaddrs + 1, 1, take, &texts);
		inlines_release(in);
		inlines_close(in);
	}
	elf_close(e);
	return 0;
}
