// SPDX-License-Identifier: Apache-2.0
/* config.c - `config` returns the settings as a record. */
#include <string.h>

#include "builtins.h"

#include "model/request.h"
#include "parser/settings.h"

enum { SETTINGS_MAX = 64 };

static const struct type *type_of_setting(struct check *c, const struct setting_value *v)
{
	switch (v->kind) {
	case SETTING_NUMBER:
		return type_uint64;
	case SETTING_TRUTH:
		return type_bool;
	case SETTING_TEXT:
		return type_string(check_arena(c), (uint32_t)strlen(v->text) + 1);
	}
	return type_bad;
}

/* Keeps the values for .gen. */
static const struct type *check_config(struct check *c, struct expr *call)
{
	const char **names = arena_new_array(check_arena(c), const char *, SETTINGS_MAX);
	struct setting_value *values = arena_new_array(check_arena(c), struct setting_value, SETTINGS_MAX);
	const struct type *members[SETTINGS_MAX];
	unsigned n = 0;

	for (; n < SETTINGS_MAX && settings_nth(&check_request(c)->settings, n, &values[n]); n++) {
		names[n] = values[n].name;
		members[n] = type_of_setting(c, &values[n]);
	}
	call->call.data = values;
	return type_record(check_arena(c), members, names, n);
}

static struct ir *gen_config(struct gen *g, struct expr *call, struct ir *into)
{
	const struct type *t = call->type;
	const struct setting_value *v = call->call.data;
	struct ir *dst = into ? into : gen_mem(g, t->size);

	gen_zero(g, dst, t->size);
	for (unsigned i = 0; i < t->tuple.n; i++) {
		uint32_t at = t->tuple.offsets[i], size = t->tuple.members[i]->size;

		if (v[i].kind == SETTING_TEXT)
			gen_text(g, v[i].text, ir_offset(g->ir, dst, at), size);
		else
			ir_store(g->ir, dst, at, size, ir_int(g->ir, v[i].number));
	}
	return dst;
}

const struct builtin builtins_config[] = {
	{
		.name = "config",
		.sig = " -> special",
		.help = "the settings, as a record: config.max_strlen",
		.flags = BUILTIN_VAR,
		.check = check_config,
		.gen = gen_config,
	},
	BUILTINS_END,
};
