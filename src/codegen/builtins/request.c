// SPDX-License-Identifier: Apache-2.0
/* request.c - builtins for the request that a thread works on: see bpf/lib/request.h. Values are read when they
 * are used; the thread cannot change them while its event is handled. */
#include <stddef.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/request.h"

#define SERVICE_NAME "service.name" /* OpenTelemetry's semantic conventions 1.37, resource attributes */

static uint64_t hash_of(const char *name)
{
	uint64_t h = REQUEST_HASH_SEED;

	for (; *name; name++)
		h = REQUEST_HASH(h, (uint8_t)*name);
	return h;
}

static struct ir *copy_to(struct gen *g, struct expr *call, struct ir *from, struct ir *into)
{
	if (into)
		gen_copy(g, into, from, call->type->size);
	return into ? into : from;
}

/* ---- ids ------------------------------------------------------------------ */

static struct ir *ask_ids(struct gen *g)
{
	static const char *const params[] = {"request_ids", "int"};
	static const uint32_t sizes[] = {sizeof(struct request_ids), 0};
	struct ir *args[] = {gen_mem(g, sizeof(struct request_ids)), gen_slot(g)};

	gen_library(g, "request_ids", params, sizes, args, 2);
	g->img->requests = true;
	return args[0];
}

static struct ir *gen_trace_id(struct gen *g, struct expr *call, struct ir *into)
{
	return copy_to(g, call, ir_offset(g->ir, ask_ids(g), offsetof(struct request_ids, trace)), into);
}

static struct ir *gen_span_id(struct gen *g, struct expr *call, struct ir *into)
{
	return copy_to(g, call, ir_offset(g->ir, ask_ids(g), offsetof(struct request_ids, span)), into);
}

static struct ir *gen_trace_flags(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_load(g->ir, ask_ids(g), offsetof(struct request_ids, flags), 8, false);
}

/* ---- attributes ----------------------------------------------------------- */

static struct ir *ask(struct gen *g, const char *name)
{
	struct ir *req = gen_mem(g, sizeof(struct request_ask));

	ir_store(g->ir, req, offsetof(struct request_ask, hash), 8, ir_int(g->ir, hash_of(name)));
	ir_store(g->ir, req, offsetof(struct request_ask, size), 8, ir_int(g->ir, strlen(name)));
	if (strlen(name) < REQUEST_NAME)
		gen_text(g, name, ir_offset(g->ir, req, offsetof(struct request_ask, name)), REQUEST_NAME);
	g->img->requests = true;
	return req;
}

static struct ir *resource(struct gen *g, struct expr *call, const char *name, struct ir *into)
{
	static const char *const params[] = {"request_ask"};
	static const uint32_t sizes[] = {sizeof(struct request_ask)};
	struct ir *req = ask(g, name);

	gen_library(g, "request_resource", params, sizes, &req, 1);
	return copy_to(g, call, ir_offset(g->ir, req, offsetof(struct request_ask, text)), into);
}

static struct ir *gen_resource(struct gen *g, struct expr *call, struct ir *into)
{
	return resource(g, call, call_arg(call, 0)->string.text, into);
}

static struct ir *gen_service(struct gen *g, struct expr *call, struct ir *into)
{
	return resource(g, call, SERVICE_NAME, into);
}

static struct ir *gen_label(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"request_ask", "int"};
	static const uint32_t sizes[] = {sizeof(struct request_ask), 0};
	struct ir *args[] = {ask(g, call_arg(call, 0)->string.text), gen_slot(g)};

	gen_library(g, "request_label", params, sizes, args, 2);
	return copy_to(g, call, ir_offset(g->ir, args[0], offsetof(struct request_ask, text)), into);
}

const struct builtin builtins_request[] = {
	{
		.name = "label",
		.sig = "format -> string[128]",
		.help = "the label with this key of the thread's request, \"\" if it has none",
		.gen = gen_label,
	},
	{
		.name = "resource",
		.sig = "format -> string[128]",
		.help = "the OpenTelemetry resource attribute of the process with this key, \"\" if it has none",
		.gen = gen_resource,
	},
	{
		.name = "service",
		.sig = " -> string[128]",
		.help = "the name of the service that the process is part of, \"\" if it has none",
		.flags = BUILTIN_VAR,
		.gen = gen_service,
	},
	{
		.name = "span_id",
		.sig = " -> string[17]",
		.help = "the span that the thread works on, 16 hex digits, \"\" if there is none",
		.flags = BUILTIN_VAR,
		.gen = gen_span_id,
	},
	{
		.name = "trace_flags",
		.sig = " -> uint8",
		.help = "the W3C flags of the trace that the thread works on, or 0",
		.flags = BUILTIN_VAR,
		.gen = gen_trace_flags,
	},
	{
		.name = "trace_id",
		.sig = " -> string[33]",
		.help = "the trace (request) that the thread works on, 32 hex digits, \"\" if there is none",
		.flags = BUILTIN_VAR,
		.gen = gen_trace_id,
	},
	BUILTINS_END,
};
