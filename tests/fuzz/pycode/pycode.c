// SPDX-License-Identifier: Apache-2.0
/* pycode.c - any bytes as a code object's record from the ring buffer, and as the memory of
 * the process that the rest is read from. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/python/python.h"
#include "unwinders/unwinders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Any address maps to a position in the bytes; the last few are not readable. */
static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct memory *m = arg;

	if (!m->size || size > m->size)
		return -EFAULT;
	addr %= m->size;
	if (size > m->size - addr)
		return -EFAULT;
	memcpy(buf, m->data + addr, size);
	return 0;
}

static void name_all(struct python_codes *c, uint64_t code)
{
	static const uint32_t at[] = {0, 1, 2, 17, 300, 0xfffff};
	struct frame_name n;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (!python_codes_name(c, FRAME_PYTHON(code, at[i]), &n))
			continue;
		if (strlen(n.name) > 4 * PYTHON_NAME_MAX || strlen(n.file) > 4 * PYTHON_FILE_MAX)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_code_record *r = calloc(1, sizeof(*r));
	struct python_codes *c = python_codes_new();
	struct memory m = {data, size};
	struct python_layout at = {};

	/* An allocation of exactly the record's size, so that the sanitizer reports reads after it. */
	if (size < sizeof(*r)) {
		void *copy = malloc(size ? size : 1);

		memcpy(r, data, size);
		memcpy(copy, data, size);
		if (size >= offsetof(struct python_code_record, name))
			python_codes_record(c, copy, size);
		name_all(c, r->code & ((1ULL << PYTHON_CODE_BITS) - 1));
		free(copy);
	}
	memcpy(&at, data, size < sizeof(at) ? size : sizeof(at));
	at.str_kind_shift &= 31; /* comes from a row of the program, not from a process */
	r->code = 7;
	r->addr = size > 72 ? data[70] | data[71] << 8 : 0;
	python_codes_read(c, r, &at, read_memory, &m);
	name_all(c, 7);
	python_codes_free(c);
	free(r);
	return 0;
}
