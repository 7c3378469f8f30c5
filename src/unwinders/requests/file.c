// SPDX-License-Identifier: Apache-2.0
/* file.c - finds the thread-local variables of requests, and the place of Go's labels, in an ELF file. */
#include <elf.h>
#include <string.h>

#include "requests.h"
#include "target/elf.h"
#include "tls.h"
#include "unwinders/go/goid.h"

static const char *const names[REQUEST_VARIABLES] = {
	[REQUEST_RECORD] = "otel_thread_ctx_v1",
	[REQUEST_NODE] = "otel_thread_ctx_nodejs_v1",
	[REQUEST_LABELS] = "custom_labels_current_set",
};

/* A Node object has the record's address behind its fields for the embedder. V8 12 (Node 22) has one word less before
 * them. Seen with @datadog/pprof 5.20.0, which does not publish the offset. */
enum { NODE_RECORD = 32, NODE_RECORD_V8_12 = 24 };

static uint32_t node_record(struct elf *e)
{
	struct elf_symbol major;
	uint32_t version = 0;
	const uint8_t *p;

	if (!elf_symbol_named(e, "_ZN2v88internal7Version6major_E", &major))
		return 0;
	p = elf_at(e, major.vaddr, sizeof(version));
	if (!p)
		return 0;
	memcpy(&version, p, sizeof(version));
	return version <= 12 ? NODE_RECORD_V8_12 : NODE_RECORD;
}

bool request_file_find(struct elf *e, struct request_file *ret)
{
	struct go_labels go;
	bool has = false;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < REQUEST_VARIABLES; i++)
		has |= tls_find(e, names[i], &ret->variable[i]);
	ret->node_record = node_record(e);
	if (go_labels_find(e, &go))
		ret->go = (struct request_go){.tls = go.tls, .curg = go.curg, .labels = go.labels, .is_map = go.is_map};
	return has || ret->go.curg || ret->node_record;
}
