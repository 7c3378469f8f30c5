// SPDX-License-Identifier: Apache-2.0
/* imagefile.c - the head of an image's bytes, and the settings of its session. */
#include "imagefile.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/str.h"
#include "codec.h"
#include "model/image.h"

/* FNV-1a in words of 8 bytes: it finds damage, not malice, from which only the file's owner protects. */
static uint64_t checksum(const uint8_t *data, size_t size)
{
	uint64_t h = 14695981039346656037ull, word;

	for (size_t at = 0; at < size; at += sizeof(word)) {
		size_t n = size - at < sizeof(word) ? size - at : sizeof(word);

		word = n;
		memcpy(&word, data + at, n);
		h = (h ^ word) * 1099511628211ull;
		h ^= h >> 29;
	}
	return h;
}

static void code_settings(struct codec *c, struct settings *s)
{
	uint64_t *const all[] = {&s->given, &s->all_processes, &s->cache_user_symbols, &s->cpp_demangle, &s->find_lost,
		&s->inlines, &s->js_source_maps, &s->lazy_symbolication, &s->log_size, &s->max_bpf_progs,
		&s->max_cache_mb, &s->max_cat_bytes, &s->max_hold_mb, &s->max_hold_time, &s->max_map_keys,
		&s->max_memory_mb, &s->max_probes,
		&s->max_strlen, &s->missing_probes, &s->on_stack_limit, &s->perf_rb_pages, &s->print_answer,
		&s->print_empty_stacks, &s->print_idle_stacks, &s->print_maps_on_exit, &s->print_startup_stacks,
		&s->print_table, &s->show_debug_info, &s->stack_mode, &s->thin, &s->unstable_dw_ustack,
		&s->unstable_import_statement, &s->unstable_tseries, &s->unstable_typeinfo, &s->use_blazesym,
		&s->window};

	_Static_assert(sizeof(struct settings) == sizeof(all) + 2 * sizeof(char *), "all settings but the two texts");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		code_int(c, all[i]);
	code_text(c, &s->license);
	code_text(c, &s->str_trunc_trailer);
	c->bad |= s->missing_probes > MISSING_IGNORE;
}

static void code_all(struct codec *c, struct imagefile *f)
{
	code_text(c, &f->name);
	code_bool(c, &f->tree);
	code_settings(c, &f->settings);
	code_image(c, f->image);
	c->bad |= !f->name;
}

static void set_head(struct imagefile_head *h, const char *commit)
{
	struct utsname u = {};

	*h = (struct imagefile_head){.magic = IMAGEFILE_MAGIC, .version = IMAGEFILE_VERSION};
	uname(&u);
	memcpy(h->commit, commit, strnlen(commit, sizeof(h->commit) - 1));
	memcpy(h->arch, u.machine, strnlen(u.machine, sizeof(h->arch) - 1));
}

bool imagefile_write(const struct imagefile *f, const char *commit, struct str *out)
{
	struct arena *a = arena_new();
	struct image copy = *f->image;
	struct imagefile all = *f;
	struct str body = {};
	struct codec c = {.out = &body, .arena = a};
	struct imagefile_head head;

	all.image = &copy;
	code_all(&c, &all);
	set_head(&head, commit);
	head.size = body.len;
	head.checksum = checksum((const uint8_t *)body.data, body.len);
	if (!c.bad) {
		str_addn(out, (const char *)&head, sizeof(head));
		str_addn(out, body.data, body.len);
	}
	vec_done(&c.types);
	str_done(&body);
	arena_free(a);
	return !c.bad;
}

static bool read_head(const void *data, size_t size, struct imagefile_head *ret)
{
	if (size < sizeof(*ret))
		return false;
	memcpy(ret, data, sizeof(*ret));
	return !memcmp(ret->magic, IMAGEFILE_MAGIC, sizeof(ret->magic)) && ret->size <= size - sizeof(*ret);
}

size_t imagefile_size(const void *data, size_t size)
{
	struct imagefile_head h;

	return read_head(data, size, &h) ? sizeof(h) + h.size : 0;
}

int imagefile_read_body(struct arena *a, const struct provider *const *providers, const void *body, size_t size,
	struct imagefile *ret)
{
	struct codec c = {.arena = a, .providers = providers, .in = body, .left = size};

	*ret = (struct imagefile){.image = arena_new_obj(a, struct image)};
	code_all(&c, ret);
	vec_done(&c.types);
	return c.bad || c.left || !image_is_whole(ret->image) ? -EINVAL : 0;
}

int imagefile_read(struct arena *a, const struct provider *const *providers, const char *commit, const void *data,
	size_t size, struct imagefile *ret)
{
	struct imagefile_head h, own;
	const uint8_t *body = (const uint8_t *)data + sizeof(h);

	if (!read_head(data, size, &h) || checksum(body, h.size) != h.checksum)
		return -EINVAL;
	set_head(&own, commit);
	if (h.version != own.version || memcmp(h.commit, own.commit, sizeof(h.commit)) ||
		memcmp(h.arch, own.arch, sizeof(h.arch)))
		return -ESTALE;
	return imagefile_read_body(a, providers, body, h.size, ret);
}
