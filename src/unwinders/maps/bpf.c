// SPDX-License-Identifier: Apache-2.0
/* bpf.c - tables and mappings in the kernel's maps.
 *
 * Each table is an array of chunks that is filled by batches: the kernel copies 2 KiB at once. A mapping of the array
 * would cost more, in page faults and at its end, than the copy.
 *
 * Putting an array into the array of tables makes the kernel wait for an RCU grace period, 10 to 20 ms. So some empty
 * arrays, the slots, are put there in advance, and tables are written to them: a library that a process has just mapped
 * is known before it runs. A thread makes the slots and does the waiting, at first when the probes are attached. Tables
 * without a slot are collected, and put there together before the first mapping that may refer to them. At the start
 * mappings are collected, too, until the first flush. The kernel waits after it has put the arrays there, so that no
 * program still uses the arrays that they replace. Nobody needs that, so another thread does this waiting
 * (batch.h).
 *
 * The maps for tables and processes are made here, not with the object's other maps, so that they are filled
 * when the programs are loaded: reading processes takes as long as verifying. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/vec.h"
#include "batch.h"
#include "rodata.h"
#include "target/target.h"
#include "maps.h"
#include "unwinders/lang.h"
#include "unwinders/unwinders.h"

#define PENDING_MAX BATCH_MAX
#define CHUNK       sizeof(struct table_chunk)

/* Some of every size; half of all tables have less than 4 KiB. */
static const struct {
	uint32_t size, n;
} slot_sizes[] = { { 16 << 10, 24 }, { 128 << 10, 8 }, { 1 << 20, 1 }, { 4 << 20, 1 } };

enum { SLOT_SIZES = 4, SLOTS_MAX = 64, DROPS_MAX = 64, CHUNKS_AT_ONCE = 512, MAP_ROWS = 5 + 2 * (FRAME_LANGS - 1) };

struct slot {
	uint32_t file;
	int fd;
};

struct inode_entry {
	struct inode_key key;
	struct inode_file value;
};

struct chunk_entry {
	struct mapping_key key;
	struct mapping_chunk *value; /* without the elements of map[] that it does not use */
};

/* Tables to be given back. */
struct drops {
	uint32_t file[DROPS_MAX];
	uint32_t n;
};

/* Unused slots of one size. */
struct slots {
	struct slot slot[SLOTS_MAX];
	uint32_t n;
};

/* A map's definition in the object. */
struct map_form {
	enum bpf_map_type type;
	uint32_t key_size, value_size, entries, flags;
};

struct maps_bpf {
	struct walk_maps maps;
	struct map_form form[MAP_ROWS]; /* by map_rows; value_size 0: the object has no such map */
	/* fds; -1: there is no such map */
	int tables, mappings, versions, unknown, inodes;
	int procs[FRAME_LANGS], files[FRAME_LANGS]; /* by language: STEM_procs, STEM_files. Made when they are needed */
	uint32_t ntables;
	uint32_t file[PENDING_MAX]; /* tables to put into the array */
	int fd[PENDING_MAX];
	uint32_t pending;
	int empty;                  /* an empty table; -1: not made yet */
	struct drops drops;         /* tables that the empty one shall replace */
	struct drops dropping;      /* tables that the thread is replacing */
	struct batch putting;       /* the tables of the last flush */
	VEC(struct inode_entry) entries; /* files whose tables are pending */
	VEC(struct chunk_entry) chunks;  /* until the first flush */
	bool gathers;

	struct slots slots[SLOT_SIZES];
	struct slot taken;             /* slot for the file whose table comes next */
	uint32_t given;                /* highest number given to a slot or file */
	bool has_slots;                /* as far as known, the kernel supports slots */
	struct slots made[SLOT_SIZES]; /* the thread's slots, until it is done */
	bool refused;                  /* the kernel refused the thread's batch */
	pthread_t thread;
	bool has_thread;
	atomic_bool done;
};

static const struct {
	const char *name;
	size_t fd; /* offset in struct maps_bpf */
	unsigned lang;
} map_rows[] = {
	{ "tables", offsetof(struct maps_bpf, tables), 0 },
	{ "mappings", offsetof(struct maps_bpf, mappings), 0 },
	{ "mapping_versions", offsetof(struct maps_bpf, versions), 0 },
	{ "unknown_procs", offsetof(struct maps_bpf, unknown), 0 },
	{ "files_by_inode", offsetof(struct maps_bpf, inodes), 0 },
#define L(id, stem, builtin, kind, name)                                                 \
	{ #stem "_procs", offsetof(struct maps_bpf, procs[FRAME_LANG_##id]), FRAME_LANG_##id }, \
	{ #stem "_files", offsetof(struct maps_bpf, files[FRAME_LANG_##id]), FRAME_LANG_##id },
#include "bpf/languages.def"
#undef L
};

static int *map_fd(struct maps_bpf *s, size_t i)
{
	return (int *)((char *)s + map_rows[i].fd);
}

static int make_table(size_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", 4, CHUNK, (uint32_t)((size + CHUNK - 1) / CHUNK), &opts);

	return fd < 0 ? -errno : fd;
}

static int make_map(const struct map_form *f, const char *name)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = f->flags);
	_cleanup_(closep) int inner = -1;
	int fd;

	if (f->type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		inner = make_table(8);
		if (inner < 0)
			return inner;
		opts.inner_map_fd = (uint32_t)inner;
	}
	fd = bpf_map_create(f->type, name, f->key_size, f->value_size, f->entries, &opts);
	return fd < 0 ? -errno : fd;
}

/* Makes the language's maps, if it has some that were not made yet. Returns 0 on success, -errno on failure. */
static int need_lang(struct maps_bpf *s, unsigned lang)
{
	for (size_t i = 0; i < ARRAY_SIZE(map_rows); i++) {
		int *fd = map_fd(s, i);

		if (map_rows[i].lang != lang || *fd >= 0 || !s->form[i].value_size)
			continue;
		*fd = make_map(&s->form[i], map_rows[i].name);
		if (*fd < 0)
			return *fd;
	}
	return 0;
}

/* ---- before the object is loaded ---- */

static void set_entries(struct bpf_object *obj, const char *name, uint32_t n)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (m)
		bpf_map__set_max_entries(m, n);
}

static uint32_t offset_of(struct target *t, const char *strct, const char *member)
{
	int at = target_btf_offset(t, strct, member);

	return at < 0 ? 0 : (uint32_t)at;
}

/* Sets all offsets or none. bpf_find_vma() is as old as bpf_loop(): 5.17. */
static void set_vma_offsets(struct target *t, struct unwind_config *c)
{
	if (!target_feature(t, FEATURE_BPF_LOOP))
		return;
	c->vma_end = offset_of(t, "vm_area_struct", "vm_end");
	c->vma_pgoff = offset_of(t, "vm_area_struct", "vm_pgoff");
	c->vma_file = offset_of(t, "vm_area_struct", "vm_file");
	c->vma_flags = offset_of(t, "vm_area_struct", "vm_flags");
	c->file_inode = offset_of(t, "file", "f_inode");
	c->inode_ino = offset_of(t, "inode", "i_ino");
	c->inode_sb = offset_of(t, "inode", "i_sb");
	c->sb_dev = offset_of(t, "super_block", "s_dev");
	c->vma_lookup = c->vma_end && c->vma_pgoff && c->vma_file && c->file_inode &&
		c->inode_ino && c->inode_sb && c->sb_dev;
}

static void set_offsets(struct target *t, struct unwind_config *c)
{
	c->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	c->address_bits = target_address_bits();
#ifdef __aarch64__
	c->task_tp = offset_of(t, "task_struct", "thread.uw.tp_value");
#else
	c->task_tp = offset_of(t, "task_struct", "thread.fsbase");
#endif
	c->task_mm = offset_of(t, "task_struct", "mm");
	c->mm_exec_vm = offset_of(t, "mm_struct", "exec_vm");
	c->task_utask = offset_of(t, "task_struct", "utask");
	c->utask_returns = offset_of(t, "uprobe_task", "return_instances");
	c->utask_copy = offset_of(t, "uprobe_task", "xol_vaddr");
	c->utask_at = offset_of(t, "uprobe_task", "vaddr");
	c->return_stack = offset_of(t, "return_instance", "stack");
	c->return_addr = offset_of(t, "return_instance", "orig_ret_vaddr");
	c->return_next = offset_of(t, "return_instance", "next");
	set_vma_offsets(t, c);
}

int unwinders_configure(struct target *t, struct bpf_object *obj, uint32_t limit)
{
	struct unwind_config *c = rodata_find(obj, "unwind_config", sizeof(*c));
	struct bpf_map *frames = bpf_object__find_map_by_name(obj, "frames");
	uint32_t slots = (uint32_t)libbpf_num_possible_cpus() * SCRATCH_SLOTS;

	if (!c || !frames)
		return -ENOENT;
	if (!limit || limit > UNWIND_LIMIT_MAX)
		limit = limit ? UNWIND_LIMIT_MAX : UNWIND_LIMIT_DEFAULT;
	c->max_frames = limit;
	for (c->frames_mask = 1; c->frames_mask < limit - 1;)
		c->frames_mask = 2 * c->frames_mask + 1;
	set_offsets(t, c);
	set_entries(obj, "walks", slots);
	set_entries(obj, "frames", slots);
	set_entries(obj, "walk_copies", slots);
#define L(id, stem, builtin, kind, name) set_entries(obj, #stem "_scratch", slots);
#include "bpf/languages.def"
#undef L
	return bpf_map__set_value_size(frames, (uint32_t)sizeof(struct stack_record) + 8 * (c->frames_mask + 1));
}

void unwinders_narrow(struct bpf_object *obj, uint32_t languages)
{
	struct unwind_config *c = rodata_find(obj, "unwind_config", sizeof(*c));

	if (c)
		c->languages = languages;
}

/* ---- tables' maps ---- */

/* Before 5.6 arrays have no batches. */
static int put_chunks(int fd, uint32_t first, const struct table_chunk *chunk, uint32_t n)
{
	uint32_t key[CHUNKS_AT_ONCE], done = n;
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		key[i] = first + i;
	if (!bpf_map_update_batch(fd, key, chunk, &done, NULL))
		return 0;
	for (uint32_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(fd, &key[i], &chunk[i], BPF_ANY) ? -errno : 0;
	return err;
}

static int fill_table(int fd, const void *table, size_t size)
{
	const struct table_chunk *chunk = table;
	uint32_t n = (uint32_t)(size / CHUNK), at = 0;
	struct table_chunk last = {};
	int err = 0;

	for (; at < n && !err; at += CHUNKS_AT_ONCE)
		err = put_chunks(fd, at, chunk + at, n - at < CHUNKS_AT_ONCE ? n - at : CHUNKS_AT_ONCE);
	if (!err && size % CHUNK) {
		memcpy(&last, chunk + n, size % CHUNK);
		err = put_chunks(fd, n, &last, 1);
	}
	if (err == -ENOMEM)
		log_memory_short("stacks end early");
	return err;
}

/* ---- slots ---- */

/* Gives numbers to missing slots, in s->made, without maps yet. */
static uint32_t number_slots(struct maps_bpf *s)
{
	uint32_t wanted = 0;

	for (int i = 0; i < SLOT_SIZES; i++)
		for (s->made[i].n = 0; s->slots[i].n + s->made[i].n < slot_sizes[i].n; wanted++) {
			if (s->given >= s->ntables - 1)
				return wanted;
			s->made[i].slot[s->made[i].n++] = (struct slot){ ++s->given, -1 };
		}
	return wanted;
}

static uint32_t make_slots(struct slots *made, uint32_t *file, int *fd)
{
	uint32_t n = 0;

	for (int i = 0; i < SLOT_SIZES; i++)
		for (uint32_t k = 0; k < made[i].n; k++) {
			struct slot *r = &made[i].slot[k];

			r->fd = make_table(slot_sizes[i].size);
			if (r->fd < 0)
				continue;
			file[n] = r->file;
			fd[n++] = r->fd;
		}
	return n;
}

static void close_slots(struct slots *slots)
{
	for (int i = 0; i < SLOT_SIZES; i++)
		for (; slots[i].n; slots[i].n--)
			if (slots[i].slot[slots[i].n - 1].fd >= 0)
				close(slots[i].slot[slots[i].n - 1].fd);
}

static void accept_slots(struct maps_bpf *s)
{
	for (int i = 0; i < SLOT_SIZES; i++) {
		for (uint32_t k = 0; k < s->made[i].n; k++)
			if (s->made[i].slot[k].fd >= 0)
				s->slots[i].slot[s->slots[i].n++] = s->made[i].slot[k];
		s->made[i].n = 0;
	}
}

/* An empty table replaces each. */
static void add_drops(const struct maps_bpf *s, uint32_t *file, int *fd, uint32_t n)
{
	for (uint32_t i = 0; i < s->dropping.n; i++) {
		file[n + i] = s->dropping.file[i];
		fd[n + i] = s->empty;
	}
}

static void *slots_thread(void *arg)
{
	struct maps_bpf *s = arg;
	uint32_t file[SLOTS_MAX + DROPS_MAX];
	int fd[SLOTS_MAX + DROPS_MAX];
	uint32_t n = make_slots(s->made, file, fd);

	add_drops(s, file, fd, n);
	s->refused = !(n + s->dropping.n) || batch_put_waiting(s->tables, file, fd, n + s->dropping.n);
	if (s->refused)
		close_slots(s->made);
	atomic_store(&s->done, true);
	return NULL;
}

static void join_thread(struct maps_bpf *s)
{
	if (!s->has_thread)
		return;
	pthread_join(s->thread, NULL);
	s->has_thread = false;
	s->has_slots &= !s->refused; /* before 5.16 there are no batches */
	s->dropping.n = 0;
	accept_slots(s);
}

static void start_thread(struct maps_bpf *s)
{
	if (!number_slots(s) && !s->drops.n)
		return;
	s->dropping = s->drops;
	s->drops.n = 0;
	atomic_store(&s->done, false);
	if (pthread_create(&s->thread, NULL, slots_thread, s))
		for (int i = 0; i < SLOT_SIZES; i++)
			s->made[i].n = 0;
	else
		s->has_thread = true;
}

/* Starts the thread if half of a size's slots are used. */
static void refill_slots(struct maps_bpf *s)
{
	bool low = false;

	if (s->has_thread && atomic_load(&s->done))
		join_thread(s);
	for (int i = 0; i < SLOT_SIZES; i++)
		low |= s->slots[i].n * 2 < slot_sizes[i].n;
	if (low && !s->has_thread && s->has_slots)
		start_thread(s);
}

static void settle(struct walk_maps *maps)
{
	refill_slots((struct maps_bpf *)maps);
}

static bool take_slot(struct maps_bpf *s, size_t size)
{
	if (s->tables < 0 || s->gathers || !size || s->taken.file)
		return false;
	refill_slots(s);
	for (int i = 0; i < SLOT_SIZES; i++)
		if (size <= slot_sizes[i].size && s->slots[i].n) {
			s->taken = s->slots[i].slot[--s->slots[i].n];
			return true;
		}
	return false;
}

static uint32_t number_file(struct walk_maps *maps, size_t size)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	return take_slot(s, size) ? s->taken.file : ++s->given;
}

/* ---- tables ---- */

static int set_or_delete(int map, const void *key, const void *value)
{
	int err = 0;

	if (map < 0)
		return 0;
	if (value)
		err = bpf_map_update_elem(map, key, value, BPF_ANY);
	else
		bpf_map_delete_elem(map, key);
	return err ? -errno : 0;
}

static int flush(struct maps_bpf *s)
{
	int err;

	if (!s->pending)
		return 0;
	err = batch_put(&s->putting, s->tables, s->file, s->fd, s->pending);
	s->pending = 0;
	for (size_t i = 0; i < s->entries.len && !err; i++)
		set_or_delete(s->inodes, &s->entries.data[i].key, &s->entries.data[i].value);
	s->entries.len = 0;
	return err;
}

/* The version comes last: see MAPPING_VERSIONS. */
static int set_mappings(struct maps_bpf *s, const struct mapping_key *key, const struct mapping_chunk *value)
{
	int err = set_or_delete(s->mappings, key, value);
	uint32_t at = MAPPING_VERSION(key->pid);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int failed = set_or_delete(s->versions, &at, &now);

	return err ? err : failed;
}

static size_t used_size(const struct mapping_chunk *c)
{
	return offsetof(struct mapping_chunk, map) + c->n * sizeof(*c->map);
}

static int gather_chunk(struct maps_bpf *s, const struct mapping_key *key, const struct mapping_chunk *value)
{
	size_t size = used_size(value);
	struct mapping_chunk *copy = malloc(size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, value, size);
	vec_push(&s->chunks, (struct chunk_entry){ *key, copy });
	return 0;
}

static void drop_chunks(struct maps_bpf *s)
{
	for (size_t i = 0; i < s->chunks.len; i++)
		free(s->chunks.data[i].value);
	vec_done(&s->chunks);
}

static bool put_tables(struct walk_maps *maps)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	if (!s->gathers)
		flush(s); /* if it fails, set_chunk() does, too */
	return !s->gathers;
}

/* Sets the mappings after the tables. */
static int maps_flush(struct walk_maps *maps)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;
	int err = flush(s);

	for (size_t i = 0; i < s->chunks.len && !err; i++) {
		struct mapping_chunk whole = {};

		memcpy(&whole, s->chunks.data[i].value, used_size(s->chunks.data[i].value));
		err = set_mappings(s, &s->chunks.data[i].key, &whole);
	}
	drop_chunks(s);
	s->gathers = false;
	return err;
}

static bool is_dropped(const struct drops *d, uint32_t file, uint32_t *ret_at)
{
	for (*ret_at = 0; *ret_at < d->n; ++*ret_at)
		if (d->file[*ret_at] == file)
			return true;
	return false;
}

/* The file is used again before its table was given back. */
static void keep_table(struct maps_bpf *s, uint32_t file)
{
	uint32_t at;

	if (s->has_thread && is_dropped(&s->dropping, file, &at))
		join_thread(s);
	if (is_dropped(&s->drops, file, &at))
		s->drops.file[at] = s->drops.file[--s->drops.n];
}

static int set_table(struct walk_maps *maps, uint32_t file, const void *table, size_t size)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;
	_cleanup_(closep) int fd = -1;
	int err;

	if (s->tables < 0)
		return 0;
	if (file >= s->ntables || !size || size / CHUNK >= UINT32_MAX)
		return -E2BIG;
	keep_table(s, file);
	if (file == s->taken.file) {
		fd = s->taken.fd;
		s->taken = (struct slot){};
		return fill_table(fd, table, size);
	}
	fd = make_table(size);
	if (fd < 0)
		return fd;
	err = fill_table(fd, table, size);
	if (err)
		return err;
	s->file[s->pending] = file;
	s->fd[s->pending++] = TAKE_FD(fd);
	return s->pending == PENDING_MAX ? flush(s) : 0;
}

/* The thread gives the table back, because the kernel waits 10 ms, once for all tables in a batch. */
static void drop_table(struct walk_maps *maps, uint32_t file)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	if (s->tables < 0 || file >= s->ntables)
		return;
	if (s->empty < 0)
		s->empty = make_table(8);
	if (s->drops.n == DROPS_MAX) {
		join_thread(s);
		start_thread(s);
	}
	if (s->empty >= 0)
		s->drops.file[s->drops.n++] = file;
}

/* The process is known: its slot is free. */
static void forget_unknown(const struct maps_bpf *s, uint32_t pid)
{
	const struct unknown_proc none = {};
	uint32_t slot = UNKNOWN_SLOT(pid);

	set_or_delete(s->unknown, &slot, &none);
}

static int set_chunk(struct walk_maps *maps, uint32_t pid, uint32_t chunk,
	const struct mapping_chunk *value)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;
	struct mapping_key key = { pid, chunk };
	int err;

	if (s->gathers && value)
		return gather_chunk(s, &key, value);
	err = s->gathers ? maps_flush(maps) : value ? flush(s) : 0;
	if (!chunk)
		forget_unknown(s, pid);
	return err ? err : set_mappings(s, &key, value);
}

static int set_lang(struct maps_bpf *s, unsigned lang, const int *map, uint32_t key, const void *value)
{
	int err = value ? need_lang(s, lang) : 0;

	return err ? err : set_or_delete(*map, &key, value);
}

static int set_proc(struct walk_maps *maps, unsigned lang, uint32_t pid, const void *value)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	return set_lang(s, lang, &s->procs[lang], pid, value);
}

static int set_file(struct walk_maps *maps, unsigned lang, uint32_t file, const void *value)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	return set_lang(s, lang, &s->files[lang], file, value);
}

static int share(struct walk_maps *maps, struct bpf_object *obj, uint32_t languages)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(map_rows) && !err; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(obj, map_rows[i].name);
		unsigned lang = map_rows[i].lang;

		if (!m || (lang && !(languages >> lang & 1)))
			continue;
		err = lang ? need_lang(s, lang) : 0;
		if (!err && *map_fd(s, i) >= 0)
			err = bpf_map__reuse_fd(m, *map_fd(s, i));
	}
	return err;
}

static uint32_t generation(struct walk_maps *maps, unsigned lang, uint32_t pid)
{
	const struct lang *l = langs[lang];
	_cleanup_(freep) char *value = calloc(1, l->proc_size + 1);
	int fd = ((struct maps_bpf *)maps)->procs[lang];
	uint32_t ret = 0;

	if (value && l->generation_at && fd >= 0 && !bpf_map_lookup_elem(fd, &pid, value))
		memcpy(&ret, value + l->generation_at, sizeof(ret));
	return ret & LANG_BY_KERNEL ? ret : 0;
}

/* Waits for the file's table, because a walk would not find it yet. */
static int set_inode(struct walk_maps *maps, const struct inode_key *key,
	const struct inode_file *value)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	if (!value && s->entries.len)
		flush(s); /* the key may be among them */
	if (!s->pending || !value)
		return set_or_delete(s->inodes, key, value);
	vec_push(&s->entries, (struct inode_entry){ *key, *value });
	return 0;
}

static void maps_free(struct walk_maps *maps)
{
	struct maps_bpf *s = (struct maps_bpf *)maps;

	flush(s);
	batch_done(&s->putting);
	join_thread(s);
	close_slots(s->slots);
	vec_done(&s->entries);
	drop_chunks(s);
	for (size_t i = 0; i < ARRAY_SIZE(map_rows); i++)
		closep(map_fd(s, i));
	closep(&s->empty);
	free(s);
}

static struct map_form form_of(const struct bpf_map *m)
{
	return (struct map_form){ bpf_map__type(m), bpf_map__key_size(m), bpf_map__value_size(m),
		bpf_map__max_entries(m), bpf_map__map_flags(m) };
}

/* Languages that are left out get their maps later. */
static int make_maps(struct maps_bpf *s, struct bpf_object *obj, uint32_t languages)
{
	for (size_t i = 0; i < ARRAY_SIZE(map_rows); i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(obj, map_rows[i].name);
		int err;

		if (!m)
			continue;
		s->form[i] = form_of(m);
		if (map_rows[i].lang && !(languages >> map_rows[i].lang & 1))
			continue;
		*map_fd(s, i) = make_map(&s->form[i], map_rows[i].name);
		err = *map_fd(s, i) < 0 ? *map_fd(s, i) : bpf_map__reuse_fd(m, *map_fd(s, i));
		if (err)
			return err;
		if (map_fd(s, i) == &s->tables)
			s->ntables = bpf_map__max_entries(m);
	}
	return 0;
}

int unwinders_prepare(struct target *t, struct bpf_object *obj, uint32_t limit, uint32_t languages,
	struct walk_maps **ret)
{
	int err = unwinders_configure(t, obj, limit);
	struct maps_bpf *s;

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->maps = (struct walk_maps){ set_table, drop_table, number_file, set_chunk, set_proc, set_file, generation,
		set_inode, put_tables, maps_flush, settle, share, maps_free };
	for (size_t i = 0; i < ARRAY_SIZE(map_rows); i++)
		*map_fd(s, i) = -1;
	s->empty = -1;
	err = make_maps(s, obj, languages);
	if (err) {
		maps_free(&s->maps);
		return err;
	}
	s->has_slots = s->gathers = s->tables >= 0;
	*ret = &s->maps;
	return 0;
}
