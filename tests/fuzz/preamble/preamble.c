// SPDX-License-Identifier: Apache-2.0
/* preamble.c - any bytes as a script: the begin and the end of its C part. The part is in the text; it is
 * the same if the text ends with it; after it, no other part begins. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct span split(struct arena *a, const char *text, size_t len, bool *failed)
{
	struct source src = {.name = "fuzz", .text = arena_strndup(a, text, len), .len = len};
	struct diags *d = diags_new(a, &src);
	struct span part = preamble_span(&src, (struct span){0, (uint32_t)src.len}, d);

	assert(part.start <= part.end && part.end <= len);
	*failed = diags_failed(d);
	return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	const char *text = (const char *)data;
	struct span part, again, rest;
	bool failed;

	size = strnlen(text, size); /* parse() refuses others */
	part = split(a, text, size, &failed);
	if (failed) {
		assert(part.start == part.end);
	} else if (part.end > part.start) {
		again = split(a, text, part.end, &failed);
		assert(!failed && again.start == part.start && again.end == part.end);
		rest = split(a, text + part.end, size - part.end, &failed);
		assert(!failed && rest.start == rest.end);
	}
	arena_free(a);
	return 0;
}
