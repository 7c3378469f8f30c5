// SPDX-License-Identifier: Apache-2.0
/* format.c - functions with a format and values, such as printf(). */
#include <linux/bpf.h>
#include <string.h>

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

/* ---- debugf ------------------------------------------------------------- */

enum { TRACE_ARGS = 3 };

/* Reads a conversion that bpf_trace_printk() takes (bpf_bprintf_prepare(), kernel/trace/bpf_trace.c):
 * %[flags][width][l|ll](d i u x X p), %s. p is after the %. Returns the conversion's letter, or NULL for
 * other conversions. */
static const char *trace_conversion(const char *p)
{
	p += strspn(p, "0-+ ");
	p += strspn(p, "0123456789");
	for (int i = 0; i < 2 && *p == 'l'; i++)
		p++;
	return *p && strchr("diuxXps", *p) ? p : NULL;
}

static const struct type *check_debugf(struct check *c, struct expr *call)
{
	struct expr *fmt = call_arg(call, 0), *arg = fmt->next;

	if (!check_format(c, fmt, arg))
		return type_bad;
	if (call->call.nargs > TRACE_ARGS + 1)
		return check_fail(c, fmt->span, DIAG_FORMAT, "the kernel prints at most %d values at once",
			TRACE_ARGS);
	for (const char *p = fmt->string.text; (p = strchr(p, '%')); p++) {
		if (*++p == '%')
			continue;
		p = trace_conversion(p);
		if (!p)
			return check_fail(c, fmt->span, DIAG_FORMAT, "the kernel prints %%d %%u %%x %%p and %%s, "
				"with a width and l or ll, and nothing else");
		if (*p == 's' && arg->type->kind != TYPE_STRING)
			return check_fail(c, arg->span, DIAG_FORMAT, "the kernel's %%s prints strings, not %s",
				type_name(check_arena(c), arg->type));
		arg = arg->next;
	}
	return type_none;
}

static struct ir *gen_debugf(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *fmt = call_arg(call, 0);
	struct ir *args[2 + TRACE_ARGS] = {gen_mem(g, fmt->type->size), ir_int(g->ir, fmt->type->size)};
	unsigned n = 2;

	gen_into(g, fmt, fmt->type, args[0], 0);
	for (struct expr *arg = fmt->next; arg; arg = arg->next)
		args[n++] = gen_value(g, arg);
	ir_helper(g->ir, BPF_FUNC_trace_printk, args, n);
	return NULL;
}

const struct builtin builtins_format[] = {
	{
		.name = "cat",
		.sig = "format ... -> none",
		.help = "print a file, named by a format; at most max_cat_bytes",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_printf,
		.gen = gen_cat,
	},
	{
		.name = "debugf",
		.sig = "format ... -> none",
		.help = "print formatted text to the kernel's trace_pipe; at most 3 values",
		.flags = BUILTIN_STMT,
		.check = check_debugf,
		.gen = gen_debugf,
	},
	{
		.name = "errorf",
		.sig = "format ... -> none",
		.help = "print a formatted error to stderr, with its place in the script",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_printf,
		.gen = gen_errorf,
	},
	{
		.name = "printf",
		.sig = "format ... -> none",
		.help = "print formatted text",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_printf,
		.gen = gen_printf,
	},
	{
		.name = "system",
		.sig = "format ... -> none",
		.help = "run a shell command, made by a format, and print its output",
		.flags = BUILTIN_STMT | BUILTIN_RECORD | BUILTIN_UNSAFE,
		.check = check_printf,
		.gen = gen_system,
	},
	{
		.name = "warnf",
		.sig = "format ... -> none",
		.help = "print a formatted warning to stderr, with its place in the script",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_printf,
		.gen = gen_warnf,
	},
	BUILTINS_END,
};
