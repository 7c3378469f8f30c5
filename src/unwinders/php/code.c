// SPDX-License-Identifier: Apache-2.0
/* code.c - functions of PHP by id: name, class and file.
 *
 * All data comes from a process's memory: sizes are checked, strings are cut. bpf/lang/php.h describes the layouts. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "php.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

#define CODES_MAX (1 << 20)

struct php_code {
	char *name; /* Class::function */
	char *file; /* NULL: an internal function */
};

struct php_codes {
	struct idmap by_id; /* struct php_code * */
};

/* ---- the store ---- */

struct php_codes *php_codes_new(void)
{
	return calloc(1, sizeof(struct php_codes));
}

static void code_free(struct php_code *c)
{
	free(c->name);
	free(c->file);
	free(c);
}

void php_codes_free(struct php_codes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->by_id.cap; i++)
		if (c->by_id.slot[i].key)
			code_free((void *)(uintptr_t)c->by_id.slot[i].value);
	idmap_done(&c->by_id);
	free(c);
}

/* The names in PHP's backtraces. ORDER PHP_ENTRY */
static const char *const entry_names[] = {
	"", "{main}", "eval", "include", "include_once", "require", "require_once",
};

/* An anonymous class is named "class@anonymous", then NUL and its place. */
static char *full_name(const struct php_code_record *r)
{
	const char *name = (const char *)r->name, *class = (const char *)r->class;
	struct str s = {};

	str_add(&s, entry_names[r->entry]);
	str_addn(&s, class, strnlen(class, r->class_size));
	if (r->class_size)
		str_add(&s, "::");
	str_addn(&s, name, strnlen(name, r->name_size));
	return s.data;
}

static void add(struct php_codes *c, const struct php_code_record *r)
{
	struct php_code *code;

	if (!r->code || idmap_pointer(&c->by_id, r->code) || c->by_id.n >= CODES_MAX)
		return;
	code = calloc(1, sizeof(*code));
	if (!code)
		return;
	code->name = full_name(r);
	if (r->file_size)
		code->file = strndup((const char *)r->file, r->file_size);
	idmap_set(&c->by_id, r->code, (uintptr_t)code);
}

void php_codes_record(struct php_codes *c, const struct php_code_record *r, size_t size)
{
	size_t head = offsetof(struct php_code_record, file);

	if (size < head || (r->flags & PHP_UNREADABLE) || r->entry >= ARRAY_SIZE(entry_names) ||
		r->name_size > PHP_NAME_MAX || r->class_size > PHP_NAME_MAX || r->file_size > size - head)
		return;
	add(c, r);
}

bool php_codes_name(const struct php_codes *c, uint64_t frame, struct frame_name *ret)
{
	uint64_t id = frame >> 20 & ((1ULL << PHP_CODE_BITS) - 1);
	const struct php_code *code = idmap_pointer(&c->by_id, id);

	*ret = (struct frame_name){ .lang = FRAME_LANG_PHP };
	if (!code)
		return false;
	ret->name = code->name;
	ret->file = code->file;
	ret->line = code->file ? frame & 0xfffff : 0;
	return true;
}

/* ---- reading a process ---- */

struct reader {
	php_read_fn read;
	void *arg;
};

static bool read_at(const struct reader *r, uint64_t addr, void *buf, size_t size)
{
	return !r->read(r->arg, addr, buf, size);
}

/* zend_string: len at 16, val at 24. str 0 is empty. */
static bool read_str(const struct reader *r, uint64_t str, void *out, uint32_t max, uint32_t *ret_size)
{
	uint64_t size;

	*ret_size = 0;
	if (!str)
		return true;
	if (!read_at(r, str + 16, &size, sizeof(size)))
		return false;
	*ret_size = size > max ? max : (uint32_t)size;
	return read_at(r, str + 24, out, *ret_size);
}

/* zend_function: type at 0, function_name at 8, scope at 16; zend_class_entry: name at 8. */
void php_codes_read(struct php_codes *c, const struct php_code_record *r, const struct php_layout *at,
	php_read_fn read, void *arg)
{
	struct reader reader = { read, arg };
	_cleanup_(freep) struct php_code_record *out = calloc(1, sizeof(*out));
	uint64_t head[3], class = 0, file = 0;

	if (!out || r->entry >= ARRAY_SIZE(entry_names) || !read_at(&reader, r->addr, head, sizeof(head)))
		return;
	out->code = r->code;
	out->entry = r->entry;
	if (head[1] && head[2] && !read_at(&reader, head[2] + 8, &class, sizeof(class)))
		return;
	if ((uint8_t)head[0] != 1 && !read_at(&reader, r->addr + at->filename, &file, sizeof(file)))
		return;
	if (read_str(&reader, head[1], out->name, PHP_NAME_MAX, &out->name_size) &&
		read_str(&reader, class, out->class, PHP_NAME_MAX, &out->class_size) &&
		read_str(&reader, file, out->file, PHP_FILE_MAX, &out->file_size))
		add(c, out);
}
