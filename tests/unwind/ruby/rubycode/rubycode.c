// SPDX-License-Identifier: Apache-2.0
/* rubycode.c - any bytes as the record of a Ruby code object from the ring buffer, and as the memory of the process
 * whose line tables are read. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/ruby/ruby.h"
#include "unwinders/unwinders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A class, '#' and a method, after "block (4294967295 levels) in ". */
#define LABEL_MAX (2 * RUBY_NAME_MAX + 1 + 29)

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Any address maps to a position in the bytes; a read past the end begins again at the start. */
static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct memory *m = arg;
	uint8_t *out = buf;

	if (!m->size || addr % 16 == 15)
		return -EFAULT;
	for (size_t i = 0; i < size; i++)
		out[i] = m->data[(addr + i) % m->size];
	return 0;
}

static void check(const struct ruby_codes *c, uint64_t code)
{
	static const uint32_t at[] = { 0, 1, 53, 54, 565, 566, 65535, 65536, 0xfffff };
	struct frame_name n;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		if (ruby_codes_name(c, FRAME_RUBY(code, at[i]), &n) &&
			(strlen(n.name) > LABEL_MAX || (n.file && strlen(n.file) > RUBY_FILE_MAX)))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A row of the program, not data of a process. */
	static const struct ruby_layout layouts[] = {
		{ .insns = 120, .insns_size = 136, .insns_index = 144, .entry_size = 8 },
		{ .insns = 112, .insns_size = 128, .insns_index = 136, .entry_size = 12 },
	};
	struct ruby_codes *c = ruby_codes_new();
	struct memory m = { data, size };
	struct ruby_code_record *r;

	if (size >= offsetof(struct ruby_code_record, name)) {
		/* Exactly the record's size, so that the sanitizer reports reads after it. */
		size_t whole = offsetof(struct ruby_code_record, file) + size % 512;

		r = calloc(1, whole);
		memcpy(r, data, size < whole ? size : whole);
		r->name_size &= 1023;
		r->class_size &= 1023;
		r->flags &= 3;
		r->size &= 0x1ffff;
		ruby_codes_record(c, r, whole, &layouts[size & 1], read_memory, &m);
		check(c, r->code & ((1ULL << RUBY_CODE_BITS) - 1));
		r->code++;
		ruby_codes_record(c, r, size < whole ? size : whole, NULL, NULL, NULL);
		check(c, r->code & ((1ULL << RUBY_CODE_BITS) - 1));
		free(r);
	}
	ruby_codes_free(c);
	return 0;
}
