// SPDX-License-Identifier: Apache-2.0
/* beamtables.c - any bytes as the memory of a process, in which the tables of Erlang's runtime are searched, and as the
 * record of a code position from the ring buffer. The first word says where the memory begins, so that an input can
 * hold addresses that lead into itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/beam/beam.h"
#include "unwinders/unwinders.h"

enum { READS_MAX = 200000, START = 0x10000 };

struct memory {
	const uint8_t *data;
	size_t size;
	unsigned reads;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct memory *m = arg;

	if (++m->reads > READS_MAX)
		abort(); /* the search has a limit */
	if (addr < START || addr - START > m->size || size > m->size - (addr - START))
		return -1;
	memcpy(buf, m->data + (addr - START), size);
	return 0;
}

static void find(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size, 0 };
	struct beam_file f = { .key = START + 8, .atom_tab = START + 16, .current = 0xa8 };
	struct beam_proc p;

	if (!beam_find(&(struct beam_memory){ read_memory, &memory }, START, size & ~7ULL, &f, 0, &p) &&
		(p.ranges < START || p.ranges - START >= size || !p.functions || !p.lines || p.lines >= p.functions))
		abort();
}

static void name(const uint8_t *data, size_t size)
{
	struct beam_record *r = calloc(1, sizeof(*r));
	struct beam_codes *c = beam_codes_new();
	struct frame_name n;

	memcpy(r, data, size < sizeof(*r) ? size : sizeof(*r));
	beam_codes_record(c, r);
	if (beam_codes_name(c, r->frame, &n) && (!n.name || strlen(n.name) > 6 * BEAM_TEXT_MAX ||
						       (n.file && strlen(n.file) > BEAM_TEXT_MAX + 4)))
		abort();
	beam_codes_free(c);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	find(data, size);
	name(data, size);
	return 0;
}
