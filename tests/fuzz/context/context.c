// SPDX-License-Identifier: Apache-2.0
/* context.c - reads any bytes as a process's own description. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/requests/context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(const struct context_text *t, const uint8_t *data, size_t size)
{
	const uint8_t *at = (const uint8_t *)t->text;

	if (t->size && (at < data || t->size > size || at > data + size - t->size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct context *c = calloc(1, sizeof(*c));

	if (!c)
		return 0;
	if (!context_parse(data, size, c)) {
		if (c->nresource > CONTEXT_ATTRIBUTES_MAX || c->nkeys > CONTEXT_KEYS_MAX)
			abort();
		for (size_t i = 0; i < c->nresource; i++) {
			within(&c->resource[i].key, data, size);
			if (!memchr(c->resource[i].value, 0, sizeof(c->resource[i].value)))
				abort();
		}
		for (size_t i = 0; i < c->nkeys; i++)
			within(&c->key[i], data, size);
	}
	free(c);
	return 0;
}
