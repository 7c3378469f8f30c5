// SPDX-License-Identifier: Apache-2.0
/* search.c - compares bytes, and searches for a text in another text. */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/find.h"

/* ---- strstr, strcontains ------------------------------------------------ */

static const struct type *check_search(struct check *c, struct expr *call)
{
	static const uint32_t most[] = {FIND_TEXT, FIND_WANTED};

	for (unsigned i = 0; i < 2; i++) {
		struct expr *arg = call_arg(call, i);

		if (arg->type->size > most[i])
			return check_fail(c, arg->span, DIAG_RANGE, "%s() takes at most %u bytes here, not %u",
				call->call.name, most[i] - 1, arg->type->size - 1);
	}
	return NULL;
}

/* Returns the position of the second text in the first, or less than 0 if it is not there. */
static struct ir *find(struct gen *g, struct expr *call)
{
	static const char *const params[] = {"find_req"};
	static const uint32_t sizes[] = {sizeof(struct find_req)};
	struct expr *text = call_arg(call, 0), *wanted = call_arg(call, 1);
	struct ir *req;

	if (g->opt->no_loops)
		diag(g->opt->diags, call->span, DIAG_CONTEXT, "%s() needs bpf_loop(), which the kernel has from Linux "
			"5.17 on", call->call.name);
	req = gen_mem(g, sizeof(struct find_req));
	gen_into(g, text, text->type, req, offsetof(struct find_req, text));
	gen_into(g, wanted, wanted->type, req, offsetof(struct find_req, wanted));
	return gen_library(g, "find_text", params, sizes, &req, 1);
}

static struct ir *gen_strstr(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_resize(g->ir, find(g, call), 4, true);
}

static struct ir *gen_strcontains(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *at = ir_resize(g->ir, find(g, call), 4, true);

	return ir_compare(g->ir, IR_SGE, at, ir_int(g->ir, 0));
}

/* ---- memcmp ------------------------------------------------------------- */

enum { LENGTH = 4 }; /* bytes in a buffer before its data */

static uint32_t bytes_of(const struct type *t)
{
	return t->kind == TYPE_BUFFER ? t->size - LENGTH : t->size;
}

static const struct type *check_memcmp(struct check *c, struct expr *call)
{
	struct expr *n = call_arg(call, 2);
	int64_t v = 0;

	for (unsigned i = 0; i < 2; i++)
		if (type_has_ids(call_arg(call, i)->type) || call_arg(call, i)->type->kind == TYPE_AGG)
			return check_fail(c, call_arg(call, i)->span, DIAG_ARG_TYPE, "memcmp() compares bytes, not %s",
				type_name(check_arena(c), call_arg(call, i)->type));
	if (expr_is_const(n, &v) && v < 0)
		return check_fail(c, n->span, DIAG_RANGE, "memcmp() compares at least 0 bytes, not %lld", (long long)v);
	return type_int32;
}

static struct ir *bytes(struct gen *g, struct expr *n)
{
	struct ir *p = gen_bytes(g, n);

	return n->type->kind == TYPE_BUFFER ? ir_offset(g->ir, p, LENGTH) : p;
}

static struct ir *gen_memcmp(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *a = call_arg(call, 0), *b = call_arg(call, 1);
	uint64_t n = call_arg(call, 2)->integer.value;
	uint32_t na = bytes_of(a->type), nb = bytes_of(b->type), max = na < nb ? na : nb;
	struct ir *pa = bytes(g, a), *pb = bytes(g, b);

	return gen_bytes_differ(g, pa, pb, n < max ? (uint32_t)n : max);
}

/* ---- pton --------------------------------------------------------------- */

/* Keeps the bytes for .gen. */
static const struct type *check_pton(struct check *c, struct expr *call)
{
	struct expr *text = call_arg(call, 0);
	uint8_t *addr = arena_new_array(check_arena(c), uint8_t, 16);
	bool is_v6 = strchr(text->string.text, ':');

	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, text->string.text, addr) != 1)
		return check_fail(c, text->span, DIAG_ARG_TYPE, "%s is no address of IPv4 or IPv6", text->string.text);
	call->call.data = addr;
	return type_array(check_arena(c), type_uint8, is_v6 ? 16 : 4);
}

static struct ir *gen_pton(struct gen *g, struct expr *call, struct ir *into)
{
	const uint8_t *addr = call->call.data;
	struct ir *dst = into ? into : gen_mem(g, call->type->size);

	for (uint32_t i = 0; i < call->type->size; i++)
		ir_store(g->ir, dst, i, 1, ir_int(g->ir, addr[i]));
	return dst;
}

const struct builtin builtins_search[] = {
	{
		.name = "memcmp",
		.sig = "any any literal -> special",
		.help = "0 if the first LENGTH bytes of two values are equal, else the first difference",
		.check = check_memcmp,
		.gen = gen_memcmp,
	},
	{
		.name = "pton",
		.sig = "format -> special",
		.help = "an IP address as 4 or 16 bytes",
		.check = check_pton,
		.gen = gen_pton,
	},
	{
		.name = "strcontains",
		.sig = "string string -> bool",
		.help = "whether the first string contains the second",
		.check = check_search,
		.gen = gen_strcontains,
	},
	{
		.name = "strstr",
		.sig = "string string -> int64",
		.help = "position of the second string in the first, from 0; -2 if the first does not contain it",
		.check = check_search,
		.gen = gen_strstr,
	},
	BUILTINS_END,
};
