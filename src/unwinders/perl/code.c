// SPDX-License-Identifier: Apache-2.0
/* code.c - Perl's subs by id: package, name and file. The line is in the frame. All data comes from a process's memory:
 * sizes are checked, strings are cut. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "perl.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

enum { CODES_MAX = 1 << 20 };

struct perl_code {
	char *name, *file;
};

struct perl_codes {
	struct idmap by_id; /* struct perl_code * */
};

struct perl_codes *perl_codes_new(void)
{
	return calloc(1, sizeof(struct perl_codes));
}

static void code_free(struct perl_code *c)
{
	free(c->name);
	free(c->file);
	free(c);
}

void perl_codes_free(struct perl_codes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->by_id.cap; i++)
		if (c->by_id.slot[i].key)
			code_free((void *)(uintptr_t)c->by_id.slot[i].value);
	idmap_done(&c->by_id);
	free(c);
}

/* Adds a part of a name, which Perl keeps as UTF-8 or as Latin-1. A cut one may end within a character. */
static void add_part(struct str *s, const char *text, uint32_t size)
{
	if (size == PERL_NAME_MAX || str_is_utf8(text, size)) {
		str_addn(s, text, size);
		return;
	}
	for (uint32_t i = 0; i < size; i++)
		str_add_char(s, (uint8_t)text[i]);
}

/* Returns the name of the record's kind, to be free()d. */
static char *make_name(const struct perl_code_record *r)
{
	static const char *const names[PERL_KINDS] = { [PERL_MAIN] = "(main)", [PERL_EVAL] = "(eval)",
		[PERL_REQUIRE] = "(require)", [PERL_SORT] = "(sort)" };
	struct str s = {};

	if (r->kind != PERL_SUB)
		return strdup(names[r->kind]);
	if (r->package_size) {
		add_part(&s, (const char *)r->package, r->package_size);
		str_add(&s, "::");
	}
	if (r->name_size)
		add_part(&s, (const char *)r->name, r->name_size);
	else /* a sub without a name, or whose glob was freed */
		str_add(&s, "__ANON__");
	return s.data;
}

void perl_codes_record(struct perl_codes *c, const struct perl_code_record *r, size_t size)
{
	size_t head = offsetof(struct perl_code_record, file);
	struct perl_code *code;

	if (size < head || (r->flags & PERL_UNREADABLE) || r->kind >= PERL_KINDS || r->name_size > PERL_NAME_MAX ||
		r->package_size > PERL_NAME_MAX || r->file_size > size - head || !r->code ||
		idmap_pointer(&c->by_id, r->code) || c->by_id.n >= CODES_MAX)
		return;
	code = calloc(1, sizeof(*code));
	if (!code)
		return;
	code->name = make_name(r);
	code->file = strndup((const char *)r->file, r->file_size);
	idmap_set(&c->by_id, r->code, (uintptr_t)code);
}

bool perl_codes_name(const struct perl_codes *c, uint64_t frame, struct frame_name *ret)
{
	uint64_t id = frame >> 20 & ((1ULL << PERL_CODE_BITS) - 1);
	const struct perl_code *code = idmap_pointer(&c->by_id, id);

	*ret = (struct frame_name){ .lang = FRAME_LANG_PERL };
	if (!code)
		return false;
	ret->name = code->name;
	ret->file = code->file;
	ret->line = frame & 0xfffff;
	return true;
}
