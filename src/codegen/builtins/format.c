// SPDX-License-Identifier: Apache-2.0
/* format.c - functions of a format and its values, as printf(). */
#include <linux/bpf.h>

#include "builtins.h"

static const struct type *check_printf(struct check *c, struct expr *call)
{
	struct expr *fmt = call_arg(call, 0);

	return check_format(c, fmt, fmt->next) ? type_none : type_bad;
}

static struct ir *send_format(struct gen *g, struct expr *call, struct image_record *r)
{
	struct expr *fmt = call_arg(call, 0);

	r->text = fmt->string.text;
	r->text_len = fmt->string.len;
	gen_record_send(g, r, fmt->next);
	return NULL;
}

static struct ir *gen_cat(struct gen *g, struct expr *call, struct ir *into)
{
	return send_format(g, call, gen_record_new(g, "cat", call->span));
}

static struct ir *gen_errorf(struct gen *g, struct expr *call, struct ir *into)
{
	return send_format(g, call, gen_record_new(g, "errorf", call->span));
}

static struct ir *gen_printf(struct gen *g, struct expr *call, struct ir *into)
{
	return send_format(g, call, gen_record_new(g, "printf", call->span));
}

static struct ir *gen_system(struct gen *g, struct expr *call, struct ir *into)
{
	return send_format(g, call, gen_record_new(g, "system", call->span));
}

static struct ir *gen_warnf(struct gen *g, struct expr *call, struct ir *into)
{
	return send_format(g, call, gen_record_new(g, "warnf", call->span));
}

const struct builtin builtins_format[] = {
	{
		.name = "cat",
		.sig = "format ... -> none",
		.help = "print a file, whose name is made by a format: at most max_cat_bytes of it",
		.flags = BUILTIN_STMT,
		.check = check_printf,
		.gen = gen_cat,
	},
	{
		.name = "errorf",
		.sig = "format ... -> none",
		.help = "print an error to stderr by a format, with its place in the script",
		.flags = BUILTIN_STMT,
		.check = check_printf,
		.gen = gen_errorf,
	},
	{
		.name = "printf",
		.sig = "format ... -> none",
		.help = "print by a format",
		.flags = BUILTIN_STMT,
		.check = check_printf,
		.gen = gen_printf,
	},
	{
		.name = "system",
		.sig = "format ... -> none",
		.help = "run a shell command, which is made by a format, and print what it writes",
		.flags = BUILTIN_STMT | BUILTIN_UNSAFE,
		.check = check_printf,
		.gen = gen_system,
	},
	{
		.name = "warnf",
		.sig = "format ... -> none",
		.help = "print a warning to stderr by a format, with its place in the script",
		.flags = BUILTIN_STMT,
		.check = check_printf,
		.gen = gen_warnf,
	},
	BUILTINS_END,
};
