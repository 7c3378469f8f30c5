// SPDX-License-Identifier: Apache-2.0
/* assert.c - assertions of the script, when it runs and when it is compiled. */
#include <string.h>

#include "builtins.h"

#include "base/owner.h"
#include "base/str.h"

/* ---- assert ------------------------------------------------------------- */

static const struct type *check_assert(struct check *c, struct expr *call)
{
	struct expr *test = call_arg(call, 0);
	enum type_kind k = test->type->kind;

	if (k == TYPE_INT || k == TYPE_BOOL || k == TYPE_POINTER || k == TYPE_STRING || k == TYPE_KSYM)
		return type_none;
	return check_fail(c, test->span, DIAG_OPERAND, "%s is neither true nor false",
		type_name(check_arena(c), test->type));
}

static struct ir *gen_assert(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir_block *failed = ir_block(g->ir, "assert"), *holds = ir_block(g->ir, "holds");
	struct expr *code = arena_new_obj(g->arena, struct expr);
	struct image_record *r;

	*code = (struct expr){.kind = EXPR_INT, .span = call->span, .type = type_int64, .integer.value = 1};
	ir_branch(g->ir, gen_truth(g, call_arg(call, 0)), holds, failed);
	ir_at(g->ir, failed);
	r = gen_record_new(g, "errorf", call->span);
	r->text = "assert failed: %s";
	r->text_len = strlen(r->text);
	gen_record_send(g, r, call_arg(call, 1));
	gen_record_send(g, gen_record_new(g, "exit", call->span), code);
	gen_stop(g);
	ir_jump(g->ir, holds); /* ends the unreachable code */
	ir_at(g->ir, holds);
	return NULL;
}

/* ---- static_assert ------------------------------------------------------ */

static const struct type *check_static_assert(struct check *c, struct expr *call)
{
	struct expr *test = call_arg(call, 0), *text = call_arg(call, 1);

	if (!check_is_last(c))
		return type_none;
	if (test->kind != EXPR_BOOL && test->kind != EXPR_INT)
		return check_fail(c, test->span, DIAG_OPERAND, "this is not known before the script runs");
	if (test->kind == EXPR_BOOL ? test->boolean : test->integer.value)
		return type_none;
	return check_fail(c, call->span, DIAG_ASSERT, "%s", text->string.text);
}

/* ---- fail --------------------------------------------------------------- */

/* Adds a conversion with its argument, a literal. p is after the %. Returns the end of the conversion. */
static const char *add_literal(const char *p, const char *end, const struct expr *arg, struct str *out)
{
	while (p < end && strchr("-+ #0123456789.*hlLjzt", *p))
		p++;
	if (arg->kind == EXPR_STRING)
		str_addn(out, arg->string.text, arg->string.len);
	else if (arg->kind == EXPR_BOOL)
		str_add(out, arg->boolean ? "true" : "false");
	else if (p < end && (*p == 'x' || *p == 'X' || *p == 'p'))
		str_addf(out, *p == 'p' ? "%#llx" : "%llx", (unsigned long long)arg->integer.value);
	else
		str_addf(out, arg->integer.is_unsigned ? "%llu" : "%lld", (unsigned long long)arg->integer.value);
	return p < end ? p + 1 : p;
}

static const struct type *check_fail_call(struct check *c, struct expr *call)
{
	struct expr *fmt = call_arg(call, 0), *arg = fmt->next;
	const char *p = fmt->string.text, *end = p + fmt->string.len;
	_cleanup_(str_done) struct str text = {};

	for (struct expr *n = arg; n; n = n->next)
		if (n->kind != EXPR_INT && n->kind != EXPR_STRING && n->kind != EXPR_BOOL)
			return check_fail(c, n->span, DIAG_OPERAND, "this is not known before the script runs");
	if (!check_format(c, fmt, arg))
		return type_bad;
	while (p < end)
		if (*p != '%') {
			str_addc(&text, *p++);
		} else if (p + 1 < end && p[1] == '%') {
			str_addc(&text, '%');
			p += 2;
		} else if (arg) {
			p = add_literal(p + 1, end, arg, &text);
			arg = arg->next;
		} else {
			break;
		}
	return check_fail(c, call->span, DIAG_ASSERT, "%s", str_text(&text));
}

static struct ir *gen_nothing(struct gen *g, struct expr *call, struct ir *into)
{
	return NULL;
}

/* ---- assert_str --------------------------------------------------------- */

static const struct type *check_assert_str(struct check *c, struct expr *call)
{
	const struct expr *arg = call_arg(call, 0);
	enum type_kind k = arg->type->kind;

	if (k == TYPE_STRING || k == TYPE_ARRAY || k == TYPE_POINTER)
		return type_none;
	return check_fail(c, arg->span, DIAG_ASSERT, "this must be a string, an array or a pointer, it is %s",
		type_name(check_arena(c), arg->type));
}

const struct builtin builtins_assert[] = {
	{
		.name = "assert",
		.sig = "any string -> none",
		.help = "if a condition is false, print a text as an error and end the script with exit code 1",
		.flags = BUILTIN_STMT,
		.check = check_assert,
		.gen = gen_assert,
	},
	{
		.name = "assert_str",
		.sig = "any -> none",
		.help = "refuse the script unless a value is a string, or an array or pointer that may hold one",
		.flags = BUILTIN_STMT,
		.check = check_assert_str,
		.gen = gen_nothing,
	},
	{
		.name = "fail",
		.sig = "format ... -> none",
		.help = "refuse the script with a formatted text, for branches that must not be compiled",
		.flags = BUILTIN_STMT,
		.check = check_fail_call,
		.gen = gen_nothing,
	},
	{
		.name = "static_assert",
		.sig = "any format -> none",
		.help = "refuse the script with a text if a condition, known before the script runs, is false",
		.flags = BUILTIN_STMT,
		.check = check_static_assert,
		.gen = gen_nothing,
	},
	BUILTINS_END,
};
