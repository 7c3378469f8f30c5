// SPDX-License-Identifier: Apache-2.0
/* string.c - str(), buf(), and functions on strings. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"
#include "model/request.h"

static bool has_no_text(const struct type *t)
{
	return t->kind != TYPE_STRING && t->kind != TYPE_POINTER && t->kind != TYPE_ARRAY && t->kind != TYPE_INT;
}

/* Returns the room after the bytes that are kept. One more byte is read, to find out whether the string was
 * longer. */
static uint32_t trailer_room(const char *trailer)
{
	return *trailer ? (uint32_t)strlen(trailer) : 1;
}

static const struct type *check_str(struct check *c, struct expr *call)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	const struct settings *settings = &check_request(c)->settings;
	uint32_t room = trailer_room(settings->str_trunc_trailer) + 1, max = TYPE_STRING_MAX - room, size;
	int64_t n;

	if (settings->max_strlen < max)
		max = (uint32_t)settings->max_strlen;
	n = max;
	if (len && expr_is_const(len, &n) && n < 0)
		return check_fail(c, len->span, DIAG_RANGE,
			"str() reads at least 0 bytes, not %lld", (long long)n);
	/* A string that max_strlen cuts gets the trailer after its last byte. */
	call->call.data = (void *)settings->str_trunc_trailer;
	size = len && expr_is_const(len, &n) && n <= max ? (uint32_t)n + 1 : max + room;
	expr_param_as_string(c, arg);
	if (has_no_text(arg->type))
		return check_fail(c, arg->span, DIAG_OPERAND, "str() reads a string at an address, not %s",
			type_name(check_arena(c), arg->type));
	if (arg->type->kind == TYPE_STRING && arg->type->size <= size)
		return arg->type;
	return type_string(check_arena(c), size);
}

/* Returns the number of bytes that str() reads, including the NUL; at most max. */
static struct ir *length(struct gen *g, struct expr *len, uint32_t max)
{
	if (len->kind == EXPR_INT)
		return ir_int(g->ir, len->integer.value < max ? len->integer.value : max);
	return gen_index(g, gen_value(g, len), max + 1);
}

/* Cuts a string for str(). The bytes after its end are zero, since whole keys are compared. The LENGTH of a
 * literal does not count a NUL, as in bpftrace. */
static struct ir *shorten(struct gen *g, struct expr *call, struct ir *dst)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	struct ir *n, *from;

	if (!len || (len->kind == EXPR_INT && (arg->kind == EXPR_STRING || len->integer.value >= arg->type->size))) {
		gen_into(g, arg, call->type, dst, 0);
		return dst;
	}
	from = gen_value(g, arg);
	n = length(g, len, call->type->size);
	gen_zero(g, dst, call->type->size);
	gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, n, from);
	return dst;
}

/* n is the length that was read, at most one byte more than is kept. If that many were read, the string is
 * cut. */
static void mark_cut(struct gen *g, struct ir *dst, struct ir *n, uint32_t kept, const char *trailer)
{
	struct ir_block *cut = ir_block(g->ir, "cut"), *end = ir_block(g->ir, "whole");

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, n, ir_int(g->ir, kept + 2)), cut, end);
	ir_at(g->ir, cut);
	for (uint32_t i = 0; i <= strlen(trailer); i++)
		ir_store(g->ir, dst, kept + i, 1, ir_int(g->ir, (unsigned char)trailer[i]));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

static struct ir *gen_str(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	const char *trailer = call->call.data;
	uint32_t size = call->type->size, kept = size - trailer_room(trailer);
	struct ir *dst = into ? into : gen_mem(g, size), *addr, *n;
	bool limited = len && len->kind == EXPR_INT && len->integer.value + 1 == size;

	if (arg->type->kind == TYPE_STRING)
		return shorten(g, call, dst);
	addr = gen_value(g, arg);
	if (limited || (len && len->kind != EXPR_INT))
		n = length(g, len, limited ? size : kept);
	else
		n = ir_int(g->ir, kept + 1);
	gen_zero(g, dst, size);
	n = gen_read(g, arg->type->kind == TYPE_POINTER ? arg->type->pointer.space : SPACE_ANY, true, dst, n,
		addr);
	if (!len || (len->kind == EXPR_INT && !limited))
		mark_cut(g, dst, n, kept - 1, trailer);
	return dst;
}

/* ---- buf ---------------------------------------------------------------- */

static bool is_bytes(const struct type *t)
{
	return t->kind == TYPE_STRING || t->kind == TYPE_ARRAY || t->kind == TYPE_BUFFER;
}

static const struct type *check_buf(struct check *c, struct expr *call)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	int64_t max = (int64_t)check_request(c)->settings.max_strlen, n;

	if (!is_bytes(arg->type) && arg->type->kind != TYPE_POINTER && arg->type->kind != TYPE_INT)
		return check_fail(c, arg->span, DIAG_ARG_TYPE, "buf() takes an address, an array or a string, "
			"not %s", type_name(check_arena(c), arg->type));
	n = max = max < TYPE_BUFFER_MAX ? max : TYPE_BUFFER_MAX;
	if (is_bytes(arg->type) && type_text_bytes(arg->type) < max)
		n = max = arg->type->kind == TYPE_BUFFER ? arg->type->size - 4 : type_text_bytes(arg->type);
	if (len)
		expr_is_const(len, &n);
	if (n < 1 || n > TYPE_BUFFER_MAX)
		return check_fail(c, len ? len->span : call->span, DIAG_RANGE, "buf() reads 1 to %d bytes, not %lld",
			TYPE_BUFFER_MAX, (long long)n);
	return type_buffer(check_arena(c), (uint32_t)(n < max || !is_bytes(arg->type) ? n : max));
}

static struct ir *gen_buf(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	const struct type *t = arg->type;
	uint32_t room = call->type->size - 4;
	struct ir *dst = into ? into : gen_mem(g, call->type->size), *data, *n;
	bool known = !len || len->kind == EXPR_INT;

	n = known ? ir_int(g->ir, len && len->integer.value < room ? len->integer.value :
		is_bytes(t) && t->kind != TYPE_BUFFER && type_text_bytes(t) < room ? type_text_bytes(t) : room) :
		gen_index(g, gen_value(g, len), room + 1);
	gen_zero(g, dst, call->type->size);
	data = ir_offset(g->ir, dst, 4);
	if (t->kind == TYPE_BUFFER)
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, data, n, ir_offset(g->ir, gen_value(g, arg), 4));
	else if (is_bytes(t))
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, data, n, gen_bytes(g, arg));
	else
		gen_read(g, t->kind == TYPE_POINTER ? t->pointer.space : SPACE_ANY, false, data, n,
			gen_value(g, arg));
	ir_store(g->ir, dst, 0, 4, n);
	return dst;
}

/* ---- strlen, strncmp, str_concat, strcap -------------------------------- */

static struct ir *gen_strlen(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_text_len(g, call_arg(call, 0));
}

static struct ir *gen_strcap(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_int(g->ir, type_text_bytes(call_arg(call, 0)->type));
}

static const struct type *check_strncmp(struct check *c, struct expr *call)
{
	struct expr *n = call_arg(call, 2);
	int64_t v = 0;

	if (expr_is_const(n, &v) && v < 0)
		return check_fail(c, n->span, DIAG_RANGE, "strncmp() compares at least 0 bytes, not %lld",
			(long long)v);
	return NULL;
}

/* Returns 0 for equal strings and 1 for others, as bpftrace does. */
static struct ir *gen_strncmp(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *a = call_arg(call, 0), *b = call_arg(call, 1);
	uint64_t n = call_arg(call, 2)->integer.value;
	struct ir *differ = gen_text_differ(g, a, b, n > TYPE_STRING_MAX ? TYPE_STRING_MAX : (uint32_t)n);

	return ir_compare(g->ir, IR_NE, differ, ir_int(g->ir, 0));
}

static const struct type *check_str_concat(struct check *c, struct expr *call)
{
	uint32_t size = call_arg(call, 0)->type->size + call_arg(call, 1)->type->size - 1;

	if (size > TYPE_STRING_MAX)
		return check_fail(c, call->span, DIAG_RANGE, "a string has at most %u bytes, these have %u",
			TYPE_STRING_MAX, size);
	return type_string(check_arena(c), size);
}

static struct ir *gen_str_concat(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_text_join(g, call_arg(call, 0), call_arg(call, 1), call->type, into);
}

static const struct type *check_default_length(struct check *c, struct expr *call)
{
	check_becomes_int(call, check_request(c)->settings.max_strlen);
	return type_uint64;
}

const struct builtin builtins_string[] = {
	{
		.name = "buf",
		.sig = "any [int] -> special",
		.help = "LENGTH bytes at an address, or of an array or string",
		.check = check_buf,
		.gen = gen_buf,
	},
	{
		.name = "default_str_length",
		.sig = " -> special",
		.help = "the most bytes that str() reads: max_strlen",
		.flags = BUILTIN_VAR,
		.check = check_default_length,
	},
	{
		.name = "str",
		.sig = "any [int] -> special",
		.help = "the string at an address, of at most LENGTH bytes including the NUL",
		.check = check_str,
		.gen = gen_str,
	},
	{
		.name = "str_concat",
		.sig = "string string -> special",
		.help = "both strings, one after the other",
		.check = check_str_concat,
		.gen = gen_str_concat,
	},
	{
		.name = "strcap",
		.sig = "string -> uint64",
		.help = "size of a string's memory in bytes, including the NUL",
		.gen = gen_strcap,
	},
	{
		.name = "strlen",
		.sig = "string -> uint64",
		.help = "length of a string",
		.gen = gen_strlen,
	},
	{
		.name = "strncmp",
		.sig = "string string literal -> int64",
		.help = "0 if the first LENGTH bytes of two strings are equal, else 1",
		.check = check_strncmp,
		.gen = gen_strncmp,
	},
	BUILTINS_END,
};
