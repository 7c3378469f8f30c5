// SPDX-License-Identifier: Apache-2.0
/* entries.c - see entries.h. Programs that walk are loaded from the image's ELF file without some languages
 * (unwinders_leave_out()), as an object of its own, which uses the maps and the constants of the image's object. */
#include "entries.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "bpf/objects.h"
#include "model/image.h"
#include "model/provider.h"
#include "probes/attach.h"
#include "session/image_object.h"
#include "session/shared.h"
#include "unwinders/lang.h"
#include "unwinders/maps/rodata.h"
#include "unwinders/unwinders.h"

#define FORGET "forget_program"

struct entry {
	const char *of;         /* name of the program that it calls; NULL: none */
	struct bpf_object *obj;
};

struct entries {
	const struct image *img;
	const struct load_env *env;
	struct bpf_object *main; /* the image's object, not owned */
	char *constants;         /* .rodata of the programs that walk */
	size_t constants_size;
	size_t loaded_at;        /* offset of unwind_config.loaded in the constants */
	struct entry *all;       /* by program; the last one is forget_program()'s */
	unsigned n;
	uint32_t expected;       /* languages to load, whatever the unwinders have seen */
	uint32_t loaded;         /* languages of the programs that the entries call */
	bool is_loaded;          /* they call some */
	bool has_entries;        /* the entries are loaded */
	bool has_failed;         /* the kernel refused to load more languages: this is not tried again */

	struct bpf_object *opened; /* the next object, not prepared, or NULL */
	uint32_t opened_with;      /* its languages */

	struct bpf_object *next; /* under way, or NULL */
	uint32_t languages;      /* its languages */
	pthread_t thread;
	bool has_thread;
	atomic_bool is_over;
	int result;
	uint64_t ns;             /* the time that it took */
	int event;
};

/* ---- the entries -------------------------------------------------------- */

static bool can_enter(const struct image_prog *p)
{
	switch (p->provider->prog_type) {
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
		/* The kernel checks override() only in the program that is attached. */
		return p->provider->run == RUN_ATTACHED && !p->sleeps && !p->overrides;
	}
	return false;
}

bool entries_suit(const struct image *img)
{
	unsigned walk = 0;

	if (!img->unwinder || img->grows || img->handover || img->number)
		return false;
	for (unsigned i = 0; i < img->nprogs; i++) {
		if (img->progs[i].walks && !can_enter(&img->progs[i]))
			return false;
		walk += img->progs[i].walks;
	}
	return walk;
}

static void set_type(const struct entries *e, unsigned i, struct bpf_program *p)
{
	const struct image_prog *of = i < e->img->nprogs ? &e->img->progs[i] : NULL;

	if (!of)
		bpf_program__set_type(p, BPF_PROG_TYPE_RAW_TRACEPOINT);
	else
		bpf_program__set_type(p, of->provider->prog_type);
	if (of)
		bpf_program__set_expected_attach_type(p, probe_is_multi(e->env->target, e->img, of) ?
			of->provider->multi_type : of->provider->attach_type);
}

static struct bpf_program *program_of(const struct entry *entry)
{
	return bpf_object__find_program_by_name(entry->obj, "entry");
}

static int open_entry(struct entries *e, unsigned i, const char *of)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	struct bpf_program *p;

	e->all[i].obj = bpf_object__open_mem(bpf_obj_entry, bpf_obj_entry_size, &opts);
	if (!e->all[i].obj)
		return -errno;
	e->all[i].of = of;
	p = program_of(&e->all[i]);
	bpf_program__set_autoload(p, true);
	set_type(e, i, p);
	return 0;
}

/* The image's object leaves the programs that walk to others. */
static int drop_program(struct entries *e, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(e->main, name);

	return p ? bpf_program__set_autoload(p, false) : -ENOENT;
}

static int open_all(struct entries *e)
{
	int r = 0;

	for (unsigned i = 0; i < e->img->nprogs && !r; i++) {
		if (!e->img->progs[i].walks)
			continue;
		r = open_entry(e, i, e->img->progs[i].name);
		r = r ? r : drop_program(e, e->img->progs[i].name);
	}
	r = r ? r : open_entry(e, e->n - 1, FORGET);
	return r ? r : drop_program(e, FORGET);
}

static bool is_constant(const struct bpf_map *m)
{
	return bpf_map__is_internal(m) && strstr(bpf_map__name(m), ".rodata");
}

/* Returns whether the map is the section .rodata, and not one such as .rodata.cst32. */
static bool is_rodata(const struct bpf_map *m)
{
	const char *at = is_constant(m) ? strstr(bpf_map__name(m), ".rodata") : NULL;

	return at && !strcmp(at, ".rodata");
}

/* The constants of the image are set now. */
static int keep_constants(struct entries *e)
{
	const struct unwind_config *c = rodata_find(e->main, "unwind_config", sizeof(*c));
	const char *data = NULL;
	struct bpf_map *m;

	bpf_object__for_each_map(m, e->main)
		if (is_rodata(m))
			data = bpf_map__initial_value(m, &e->constants_size);
	if (!c || !data)
		return -ENOENT;
	e->loaded_at = (size_t)((const char *)&c->loaded - data);
	e->constants = malloc(e->constants_size);
	if (!e->constants)
		return -ENOMEM;
	memcpy(e->constants, data, e->constants_size);
	return 0;
}

int entries_open(struct entries **ret, const struct image *img, struct bpf_object *obj, const struct load_env *env)
{
	struct entries *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	*ret = e;
	e->img = img;
	e->env = env;
	e->main = obj;
	e->n = img->nprogs + 1;
	e->all = calloc(e->n, sizeof(*e->all));
	e->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!e->all || e->event < 0)
		return e->all ? -errno : -ENOMEM;
	r = open_all(e);
	if (!r)
		unwinders_load_only(obj, 0);
	return r ? r : keep_constants(e);
}

static void join(struct entries *e)
{
	if (e->has_thread)
		pthread_join(e->thread, NULL);
	e->has_thread = false;
}

void entries_free(struct entries *e)
{
	if (!e)
		return;
	join(e);
	bpf_object__close(e->opened);
	bpf_object__close(e->next);
	for (unsigned i = 0; e->all && i < e->n; i++)
		bpf_object__close(e->all[i].obj);
	free(e->all);
	free(e->constants);
	closep(&e->event);
	free(e);
}

static int load_entries(struct entries *e)
{
	int r = 0;

	for (unsigned i = 0; i < e->n && !r; i++)
		r = e->all[i].of ? bpf_object__load(e->all[i].obj) : 0;
	e->has_entries = !r;
	return r;
}

struct bpf_program *entries_program(const struct entries *e, const char *name)
{
	for (unsigned i = 0; i < e->n; i++)
		if (e->all[i].of && !strcmp(e->all[i].of, name))
			return program_of(&e->all[i]);
	return NULL;
}

/* ---- the programs that walk ---------------------------------------------- */

/* The layout is the same, because the ELF file is. */
static void copy_constants(const struct entries *e, struct bpf_map *to)
{
	size_t size = 0, has = e->constants_size;
	const void *data = is_rodata(to) ? e->constants :
		bpf_map__initial_value(bpf_object__find_map_by_name(e->main, bpf_map__name(to)), &has);
	void *copy = bpf_map__initial_value(to, &size);

	if (data && copy && size == has)
		memcpy(copy, data, size);
}

/* Languages' maps that the unwinders do not write are made with the first object that needs them. */
static int use_map(const struct entries *e, struct bpf_map *m)
{
	const char *name = bpf_map__name(m);
	const struct bpf_map *main = bpf_object__find_map_by_name(e->main, name);
	unsigned lang = unwinders_map_language(name);
	int fd = main && !lang ? bpf_map__fd(main) : -1;

	if (lang && bpf_map__autocreate(m))
		fd = shared_fd(e->env->shared, name);
	return fd < 0 ? 0 : bpf_map__reuse_fd(m, fd);
}

static int prepare_next(struct entries *e, struct unwinders *u)
{
	struct bpf_program *p;
	struct bpf_map *m;
	int r = unwinders_configure(e->env->target, e->next, e->img->stack_limit ? e->img->stack_limit : 1);

	bpf_object__for_each_program(p, e->next)
		bpf_program__set_autoload(p, false);
	for (unsigned i = 0; i < e->n; i++)
		if (e->all[i].of) {
			p = bpf_object__find_program_by_name(e->next, e->all[i].of);
			bpf_program__set_autoload(p, true);
			set_type(e, i, p);
		}
	bpf_object__for_each_map(m, e->next)
		if (is_constant(m))
			copy_constants(e, m);
	unwinders_load_only(e->next, e->languages);
	bpf_object__for_each_map(m, e->next)
		r = r || is_constant(m) ? r : use_map(e, m);
	return r ? r : unwinders_share_maps(u, e->next, e->languages);
}

static int copy_elf(const struct entries *e, void *elf, uint32_t languages)
{
	memcpy(elf, e->img->elf, e->img->elf_size);
	return unwinders_leave_out(elf, e->img->elf_size, LANGS_ALL & ~languages);
}

/* Returns NULL and sets errno on failure. */
static struct bpf_object *open_walks(const struct entries *e, uint32_t languages)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	_cleanup_(freep) void *elf = malloc(e->img->elf_size);
	int r;

	if (!elf)
		return NULL;
	r = copy_elf(e, elf, languages);
	memcpy(e->constants + e->loaded_at, &languages, sizeof(languages));
	if (!r && unwinders_trim(elf, e->img->elf_size, e->constants, e->constants_size))
		r = copy_elf(e, elf, languages);
	if (!r)
		return bpf_object__open_mem(elf, e->img->elf_size, &opts);
	errno = -r;
	return NULL;
}

static int open_next(struct entries *e, struct unwinders *u)
{
	if (e->opened && e->opened_with != e->languages)
		bpf_object__close(TAKE(e->opened));
	e->next = e->opened ? TAKE(e->opened) : open_walks(e, e->languages);
	return e->next ? prepare_next(e, u) : -errno;
}

static void *load(void *arg)
{
	struct entries *e = arg;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	e->result = bpf_object__load(e->next);
	e->ns = clock_ns(CLOCK_MONOTONIC) - start;
	atomic_store(&e->is_over, true);
	eventfd_write(e->event, 1);
	return NULL;
}

void entries_expect(struct entries *e, uint32_t languages)
{
	e->expected |= languages;
}

/* Walks that want only some languages are useless without them, even if no process has one yet. */
static uint32_t wanted(const struct entries *e, const struct unwinders *u)
{
	return e->loaded | e->expected | e->img->languages | unwinders_languages(u);
}

void entries_open_next(struct entries *e, const struct unwinders *u)
{
	if (e->next || e->opened || e->is_loaded)
		return;
	e->opened_with = wanted(e, u);
	e->opened = open_walks(e, e->opened_with); /* if this fails, entries_grow() reports it */
}

int entries_grow(struct entries *e, struct unwinders *u)
{
	uint32_t languages = wanted(e, u);
	int r;

	if (e->next || e->has_failed || (e->is_loaded && languages == e->loaded))
		return 0;
	e->languages = languages;
	r = open_next(e, u);
	if (r) {
		bpf_object__close(TAKE(e->next));
		e->has_failed = true;
		return r;
	}
	atomic_store(&e->is_over, false);
	e->has_thread = !pthread_create(&e->thread, NULL, load, e);
	if (!e->has_thread)
		load(e);
	if (!e->has_entries) /* while the thread waits for the verifier */
		r = load_entries(e);
	return r ? r : 1;
}

bool entries_are_still(const struct entries *e)
{
	return !e->next || atomic_load(&e->is_over);
}

int entries_fd(const struct entries *e)
{
	return e->event;
}

static unsigned instructions(const struct bpf_program *p)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	return bpf_prog_get_info_by_fd(bpf_program__fd(p), &info, &size) ? 0 : info.verified_insns;
}

static void say_loaded(const struct entries *e)
{
	struct str names = {};
	unsigned n = 0;

	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (e->languages >> i & 1)
			str_addf(&names, "%s%s", names.len ? ", " : "", langs[i]->name);
	for (unsigned i = 0; i < e->n; i++)
		if (e->all[i].of)
			n += instructions(bpf_object__find_program_by_name(e->next, e->all[i].of));
	log_info("stacks: languages loaded: %s (%u instructions, %.1f ms)", names.len ? str_text(&names) : "none", n,
		(double)e->ns / 1e6);
	str_done(&names);
}

static int put(const struct entries *e, const struct entry *entry)
{
	const struct bpf_map *array = bpf_object__find_map_by_name(entry->obj, "entered");
	int fd = bpf_program__fd(bpf_object__find_program_by_name(e->next, entry->of));
	const uint32_t zero = 0;

	return bpf_map_update_elem(bpf_map__fd(array), &zero, &fd, BPF_ANY) ? -errno : 0;
}

/* The arrays keep the programs. */
static int put_all(struct entries *e)
{
	int r = shared_add(e->env->shared, e->next, e->img);

	for (unsigned i = e->n; i-- > 0 && !r;)
		r = e->all[i].of ? put(e, &e->all[i]) : 0;
	if (r)
		return r;
	say_loaded(e);
	e->loaded = e->languages;
	e->is_loaded = true;
	return 0;
}

int entries_take(struct entries *e)
{
	eventfd_t n;
	int r;

	if (!e->next)
		return 0;
	join(e);
	eventfd_read(e->event, &n);
	r = e->result ? e->result : put_all(e);
	bpf_object__close(TAKE(e->next));
	e->has_failed |= r != 0 && r != -EAGAIN; /* -EAGAIN: signals have interrupted the verifier */
	return r == -EAGAIN && e->is_loaded ? 0 : r;
}
