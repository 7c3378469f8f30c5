// SPDX-License-Identifier: Apache-2.0
/* phpcode.c - any bytes as the data of a PHP function: a record from the ring buffer, and the memory of
 * its process. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/php/php.h"
#include "unwinders/unwinders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Each address leads into the bytes; the last few are not readable. */
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

static void name(struct php_codes *c, uint64_t code)
{
	struct frame_name n;

	if (!php_codes_name(c, FRAME_PHP(code, 1), &n))
		return;
	if (strlen(n.name) > 2 * PHP_NAME_MAX + 16 || (n.file && strlen(n.file) > PHP_FILE_MAX))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct php_code_record *r = calloc(1, sizeof(*r));
	struct php_codes *c = php_codes_new();
	struct memory m = {data, size};
	struct php_layout at = {};
	void *copy = malloc(size ? size : 1); /* of the exact size, so that the sanitizer reports reads beyond it */

	memcpy(r, data, size < sizeof(*r) ? size : sizeof(*r));
	memcpy(copy, data, size);
	php_codes_record(c, copy, size);
	name(c, r->code & ((1ULL << PHP_CODE_BITS) - 1));
	memcpy(&at, data, size < sizeof(at) ? size : sizeof(at));
	r->code = 7;
	php_codes_read(c, r, &at, read_memory, &m);
	name(c, 7);
	php_codes_free(c);
	free(copy);
	free(r);
	return 0;
}
