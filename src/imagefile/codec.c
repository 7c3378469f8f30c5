// SPDX-License-Identifier: Apache-2.0
/* codec.c - integers, texts and lists as bytes, in the machine's own order. */
#include "codec.h"

#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/str.h"

void code_bytes(struct codec *c, void *at, size_t size)
{
	if (c->out) {
		str_addn(c->out, at, size);
		return;
	}
	c->bad |= c->left < size;
	if (c->bad) {
		memset(at, 0, size);
		return;
	}
	memcpy(at, c->in, size);
	c->in += size;
	c->left -= size;
}

void code_bool(struct codec *c, bool *b)
{
	uint8_t byte = c->out ? *b : 0;

	code_int(c, &byte);
	c->bad |= byte > 1;
	*b = byte == 1;
}

uint32_t code_below(struct codec *c, uint32_t n, uint32_t max)
{
	code_int(c, &n);
	if (n < max)
		return n;
	c->bad = true;
	return 0;
}

void code_blob(struct codec *c, const void **data, size_t *size)
{
	uint64_t n = c->out ? *size : 0;
	char *copy;

	code_int(c, &n);
	if (c->out) {
		if (n)
			str_addn(c->out, *data, n);
		return;
	}
	c->bad |= n > c->left;
	*size = c->bad ? 0 : n;
	*data = copy = arena_alloc(c->arena, *size + 1);
	code_bytes(c, copy, *size);
}

void code_part(struct codec *c, const void **data, size_t *size)
{
	uint64_t n = *size;

	if (c->out) {
		code_blob(c, data, size);
		return;
	}
	code_int(c, &n);
	c->bad |= n > c->left;
	*size = c->bad ? 0 : n;
	*data = c->in;
	c->in += *size;
	c->left -= *size;
}

void code_text(struct codec *c, const char **text)
{
	bool has = c->out && *text;
	size_t n = has ? strlen(*text) : 0;
	const void *data = *text;

	code_bool(c, &has);
	if (has)
		code_blob(c, &data, &n);
	if (c->out)
		return;
	*text = has ? data : NULL;
	c->bad |= has && strlen(*text) != n;
}

enum { LISTS_MOST = 256 << 20 }; /* bytes of memory; a list of a million places takes 16 MB */

void *code_list(struct codec *c, void *list, unsigned *n, size_t size)
{
	uint32_t count = c->out ? *n : 0;

	code_int(c, &count);
	if (c->out)
		return list;
	c->bad |= count > c->left || count > (LISTS_MOST - c->lists) / size;
	*n = c->bad ? 0 : count;
	c->lists += size * *n;
	return arena_alloc(c->arena, size * *n + 1);
}

void code_span(struct codec *c, struct span *s)
{
	code_int(c, &s->start);
	code_int(c, &s->end);
}

void code_provider(struct codec *c, const struct provider **p)
{
	const char *name = c->out ? (*p)->name : NULL;

	code_text(c, &name);
	if (!c->out)
		*p = name ? provider_by_name(c->providers, name, strlen(name)) : NULL;
	c->bad |= !*p;
}
