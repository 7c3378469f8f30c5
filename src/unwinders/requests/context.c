// SPDX-License-Identifier: Apache-2.0
/* context.c - see context.h.
 *
 * The payload is a message of Protocol Buffers: 1 Resource { 1 KeyValue.. }, 2 KeyValue..; KeyValue { 1 key,
 * 2 AnyValue }; AnyValue { 1 string, 2 bool, 3 int64, 4 double, 5 ArrayValue { 1 AnyValue.. }, 6 map, 7 bytes }.
 * libprotobuf-c unpacks nested messages by recursion, without a limit, and 64 KiB of a hostile program can nest
 * 20,000 of them. This reader goes to the depth that it needs. */
#include "context.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"

#define SIGNATURE "OTEL_CTX"
enum { VERSION = 2, TRIES = 3 };

/* The mapping's first bytes. */
struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published; /* 0: being written */
	uint64_t payload;   /* address */
};

/* ---- fields --------------------------------------------------------------- */

struct bytes {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number, wire; /* wire: 0 varint, 1 8 bytes, 2 a length and bytes, 5 4 bytes */
	uint64_t value;
	struct bytes bytes;
};

static bool varint(struct bytes *b, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;

		*ret |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return true;
	}
	return false;
}

static bool fixed(struct bytes *b, size_t size, uint64_t *ret)
{
	if ((size_t)(b->end - b->at) < size)
		return false;
	*ret = 0;
	memcpy(ret, b->at, size);
	b->at += size;
	return true;
}

/* Returns 1 for a field, 0 at the end, -EINVAL for malformed bytes. */
static int next(struct bytes *b, struct field *ret)
{
	uint64_t tag;

	if (b->at == b->end)
		return 0;
	if (!varint(b, &tag) || tag >> 3 > UINT32_MAX)
		return -EINVAL;
	*ret = (struct field){.number = (uint32_t)(tag >> 3), .wire = tag & 7};
	switch (ret->wire) {
	case 0:
		return varint(b, &ret->value) ? 1 : -EINVAL;
	case 1:
		return fixed(b, 8, &ret->value) ? 1 : -EINVAL;
	case 5:
		return fixed(b, 4, &ret->value) ? 1 : -EINVAL;
	case 2:
		if (!varint(b, &ret->value) || ret->value > (uint64_t)(b->end - b->at))
			return -EINVAL;
		ret->bytes = (struct bytes){b->at, b->at + ret->value};
		b->at += ret->value;
		return 1;
	}
	return -EINVAL;
}

static struct context_text text_of(struct bytes b)
{
	return (struct context_text){(const char *)b.at, (size_t)(b.end - b.at)};
}

static bool is(struct context_text t, const char *name)
{
	return t.size == strlen(name) && !memcmp(t.text, name, t.size);
}

/* ---- attributes ------------------------------------------------------------- */

static int write_value(struct bytes any, char *to, size_t size)
{
	struct field f;
	double number;
	int r;

	*to = 0;
	while ((r = next(&any, &f)) > 0) {
		if (f.number == 1 && f.wire == 2)
			snprintf(to, size, "%.*s", (int)(f.value < size ? f.value : size), (const char *)f.bytes.at);
		else if (f.number == 2 && f.wire == 0)
			snprintf(to, size, "%s", f.value ? "true" : "false");
		else if (f.number == 3 && f.wire == 0)
			snprintf(to, size, "%lld", (long long)f.value);
		else if (f.number == 4 && f.wire == 1) {
			memcpy(&number, &f.value, sizeof(number));
			snprintf(to, size, "%g", number);
		}
	}
	return r;
}

static int split(struct bytes pair, struct context_text *key, struct bytes *value)
{
	struct field f;
	int r;

	*key = (struct context_text){"", 0};
	*value = (struct bytes){};
	while ((r = next(&pair, &f)) > 0)
		if (f.number == 1 && f.wire == 2)
			*key = text_of(f.bytes);
		else if (f.number == 2 && f.wire == 2)
			*value = f.bytes;
	return r;
}

static int parse_resource(struct bytes resource, struct context *c)
{
	struct bytes value;
	struct field f;
	int r;

	while ((r = next(&resource, &f)) > 0) {
		struct context_attribute *a = &c->resource[c->nresource];

		if (f.number != 1 || f.wire != 2 || c->nresource == CONTEXT_ATTRIBUTES_MAX)
			continue;
		r = split(f.bytes, &a->key, &value);
		r = r ? r : write_value(value, a->value, sizeof(a->value));
		if (r)
			return r;
		c->nresource++;
	}
	return r;
}

/* array: the values of an ArrayValue */
static int parse_keys(struct bytes array, struct context *c)
{
	struct field f, text;
	int r;

	while ((r = next(&array, &f)) > 0) {
		if (f.number != 1 || f.wire != 2 || c->nkeys == CONTEXT_KEYS_MAX)
			continue;
		c->key[c->nkeys] = (struct context_text){"", 0};
		while ((r = next(&f.bytes, &text)) > 0)
			if (text.number == 1 && text.wire == 2)
				c->key[c->nkeys] = text_of(text.bytes);
		if (r)
			return r;
		c->nkeys++;
	}
	return r;
}

static int parse_about_threads(struct bytes pair, struct context *c)
{
	struct context_text key;
	struct bytes value;
	struct field f;
	int r = split(pair, &key, &value);

	while (!r && (r = next(&value, &f)) > 0) {
		r = 0;
		if (is(key, "threadlocal.attribute_key_map") && f.number == 5 && f.wire == 2)
			r = parse_keys(f.bytes, c);
		else if (is(key, "threadlocal.js_object_record_offset") && f.number == 3 && f.wire == 0)
			c->record_offset = f.value;
	}
	return r;
}

int context_parse(const uint8_t *payload, size_t size, struct context *c)
{
	struct bytes all = {payload, payload + size};
	struct field f;
	int r;

	while ((r = next(&all, &f)) > 0) {
		r = 0;
		if (f.number == 1 && f.wire == 2)
			r = parse_resource(f.bytes, c);
		else if (f.number == 2 && f.wire == 2)
			r = parse_about_threads(f.bytes, c);
		if (r)
			return r;
	}
	return r;
}

/* ---- the process ------------------------------------------------------------ */

static int read_header(context_read_fn *read, void *arg, uint64_t addr, struct header *ret)
{
	int r = read(arg, addr, ret, sizeof(*ret));

	if (r)
		return r;
	if (memcmp(ret->signature, SIGNATURE, sizeof(ret->signature)) != 0 || ret->version != VERSION || !ret->size ||
		ret->size > CONTEXT_SIZE_MAX)
		return -EINVAL;
	return ret->published ? 0 : -EAGAIN;
}

int context_time(context_read_fn *read, void *arg, uint64_t addr, uint64_t *ret)
{
	struct header h;
	int r = read_header(read, arg, addr, &h);

	*ret = r ? 0 : h.published;
	return r;
}

/* The program may publish another context while this one is read: then the time differs. */
static int read_once(context_read_fn *read, void *arg, uint64_t addr, struct context *ret)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	struct header h;
	uint64_t again;
	int r = read_header(read, arg, addr, &h);

	if (r)
		return r;
	bytes = malloc(h.size);
	r = bytes ? read(arg, h.payload, bytes, h.size) : -ENOMEM;
	if (r)
		return r;
	if (context_time(read, arg, addr, &again) || again != h.published)
		return -EAGAIN;
	memset(ret, 0, sizeof(*ret));
	r = context_parse(bytes, h.size, ret);
	ret->published = h.published;
	ret->bytes = r ? NULL : TAKE(bytes);
	return r;
}

int context_read(context_read_fn *read, void *arg, uint64_t addr, struct context *ret)
{
	int r = -EAGAIN;

	for (unsigned i = 0; i < TRIES && r == -EAGAIN; i++)
		r = read_once(read, arg, addr, ret);
	if (r)
		memset(ret, 0, sizeof(*ret));
	return r;
}

void context_done(struct context *c)
{
	free(c->bytes);
	c->bytes = NULL;
}
