// SPDX-License-Identifier: Apache-2.0
/* scripts.c - the scripts of all processes: names, lines, source maps. */
#include "scripts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "unwinders/idmap.h"
#include "unwinders/texts.h"
#include "unwinders/unwinders.h"
#include "v8.h"

#define SCRIPTS_MAX  16384 /* the stacks of a node have some fifty */
#define SCRIPT_TRIES 8
#define ENDS_MAX     (64 << 20) /* line ends of all scripts */
#define MAP_URL_MAX  (64 << 20) /* a URL may contain the map */
#define MAPS_MAX     (1u << 30) /* bytes of all source maps that are read */

struct ends { /* ends of a script's lines */
	struct ends *next; /* next one with the same hash */
	int32_t *data;
	size_t n;
};

struct v8_scripts {
	struct texts *texts;    /* not owned */
	struct arena *arena, *lasting;
	struct idmap known;     /* by process and address -> struct v8_script *, in arena */
	struct idmap ends;      /* hash -> struct ends *, in lasting */
	size_t nends;           /* number of line ends in them */
	struct sourcemap_files files; /* source maps; open NULL: not requested */
	size_t maps_read;       /* bytes */
	struct idmap maps;      /* by the text's hash -> struct sourcemap *, or NULL: not a source map */
};

struct v8_scripts *v8_scripts_new(struct texts *texts)
{
	struct v8_scripts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->texts = texts;
	c->arena = arena_new();
	c->lasting = arena_new();
	return c;
}

void v8_scripts_use_source_maps(struct v8_scripts *c, const struct sourcemap_files *files)
{
	c->files = *files;
}

static void free_ends(struct ends *e)
{
	for (; e; e = e->next)
		free(e->data);
}

void v8_scripts_free(struct v8_scripts *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->ends.cap; i++)
		if (c->ends.slot[i].key)
			free_ends((void *)(uintptr_t)c->ends.slot[i].value);
	for (size_t i = 0; i < c->maps.cap; i++)
		if (c->maps.slot[i].key)
			sourcemap_free((struct sourcemap *)(uintptr_t)c->maps.slot[i].value);
	idmap_done(&c->maps);
	idmap_done(&c->ends);
	idmap_done(&c->known);
	arena_free(c->arena);
	arena_free(c->lasting);
	free(c);
}

/* "file:///x.mjs" is a path. */
static const char *script_name(struct v8_scripts *c, const struct v8_heap *h, uint64_t script)
{
	struct str s = {};
	const char *name = NULL;
	uint64_t word;

	if (v8_word(h, script, h->at->script_name, &word) && v8_string(h, word, 4096, &s) && s.len)
		name = texts_keep(c->texts, strncmp(s.data, "file:///", 8) ? s.data : s.data + 7);
	str_done(&s);
	return name;
}

/* Processes with the same program, and workers, share a map. */
static const struct sourcemap *shared_map(struct v8_scripts *c, const char *text, size_t size,
	const char *base)
{
	uint64_t key = 1, *known;
	struct sourcemap *map;

	for (size_t i = 0; i < size; i++)
		key = (key ^ (uint8_t)text[i]) * 0x100000001b3ULL;
	for (const char *p = base; *p; p++)
		key = (key ^ (uint8_t)*p) * 0x100000001b3ULL;
	key |= 1;
	known = idmap_find(&c->maps, key);
	if (known)
		return (const struct sourcemap *)(uintptr_t)*known;
	map = sourcemap_new(text, size, base);
	idmap_set(&c->maps, key, (uintptr_t)map);
	return map;
}

static const struct sourcemap *source_map(struct v8_scripts *c, const struct v8_heap *h, uint32_t pid,
	uint64_t script, const char *name)
{
	_cleanup_(freep) char *text = NULL, *base = NULL;
	const struct sourcemap *map = NULL;
	struct str url = {};
	uint64_t word;
	size_t size;

	if (c->maps_read < MAPS_MAX && v8_word(h, script, h->at->script_map_url, &word) &&
		v8_string(h, word, MAP_URL_MAX, &url) && url.len)
		text = sourcemap_text(&c->files, (int)pid, name ? name : "", url.data, &size, &base);
	c->maps_read += text ? size : 0;
	if (text && base)
		map = shared_map(c, text, size, base);
	str_done(&url);
	return map;
}

/* Takes the ends of a script's lines. Processes with the same program share them: those of a large
 * one need half a megabyte. */
static const int32_t *shared_ends(struct v8_scripts *c, int32_t *ends, size_t n)
{
	uint64_t h = STACK_HASH_SEED;
	struct ends *first, *new;

	for (size_t i = 0; i < n; i++)
		h = STACK_HASH(h, (uint32_t)ends[i]);
	first = idmap_pointer(&c->ends, h | 1);
	for (struct ends *known = first; known; known = known->next)
		if (known->n == n && !memcmp(known->data, ends, n * sizeof(*ends))) {
			free(ends);
			return known->data;
		}
	new = arena_new_obj(c->lasting, struct ends);
	*new = (struct ends){ first, ends, n };
	idmap_set(&c->ends, h | 1, (uintptr_t)new);
	c->nends += n;
	return ends;
}

/* A text that is being moved is not readable now, but may be later. */
static void read_script(struct v8_scripts *c, const struct v8_heap *h, uint32_t pid, uint64_t script,
	struct v8_script *s)
{
	if (!s->name)
		s->name = script_name(c, h, script);
	if (!s->ends && c->nends < ENDS_MAX) {
		int32_t *ends = v8_line_ends(h, script, &s->nends);

		s->ends = ends ? shared_ends(c, ends, s->nends) : NULL;
	}
	v8_smi(h, script, h->at->script_line_offset, &s->first_line);
	v8_smi(h, script, h->at->script_column_offset, &s->first_column);
	if (c->files.open && !s->map)
		s->map = source_map(c, h, pid, script, s->name);
}

/* Scripts are read again if they are needed again: most belong to processes that have ended. */
static void forget_all(struct v8_scripts *c)
{
	idmap_done(&c->known);
	arena_free(c->arena);
	c->arena = arena_new();
}

/* A script lives as long as its functions. Another one may then be in its place, with another name or length. */
const struct v8_script *v8_script_of(struct v8_scripts *c, const struct v8_heap *h, uint32_t pid, uint64_t script)
{
	uint64_t source = 0, name = 0, key;
	struct v8_script *s;

	if (v8_type(h, script) != h->at->script_type)
		return NULL;
	v8_word(h, script, h->at->script_source, &source);
	v8_word(h, script, h->at->script_name, &name);
	key = idmap_hash(idmap_hash(script, pid), idmap_hash(source, name)) | 1;
	s = idmap_pointer(&c->known, key);
	if (!s) {
		if (c->known.n >= SCRIPTS_MAX)
			forget_all(c);
		s = arena_new_obj(c->arena, struct v8_script);
		idmap_set(&c->known, key, (uintptr_t)s);
	}
	if ((!s->ends || !s->name) && s->tries++ < SCRIPT_TRIES)
		read_script(c, h, pid, script, s);
	return s;
}
