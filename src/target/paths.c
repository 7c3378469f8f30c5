// SPDX-License-Identifier: Apache-2.0
/* paths.c - finds programs and libraries by name, in the way of execvp() and ld.so. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/elf.h"
#include "target/priv.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define CLOSURE_MAX  512

#if defined(__x86_64__)
#define CACHE_FLAGS 0x0303
#define MULTIARCH   "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define CACHE_FLAGS 0x0a03
#define MULTIARCH   "aarch64-linux-gnu"
#else
#define CACHE_FLAGS 0x0003
#define MULTIARCH   "unknown"
#endif

static const char *const library_dirs[] = {
	"/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, "/lib64", "/usr/lib64",
	"/lib", "/usr/lib", "/usr/local/lib",
};

bool target_is_elf(struct target *t, const char *path)
{
	_cleanup_(closep) int fd = regular_reopen(target_openat(t, path, O_PATH));
	char magic[SELFMAG];

	return fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

static bool is_program(struct target *t, const char *path)
{
	_cleanup_(closep) int fd = target_openat(t, path, O_PATH);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

/* Returns the first file in PATH that wanted() accepts. *ret_skipped is the first file that it refused. */
static const char *search_path(struct target *t, const char *name,
	bool (*wanted)(struct target *, const char *), const char **ret_skipped)
{
	const char *path = target_is_live(t) ? getenv("PATH") : NULL;
	const char *dir = path ? path : DEFAULT_PATH;

	for (; *dir; dir += strspn(dir, ":")) {
		size_t n = strcspn(dir, ":");
		const char *file = arena_printf(t->arena, "%.*s/%s", (int)n, dir, name);

		dir += n;
		if (file[0] != '/' || !is_program(t, file))
			continue;
		if (wanted(t, file))
			return file;
		if (ret_skipped && !*ret_skipped)
			*ret_skipped = file;
	}
	return NULL;
}

const char *target_which(struct target *t, const char *name)
{
	if (strchr(name, '/'))
		return is_program(t, name) ? arena_strdup(t->arena, name) : NULL;
	return search_path(t, name, is_program, NULL);
}

/* ---- ld.so.cache ---- */

struct cache_header {
	char magic[20]; /* "glibc-ld.so.cache" and "1.1" */
	uint32_t nlibs, len_strings;
	uint32_t flags, extensions, unused[3];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of strings, relative to the header */
	uint32_t osversion;
	uint64_t hwcap;
};

/* "libc" and "libc.so.6" both mean libc.so.6: the rest after the name is a version. */
static bool is_soname_of(const char *soname, const char *name)
{
	size_t n = strlen(name);

	if (strchr(name, '*'))
		return glob_match(name, soname);
	if (strncmp(soname, name, n))
		return false;
	if (!soname[n])
		return true;
	if (!strncmp(soname + n, ".so", 3))
		return !soname[n + 3] || soname[n + 3] == '.';
	return strstr(name, ".so") && soname[n] == '.';
}

static const char *cache_string(const char *data, size_t size, uint32_t at)
{
	return at < size && memchr(data + at, 0, size - at) ? data + at : NULL;
}

static void add_library(struct target *t, struct strings *found, const char *path)
{
	const char *real = target_realpath(t, path);

	if (real && !strings_have(found, real) && target_is_elf(t, real))
		strings_add(t, found, real);
}

static const char *ld_cache(struct target *t, size_t *ret_size)
{
	if (!t->ld_cache)
		t->ld_cache = target_read(t, "/etc/ld.so.cache", 16 << 20, &t->ld_cache_size);
	if (!t->ld_cache)
		t->ld_cache = calloc(1, 1);
	*ret_size = t->ld_cache_size;
	return t->ld_cache;
}

/* The file may begin with an older format, so the magic is searched for. */
static void find_in_cache(struct target *t, const char *name, bool exact,
	struct strings *found)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	size_t size = 0;
	const char *file = ld_cache(t, &size);
	const char *data = file ? memmem(file, size, magic, sizeof(magic) - 1) : NULL;
	struct cache_header h;

	if (!data || (size -= (size_t)(data - file)) < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	for (uint32_t i = 0; i < h.nlibs; i++) {
		size_t at = sizeof(h) + (size_t)i * sizeof(struct cache_entry);
		const char *key, *value;
		struct cache_entry e;

		if (at + sizeof(e) > size)
			return;
		memcpy(&e, data + at, sizeof(e));
		key = cache_string(data, size, e.key);
		value = cache_string(data, size, e.value);
		if (!key || !value || e.flags != CACHE_FLAGS || e.hwcap)
			continue;
		if (exact ? !strcmp(key, name) : is_soname_of(key, name))
			add_library(t, found, value);
	}
}

static void find_in_dir(struct target *t, const char *dir, const char *name,
	struct strings *found)
{
	glob_t g = {};
	const char *at = target_path(t, dir);
	const char *pattern = arena_printf(t->arena, "%s/%s*.so*", at, name);

	if (strstr(name, ".so"))
		pattern = arena_printf(t->arena, "%s/%s*", at, name);
	glob(pattern, 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *base = strrchr(g.gl_pathv[i], '/') + 1;

		if (is_soname_of(base, name))
			add_library(t, found, g.gl_pathv[i] + strlen(t->root));
	}
	globfree(&g);
}

static void find_library(struct target *t, const char *name, struct strings *found)
{
	find_in_cache(t, name, false, found);
	for (size_t i = 0; !found->len && i < ARRAY_SIZE(library_dirs); i++)
		find_in_dir(t, library_dirs[i], name, found);
}

/* ---- names in attach points ---- */

static void find_glob(struct target *t, const char *pattern, struct strings *found)
{
	glob_t g = {};

	glob(target_path(t, pattern), 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		add_library(t, found, g.gl_pathv[i] + strlen(t->root));
	globfree(&g);
}

/* Finds a file of the current directory, which exists in the target only if the target is this machine. */
static void find_here(struct target *t, const char *pattern, struct strings *found)
{
	_cleanup_(freep) char *here = target_is_live(t) ? getcwd(NULL, 0) : NULL;

	if (here)
		find_glob(t, arena_printf(t->arena, "%s/%s", here, pattern), found);
}

/* Finds programs in PATH, libraries, and files of the current directory. */
static void find_pattern(struct target *t, const char *pattern, struct strings *found)
{
	const char *path = target_is_live(t) ? getenv("PATH") : NULL;

	for (const char *dir = path ? path : DEFAULT_PATH; *dir; dir += strspn(dir, ":")) {
		size_t n = strcspn(dir, ":");

		if (*dir == '/')
			find_glob(t, arena_printf(t->arena, "%.*s/%s", (int)n, dir, pattern), found);
		dir += n;
	}
	if (!strncmp(pattern, "lib", 3))
		find_in_cache(t, pattern, false, found);
	find_here(t, pattern, found);
}

const char *const *target_find_binary(struct target *t, const char *name,
	const char **ret_skipped)
{
	struct strings found = {};
	const char *skipped = NULL, *path;

	if (strchr(name, '/') && strchr(name, '*')) {
		find_glob(t, name, &found);
	} else if (strchr(name, '/')) {
		add_library(t, &found, name);
	} else if (strchr(name, '*')) {
		find_pattern(t, name, &found);
	} else {
		path = search_path(t, name, target_is_elf, &skipped);
		if (path)
			add_library(t, &found, path);
		else if (!strncmp(name, "lib", 3))
			find_library(t, name, &found);
		if (!found.len && *name && !skipped)
			find_here(t, name, &found);
	}
	if (ret_skipped)
		*ret_skipped = skipped;
	return strings_done(t, &found);
}

/* ---- libraries that ld.so will load ---- */

static bool add_existing(struct target *t, struct strings *found, const char *path)
{
	const char *real = target_realpath(t, path);

	if (!real || !target_is_elf(t, real))
		return false;
	if (!strings_have(found, real) && found->len < CLOSURE_MAX)
		strings_add(t, found, real);
	return true;
}

/* $ORIGIN is the directory of the file that contains the path. */
static const char *expand_origin(struct target *t, const char *dir, const char *origin)
{
	const char *token = strstr(dir, "$ORIGIN");
	size_t n = strlen("$ORIGIN");

	if (!token && (token = strstr(dir, "${ORIGIN}")))
		n = strlen("${ORIGIN}");
	if (!token)
		return dir;
	return arena_printf(t->arena, "%.*s%.*s%s", (int)(token - dir), dir,
		(int)(strrchr(origin, '/') - origin), origin, token + n);
}

static bool add_needed(struct target *t, struct strings *found, struct elf *e,
	const char *origin, const char *name)
{
	const char *const *run = elf_runpath(e);
	struct strings hit = {};
	bool ok;

	if (strchr(name, '/'))
		return add_existing(t, found, name);
	for (; run && *run; run++) {
		const char *dir = expand_origin(t, *run, origin);

		if (add_existing(t, found, arena_printf(t->arena, "%s/%s", dir, name)))
			return true;
	}
	find_in_cache(t, name, true, &hit);
	ok = hit.len && add_existing(t, found, hit.list[0]);
	free(hit.list);
	for (size_t i = 0; !ok && i < ARRAY_SIZE(library_dirs); i++)
		ok = add_existing(t, found,
			arena_printf(t->arena, "%s/%s", library_dirs[i], name));
	return ok;
}

static void add_dependencies(struct target *t, struct strings *found, const char *path)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	const char *const *needed;
	const char *interp;

	if (elf_open(target_path(t, path), &e))
		return;
	interp = elf_interp(e);
	if (interp)
		add_existing(t, found, interp);
	for (needed = elf_needed(e); needed && *needed; needed++)
		add_needed(t, found, e, path, *needed);
}

const char *const *target_closure(struct target *t, const char *path)
{
	struct strings found = {};

	add_existing(t, &found, path);
	for (size_t i = 0; i < found.len; i++)
		add_dependencies(t, &found, found.list[i]);
	return strings_done(t, &found);
}
