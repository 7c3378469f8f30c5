// SPDX-License-Identifier: Apache-2.0
/* btf.c - reads the kernel's types; only this file reads BTF.
 *
 * Parsing vmlinux's BTF would add 9 ms to every start, so a text file named by the kernel's build id
 * keeps offsets, in lines "struct member offset". */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/priv.h"

#define VMLINUX      "/sys/kernel/btf/vmlinux"
#define TYPEDEF_MARK "btf_trace_"
#define NESTING_MAX  8
#define CACHE_MAX    65536
#define WALKS        6 /* up to this number of searches through all types cost less than an index of them */

struct btf_cache {
	char *text;
	char name[64]; /* name of the cache file; "" if the kernel has no build id */
};

/* An index of functions by name; libbpf would go through all types for each search. */
struct func_index {
	uint32_t *ids; /* open addressing; 0 marks a free slot */
	uint32_t mask;
};

struct module_btf {
	const char *name;
	struct btf *btf;
	struct func_index funcs;
	unsigned asked; /* number of searches for a function */
	struct module_btf *next;
};

bool target_has_btf(struct target *t)
{
	_cleanup_(closep) int fd = target_openat(t, VMLINUX, O_RDONLY);

	return fd >= 0;
}

/* Linux 6.16 can map its BTF. That saves some MB of copy, but its page faults take longer than reading the
 * types. Returns NULL if the BTF must be read instead. */
static struct btf *map_kernel(struct target *t)
{
	_cleanup_(closep) int fd = target_openat(t, VMLINUX, O_RDONLY);
	struct btf *btf;
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > UINT32_MAX)
		return NULL;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		return NULL;
	btf = target_is_live(t) ? btf__new(data, (uint32_t)st.st_size) : NULL;
	munmap(data, (size_t)st.st_size);
	return btf;
}

static struct btf *vmlinux(struct target *t)
{
	if (!t->btf && !t->no_btf) {
		t->btf = map_kernel(t);
		if (!t->btf)
			t->btf = btf__parse(target_path(t, VMLINUX), NULL);
		t->no_btf = !t->btf;
	}
	return t->btf;
}

void btf_done(struct target *t)
{
	for (struct module_btf *m = t->modules; m; m = m->next) {
		free(m->funcs.ids);
		if (m->btf != t->btf)
			btf__free(m->btf);
	}
	btf__free(t->btf);
	if (t->btf_cache)
		free(t->btf_cache->text);
	free(t->btf_cache);
}

/* ---- members ---- */

/* The member to find. The search sets type when it finds the member. */
struct member {
	const char *name;
	size_t len;
	uint32_t type;
};

static int find_member(const struct btf *btf, uint32_t id, struct member *m, unsigned depth);

/* Members of an unnamed struct or union belong to the struct that holds it. Returns the offset in bytes, or
 * -ENOENT. */
static int try_member(const struct btf *btf, const struct btf_type *t, uint32_t i,
	struct member *wanted, unsigned depth)
{
	const struct btf_member *m = &btf_members(t)[i];
	const char *own = btf__name_by_offset(btf, m->name_off);
	int bits = (int)btf_member_bit_offset(t, i), inner;

	if (own && strlen(own) == wanted->len && !memcmp(own, wanted->name, wanted->len)) {
		wanted->type = m->type;
		return bits / 8;
	}
	if (own && *own)
		return -ENOENT;
	inner = find_member(btf, m->type, wanted, depth + 1);
	return inner < 0 ? inner : bits / 8 + inner;
}

static int find_member(const struct btf *btf, uint32_t id, struct member *m, unsigned depth)
{
	int type = btf__resolve_type(btf, id);
	const struct btf_type *t = type < 0 ? NULL : btf__type_by_id(btf, (uint32_t)type);

	if (!t || !btf_is_composite(t) || depth > NESTING_MAX)
		return -ENOENT;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		int at = try_member(btf, t, i, m, depth);

		if (at >= 0)
			return at;
	}
	return -ENOENT;
}

static int member_offset(struct target *t, const char *strct, const char *member)
{
	struct btf *btf = vmlinux(t);
	int id = btf ? btf__find_by_name_kind(btf, strct, BTF_KIND_STRUCT) : -ENOENT;
	int total = 0;

	while (id >= 0 && *member) {
		struct member m = {.name = member, .len = strcspn(member, ".")};
		int at = find_member(btf, (uint32_t)id, &m, 0);

		if (at < 0)
			return at;
		total += at;
		id = (int)m.type;
		member += m.len + (member[m.len] == '.');
	}
	return id < 0 ? -ENOENT : total;
}

/* ---- the cache ---- */

/* The name is a hash of /sys/kernel/notes, which contains the build id. */
static void name_cache(struct target *t, char name[64])
{
	size_t size = 0;
	_cleanup_(freep) char *notes = target_read(t, "/sys/kernel/notes", 65536, &size);
	uint64_t h = 0xcbf29ce484222325ULL, g = size;

	name[0] = '\0';
	if (!notes || !size)
		return;
	for (size_t i = 0; i < size; i++) {
		h = (h ^ (uint8_t)notes[i]) * 0x100000001b3ULL;
		g = g * 0x9e3779b97f4a7c15ULL + (uint8_t)notes[i];
	}
	snprintf(name, 64, "btf-%016llx%016llx", (unsigned long long)h, (unsigned long long)g);
}

static struct btf_cache *cache_of(struct target *t)
{
	int dir, fd;

	if (t->btf_cache || !target_is_live(t))
		return t->btf_cache;
	t->btf_cache = calloc(1, sizeof(*t->btf_cache));
	if (!t->btf_cache)
		return NULL;
	name_cache(t, t->btf_cache->name);
	dir = target_cache_dir(t);
	if (dir < 0)
		t->btf_cache->name[0] = '\0';
	if (!t->btf_cache->name[0])
		return t->btf_cache;
	fd = regular_open(dir, t->btf_cache->name, O_NOFOLLOW);
	if (fd >= 0) {
		t->btf_cache->text = read_fd(fd, CACHE_MAX, NULL);
		close(fd);
	}
	return t->btf_cache;
}

/* Returns the cached offset or -ENOENT; -EAGAIN if the cache does not have it. */
static int cache_find(struct target *t, const char *strct, const char *member)
{
	struct btf_cache *c = cache_of(t);
	const char *key = arena_printf(t->arena, "%s %s ", strct, member);
	const char *line = c ? c->text : NULL;

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *end;
		long at;

		if (strncmp(line, key, strlen(key)))
			continue;
		at = strtol(line + strlen(key), &end, 10);
		if (*end == '\n') /* a line without newline was cut, since the disk was full */
			return (int)at;
	}
	return -EAGAIN;
}

/* Each line is one write: two processes may write the same line twice, but never mix two lines. */
static void cache_add(struct target *t, const char *strct, const char *member, int offset)
{
	struct btf_cache *c = cache_of(t);
	_cleanup_(closep) int fd = -1;
	const char *line;
	struct stat st;

	if (!c || !c->name[0])
		return;
	line = arena_printf(t->arena, "%s %s %d\n", strct, member, offset);
	fd = openat(target_cache_dir(t), c->name,
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && write(fd, line, strlen(line)) < 0)
		return;
}

int target_btf_offset(struct target *t, const char *strct, const char *member)
{
	int at = cache_find(t, strct, member);

	if (at != -EAGAIN)
		return at;
	at = member_offset(t, strct, member);
	if (t->btf)
		cache_add(t, strct, member, at);
	return at;
}

/* ---- functions ---- */

/* A module's types build on the kernel's. Returns NULL if it has no types. */
static struct module_btf *module_of(struct target *t, const char *module)
{
	struct btf *base = vmlinux(t);
	struct module_btf **last = &t->modules, *m;
	bool kernel = !*module || !strcmp(module, "vmlinux");

	if (!base || strchr(module, '/'))
		return NULL;
	for (; *last; last = &(*last)->next)
		if (!strcmp((*last)->name, kernel ? "vmlinux" : module))
			return (*last)->btf ? *last : NULL;
	m = arena_new_obj(t->arena, struct module_btf);
	m->name = kernel ? "vmlinux" : arena_strdup(t->arena, module);
	m->btf = kernel ? base : btf__parse_split(
		target_path(t, arena_printf(t->arena, "/sys/kernel/btf/%s", module)), base);
	*last = m;
	return m->btf ? m : NULL;
}

struct btf *target_btf(struct target *t, const char *module)
{
	struct module_btf *m = module_of(t, module);

	return m ? m->btf : NULL;
}

const char *const *target_btf_modules(struct target *t, const char *pattern)
{
	struct strings found = {};

	target_list(t, "/sys/kernel/btf", DT_REG, pattern, &found);
	strings_sort(&found);
	return strings_done(t, &found);
}

/* Returns the first of the module's own type ids. */
static uint32_t first_type(struct target *t, const struct btf *btf)
{
	return btf == t->btf ? 1 : btf__type_cnt(t->btf);
}

const char *const *target_raw_tracepoints(struct target *t, const char *module, const char *pattern)
{
	struct btf *btf = target_btf(t, module);
	uint32_t n = btf ? btf__type_cnt(btf) : 0;
	struct strings found = {};

	for (uint32_t i = btf ? first_type(t, btf) : 0; i < n; i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);
		const char *name = btf__name_by_offset(btf, type->name_off);

		if (!btf_is_typedef(type) || !name ||
		    strncmp(name, TYPEDEF_MARK, strlen(TYPEDEF_MARK)))
			continue;
		name += strlen(TYPEDEF_MARK);
		if (glob_match(pattern, name) && !strings_have(&found, name))
			strings_add(t, &found, name);
	}
	strings_sort(&found);
	return strings_done(t, &found);
}

const char *const *target_btf_functions(struct target *t, const char *module,
	const char *pattern)
{
	struct btf *btf = target_btf(t, module);
	uint32_t n = btf ? btf__type_cnt(btf) : 0;
	struct strings found = {};

	for (uint32_t i = btf ? first_type(t, btf) : 0; i < n; i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);

		if (btf_is_func(type) &&
			glob_match(pattern, btf__name_by_offset(btf, type->name_off)))
			strings_add(t, &found, btf__name_by_offset(btf, type->name_off));
	}
	strings_sort(&found);
	return strings_done(t, &found);
}

static uint32_t hash_name(const char *name)
{
	uint32_t h = 0x811c9dc5;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x01000193;
	return h;
}

static const char *func_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	return type && btf_is_func(type) ? btf__name_by_offset(btf, type->name_off) : NULL;
}

/* Returns the name's slot in the hash table, or the free slot in which it belongs. */
static uint32_t *func_slot(const struct module_btf *m, const char *name)
{
	uint32_t at = hash_name(name) & m->funcs.mask;

	while (m->funcs.ids[at] && strcmp(func_name(m->btf, m->funcs.ids[at]), name))
		at = (at + 1) & m->funcs.mask;
	return &m->funcs.ids[at];
}

/* If several functions have the same name, the first is kept, as in libbpf. */
static bool index_functions(struct target *t, struct module_btf *m)
{
	uint32_t first = first_type(t, m->btf), n = btf__type_cnt(m->btf), count = 0, size = 16;

	if (m->funcs.ids)
		return true;
	for (uint32_t i = first; i < n; i++)
		count += func_name(m->btf, i) != NULL;
	while (size < 2 * count)
		size *= 2;
	m->funcs.ids = calloc(size, sizeof(*m->funcs.ids));
	m->funcs.mask = size - 1;
	for (uint32_t i = first; m->funcs.ids && i < n; i++) {
		const char *name = func_name(m->btf, i);
		uint32_t *slot = name ? func_slot(m, name) : NULL;

		if (slot && !*slot)
			*slot = i;
	}
	return m->funcs.ids;
}

static uint32_t walk_to_function(struct target *t, const struct module_btf *m, const char *name)
{
	uint32_t n = btf__type_cnt(m->btf);

	for (uint32_t i = first_type(t, m->btf); i < n; i++) {
		const char *own = func_name(m->btf, i);

		if (own && !strcmp(own, name))
			return i;
	}
	return 0;
}

uint32_t target_btf_function(struct target *t, const char *module, const char *name)
{
	struct module_btf *m = module_of(t, module);

	if (m && m->asked++ < WALKS)
		return walk_to_function(t, m, name);
	return m && index_functions(t, m) ? *func_slot(m, name) : 0;
}
