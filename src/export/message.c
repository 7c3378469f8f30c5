// SPDX-License-Identifier: Apache-2.0
/* message.c - see message.h. */
#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/owner.h"
#include "encode.h"
#include "output/pack.h"

enum { MERGED_MAX = 1 << 20 };

/* The paths are those of OTLP 1.11.0, docs/specification.md. */
static const struct {
	const char *name, *path, *begin;
} kinds[MESSAGE_KINDS] = {
	[MESSAGE_PROFILES] = {"profiles", "/v1development/profiles", "{\"resourceProfiles\": ["},
	[MESSAGE_METRICS] = {"metrics", "/v1/metrics", "{\"resourceMetrics\": ["},
	[MESSAGE_LOGS] = {"logs", "/v1/logs", "{\"resourceLogs\": ["},
};

const char *message_path(enum message_kind k)
{
	return kinds[k].path;
}

const char *message_name(enum message_kind k)
{
	return kinds[k].name;
}

static bool is_kind(enum message_kind k, const char *line, size_t n)
{
	size_t begin = strlen(kinds[k].begin);

	return n > begin && !memcmp(line, kinds[k].begin, begin);
}

enum message_kind message_kind(const char *line, size_t n)
{
	enum message_kind k = 0;

	while (k < MESSAGE_KINDS && !is_kind(k, line, n))
		k++;
	return k;
}

struct message *message_new(const char *line, size_t n)
{
	enum message_kind k = message_kind(line, n);
	struct message *m;

	if (k == MESSAGE_KINDS)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		out_of_memory();
	m->kind = k;
	m->since = (uint64_t)time(NULL);
	str_addn(&m->body, line, n);
	return m;
}

void message_free(struct message *m)
{
	if (m)
		str_done(&m->body);
	free(m);
}

/* {"resourceLogs": [a]} and {"resourceLogs": [b]} are {"resourceLogs": [a, b]}. */
bool message_add(struct message *m, const char *line, size_t n)
{
	size_t begin = strlen(kinds[m->kind].begin);

	if (m->kind == MESSAGE_PROFILES || m->packed || m->encoded || !is_kind(m->kind, line, n) ||
		m->body.len + n > MERGED_MAX || strcmp(m->body.data + m->body.len - 2, "]}") != 0 ||
		memcmp(line + n - 2, "]}", 2) != 0)
		return false;
	m->body.len -= 2;
	str_add(&m->body, ", ");
	str_addn(&m->body, line + begin, n - begin);
	return true;
}

void message_encode(struct message *m)
{
	struct str body = {};

	if (m->encoded || m->packed)
		return;
	m->encoded = encode_request(m->kind, m->body.data, m->body.len, &body);
	if (!m->encoded) {
		str_done(&body);
		return;
	}
	str_done(&m->body);
	m->body = body;
}

void message_pack(struct message *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = m->packed ? NULL : open_memstream(&text, &size), *file = memory ? pack_write(PACK_GZIP,
		memory) : NULL;
	bool ok = file && fwrite(m->body.data, 1, m->body.len, file) == m->body.len;

	if (file)
		ok &= !fclose(file);
	if (memory)
		ok &= !fclose(memory);
	if (ok) {
		str_done(&m->body);
		m->body = (struct str){.data = TAKE(text), .len = size, .cap = size};
		m->packed = true;
	}
	free(text);
}
