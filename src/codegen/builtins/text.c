// SPDX-License-Identifier: Apache-2.0
/* text.c - numbers that userspace prints as text: times, users, errors, signals. */
#include "builtins.h"

#include <linux/bpf.h>

static struct ir *gen_number(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

/* ---- time --------------------------------------------------------------- */

/* Bytes of printf may contain NUL, those of a time's format may not. */
static const struct type *check_time_format(struct check *c, struct expr *fmt)
{
	for (uint32_t i = 0; fmt && i < fmt->string.len; i++)
		if (!fmt->string.text[i])
			return check_fail(c, fmt->span, DIAG_FORMAT, "the format of a time holds no NUL");
	return NULL;
}

static const struct type *check_time(struct check *c, struct expr *call)
{
	return check_time_format(c, call_arg(call, 0));
}

static struct ir *gen_time(struct gen *g, struct expr *call, struct ir *into)
{
	struct image_record *r = gen_record_new(g, "time", call->span);
	struct expr *fmt = call_arg(call, 0);

	r->text = fmt ? fmt->string.text : "%H:%M:%S\n";
	gen_record_send(g, r, NULL);
	return NULL;
}

static const struct type *check_strftime(struct check *c, struct expr *call)
{
	struct expr *fmt = call_arg(call, 0);
	const struct type *t = check_time_format(c, fmt);

	return t ? t : type_shown(check_arena(c), SHOWN_TIME, fmt->string.text);
}

static struct ir *gen_strftime(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 1));
}

/* ---- other texts -------------------------------------------------------- */

static const struct type *check_strerror(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_ERROR, NULL);
}

static const struct type *check_signal_name(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_SIGNAL, NULL);
}

static const struct type *check_syscall_name(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_SYSCALL, NULL);
}

static const struct type *check_username(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_USER, NULL);
}

/* The user is the lower half of bpf_get_current_uid_gid(). */
static struct ir *gen_username(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_binary(g->ir, IR_AND, gen_call(g, BPF_FUNC_get_current_uid_gid, 0),
		ir_int(g->ir, UINT32_MAX));
}

const struct builtin builtins_text[] = {
	{
		.name = "signal_name",
		.sig = "int -> special",
		.help = "the name of a signal",
		.check = check_signal_name,
		.gen = gen_number,
	},
	{
		.name = "strerror",
		.sig = "int -> special",
		.help = "the text of an error number",
		.check = check_strerror,
		.gen = gen_number,
	},
	{
		.name = "strftime",
		.sig = "format int -> special",
		.help = "a time in ns since boot (nsecs), formatted as by strftime(3)",
		.check = check_strftime,
		.gen = gen_strftime,
	},
	{
		.name = "syscall_name",
		.sig = "int -> special",
		.help = "the name of a system call by its number",
		.check = check_syscall_name,
		.gen = gen_number,
	},
	{
		.name = "time",
		.sig = "[format] -> none",
		.help = "print the time, formatted as by strftime(3)",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_time,
		.gen = gen_time,
	},
	{
		.name = "username",
		.sig = " -> special",
		.help = "name of the current user",
		.flags = BUILTIN_VAR,
		.check = check_username,
		.gen = gen_username,
	},
	BUILTINS_END,
};
