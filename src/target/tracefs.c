// SPDX-License-Identifier: Apache-2.0
/* tracefs.c - the kernel's tracepoints and the layouts of their records. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/priv.h"

#define TRACEFS "/sys/kernel/tracing"
#define DEBUGFS "/sys/kernel/debug/tracing"

/* Returns 0 on success, -EACCES if tracefs is mounted there but not readable for strata, another -errno on
 * other failures. */
static int look_for_events(struct target *t, const char *dir)
{
	_cleanup_(closep) int fd = target_openat(t, arena_printf(t->arena, "%s/events", dir),
		O_RDONLY | O_DIRECTORY);

	return fd < 0 ? fd : 0;
}

static bool has(struct target *t, const char *dir, const char *name)
{
	_cleanup_(closep) int fd = strchr(name, '/') ? -1 :
		target_openat(t, arena_printf(t->arena, "%s/%s", dir, name), O_PATH | O_DIRECTORY);

	return fd >= 0;
}

const char *target_tracefs(struct target *t)
{
	int r, debug = 0;

	if (t->tracefs || t->no_tracefs)
		return t->tracefs;
	r = look_for_events(t, TRACEFS);
	if (r && !(debug = look_for_events(t, DEBUGFS)))
		return t->tracefs = DEBUGFS;
	if (r == -ENOENT && target_is_live(t) && !mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		r = 0;
	if (!r)
		return t->tracefs = TRACEFS;
	t->no_tracefs = r == -EACCES || debug == -EACCES ? -EACCES : -ENOENT;
	return NULL;
}

bool target_tracefs_is_closed(struct target *t)
{
	return !target_tracefs(t) && t->no_tracefs == -EACCES;
}

/* A name without '*' needs no search, only a check that it exists. */
static const char *const *matching(struct target *t, const char *dir, const char *pattern)
{
	struct strings found = {};

	if (strchr(pattern, '*'))
		target_list(t, dir, DT_DIR, pattern, &found);
	else if (*pattern && *pattern != '.' && has(t, dir, pattern))
		strings_add(t, &found, pattern);
	return strings_done(t, &found);
}

const char *const *target_events(struct target *t, const char *category, const char *name)
{
	const char *tracefs = target_tracefs(t);
	const char *dir = tracefs ? arena_printf(t->arena, "%s/events", tracefs) : NULL;
	const char *const *categories = dir ? matching(t, dir, category) : (const char *const[]){NULL};
	struct strings found = {};

	for (; *categories; categories++) {
		const char *const *names;

		if (!strcmp(*categories, "ftrace")) /* formats of ftrace's own records, which are not tracepoints */
			continue;
		names = matching(t, arena_printf(t->arena, "%s/%s", dir, *categories), name);

		for (; *names; names++)
			strings_add(t, &found, arena_printf(t->arena, "%s:%s", *categories, *names));
	}
	strings_sort(&found);
	return strings_done(t, &found);
}

/* Reads "field:char comm[16];\toffset:8;\tsize:16;\tsigned:0;". */
static bool parse_field(struct target *t, char *line, struct trace_field *f)
{
	char *decl = strstr(line, "field:"), *end, *name, *bracket;
	unsigned offset, size, is_signed;

	if (!decl || !(end = strchr(decl, ';')))
		return false;
	if (sscanf(end, "; offset:%u; size:%u; signed:%u;", &offset, &size, &is_signed) != 3)
		return false;
	*end = '\0';
	decl += strlen("field:");
	*f = (struct trace_field){ .offset = offset, .size = size, .is_signed = is_signed };
	/* The size of an array follows its name, except in "__data_loc char[] name". */
	bracket = end[-1] == ']' ? strrchr(decl, '[') : NULL;
	if (bracket) {
		f->elements = (uint32_t)strtoul(bracket + 1, NULL, 0);
		*bracket = '\0';
	}
	name = strrchr(decl, ' ');
	if (!name)
		return false;
	f->name = arena_strdup(t->arena, name + 1);
	*name = '\0';
	f->type = bracket ? arena_printf(t->arena, "%s[]", decl) : arena_strdup(t->arena, decl);
	return true;
}

/* The length of an array may be a name ("comm[TASK_COMM_LEN]"), so it is computed from the size. */
static void count_elements(struct trace_field *f)
{
	static const struct {
		const char *type;
		uint32_t size;
	} sizes[] = { { "char[]", 1 }, { "u8[]", 1 }, { "__u8[]", 1 }, { "u16[]", 2 },
		{ "int[]", 4 }, { "u32[]", 4 }, { "__u32[]", 4 }, { "unsigned int[]", 4 },
		{ "long[]", 8 }, { "u64[]", 8 }, { "__u64[]", 8 }, { "unsigned long[]", 8 } };

	if (f->elements || !strstr(f->type, "[]") || strstr(f->type, "__data_loc"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(f->type, sizes[i].type))
			f->elements = f->size / sizes[i].size;
}

int target_event(struct target *t, const char *category, const char *name,
	struct trace_event *ret)
{
	struct trace_event ev = {};
	VEC(struct trace_field) fields = {};
	const char *tracefs = target_tracefs(t);
	_cleanup_(freep) char *text = NULL;
	char *line, *rest;

	if (!tracefs)
		return -ENODEV;
	text = target_read(t,
		arena_printf(t->arena, "%s/events/%s/%s/format", tracefs, category, name),
		1 << 20, NULL);
	if (!text)
		return -errno;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct trace_field f;

		if (!strncmp(line, "ID:", 3))
			ev.id = strtoull(line + 3, NULL, 10);
		if (!strncmp(line, "print fmt:", 10))
			break;
		if (!parse_field(t, line, &f) || !strncmp(f.name, "common_", 7))
			continue;
		count_elements(&f);
		vec_push(&fields, f);
	}
	ev.category = arena_strdup(t->arena, category);
	ev.name = arena_strdup(t->arena, name);
	ev.nfields = fields.len;
	ev.fields = arena_new_array(t->arena, struct trace_field, fields.len + 1);
	if (fields.len)
		memcpy((void *)ev.fields, fields.data, fields.len * sizeof(*ev.fields));
	vec_done(&fields);
	*ret = ev;
	return 0;
}
