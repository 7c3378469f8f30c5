// SPDX-License-Identifier: Apache-2.0
/* debugfile.c - finds the file that has a program's symbols and debug information. */
#include "debugfile.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "elf.h"

static const char *extra_dirs;

void debugfile_dirs(const char *dirs)
{
	extra_dirs = dirs;
}

struct search {
	const struct elf *elf;
	const char *path; /* or NULL */
	char root[32];    /* "/proc/PID/root", or "" */
	uint8_t id[64];
	size_t id_size;
	char hex[2 * 64 + 1];
	const char *link; /* .gnu_debuglink's name, or NULL */
	uint32_t crc;
	struct str try;
	bool found;
};

/* ---- checks of a file ------------------------------------------------------ */

/* Computes the CRC-32 of ISO 3309, as zlib does. */
static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t table[256], c = ~0u;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < size; i++)
		c = table[(c ^ data[i]) & 0xff] ^ c >> 8;
	return ~c;
}

static bool matches(const struct search *s, const struct elf *e)
{
	uint8_t id[64];
	size_t n = elf_build_id(e, id), size;
	const uint8_t *data;

	if (elf_machine(e) != elf_machine(s->elf))
		return false;
	if (s->id_size)
		return n == s->id_size && !memcmp(id, s->id, n);
	data = elf_data(e, &size);
	return s->link && checksum(data, size) == s->crc;
}

/* Tries the file with path s->try. */
static void try_it(struct search *s)
{
	_cleanup_(elf_closep) struct elf *e = NULL;

	if (!s->found && (!s->path || strcmp(str_text(&s->try), s->path) != 0) &&
		!access(str_text(&s->try), R_OK) && !elf_open(str_text(&s->try), &e))
		s->found = matches(s, e);
	if (!s->found)
		str_clear(&s->try);
}

/* ---- places to search ------------------------------------------------------ */

static void read_link(struct search *s)
{
	struct elf_section link;
	size_t n;

	if (!elf_section(s->elf, ".gnu_debuglink", &link) || !link.data)
		return;
	n = strnlen((const char *)link.data, link.size);
	if (!n || (n + 4) / 4 * 4 + 4 > link.size || memchr(link.data, '/', n))
		return;
	s->link = (const char *)link.data;
	memcpy(&s->crc, link.data + (n + 4) / 4 * 4, 4);
}

static void read_root(struct search *s)
{
	size_t n = 6;

	if (!s->path || strncmp(s->path, "/proc/", 6) != 0)
		return;
	while (isdigit((unsigned char)s->path[n]))
		n++;
	if (n > 6 && n < 20 && !strncmp(s->path + n, "/root/", 6))
		memcpy(s->root, s->path, n + 5);
}

/* Returns the length of the path's directory, including the last '/'. */
static size_t dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static void in_dir(struct search *s, const char *root, const char *dir, size_t n)
{
	const char *path = s->path ? s->path + strlen(s->root) : NULL;

	if (s->id_size > 1 && !s->found) {
		str_addf(&s->try, "%s%.*s/.build-id/%.2s/%s.debug", root, (int)n, dir, s->hex, s->hex + 2);
		try_it(s);
	}
	if (s->link && path && *path == '/' && !s->found) {
		str_addf(&s->try, "%s%.*s%.*s%s", root, (int)n, dir, (int)dir_length(path), path, s->link);
		try_it(s);
	}
	if (s->link && !s->found && n && strncmp(dir, "/usr/lib/debug", n) != 0) {
		str_addf(&s->try, "%s%.*s/%s", root, (int)n, dir, s->link);
		try_it(s);
	}
}

static void in_dirs(struct search *s, const char *dirs)
{
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (n && *s->root)
			in_dir(s, s->root, dirs, n);
		if (n)
			in_dir(s, "", dirs, n);
		dirs += n + (dirs[n] == ':');
	}
}

/* Tries the files next to the program at path. PROGRAM.debug is checked by its build id. */
static void beside(struct search *s, const char *path)
{
	static const char *const subs[] = {"", ".debug/"};

	for (size_t i = 0; s->link && i < ARRAY_SIZE(subs) && !s->found; i++) {
		str_addf(&s->try, "%.*s%s%s", (int)dir_length(path), path, subs[i], s->link);
		try_it(s);
	}
	if (!s->found) {
		str_addf(&s->try, "%s.debug", path);
		try_it(s);
	}
}

static void in_cache(struct search *s, const char *dir, const char *sub)
{
	if (s->found || !dir || !*dir)
		return;
	str_addf(&s->try, "%s%s/%s/debuginfo", dir, sub, s->hex);
	try_it(s);
}

static void in_caches(struct search *s)
{
	if (!s->id_size)
		return;
	in_cache(s, getenv("DEBUGINFOD_CACHE_PATH"), "");
	in_cache(s, getenv("XDG_CACHE_HOME"), "/debuginfod_client");
	in_cache(s, getenv("HOME"), "/.cache/debuginfod_client");
	in_cache(s, getenv("HOME"), "/.debuginfod_client_cache");
}

char *debugfile_find(const struct elf *e, const char *path)
{
	struct search s = {.elf = e, .path = path};

	s.id_size = elf_build_id(e, s.id);
	for (size_t i = 0; i < s.id_size; i++)
		sprintf(s.hex + 2 * i, "%02x", s.id[i]);
	read_link(&s);
	read_root(&s);
	in_dirs(&s, extra_dirs);
	in_dirs(&s, "/usr/lib/debug");
	if (path)
		beside(&s, path);
	if (path && *s.root && !s.found) /* the process may have ended; its root may have been the same as ours */
		beside(&s, path + strlen(s.root));
	in_caches(&s);
	return s.found ? s.try.data : (str_done(&s.try), NULL);
}
