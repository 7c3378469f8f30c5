// SPDX-License-Identifier: Apache-2.0
/* image_object.c - loads images into the kernel, and unloads them. A callback collects libbpf's messages:
 * they are shown with -vv, and searched for the reason if the kernel refuses a program. */
#include "image_object.h"
#include "holds.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/source.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/why.h"
#include "session/entries.h"
#include "session/script_maps.h"
#include "session/shared.h"
#include "session/walkers.h"
#include "session/who.h"
#include "target/target.h"
#include "unwinders/maps/rodata.h"
#include "unwinders/unwinders.h"

/* Bytes of the ring buffer. On a busy machine strata may wait for a CPU for tens of milliseconds: the
 * records of that time must fit. */
enum {
	RING_SMALL = 256 * 1024,
	RING_STREAM = 4 * 1024 * 1024, /* lines of text: some 50,000; limited to a part of the machine's memory */
	RING_MEMORY = 1024,            /* the divisor of that part */
	RING_STACKS = 8 * 1024 * 1024,
	RING_RECORDS = 4,              /* minimum number of the largest records */
};

static struct str said; /* libbpf's messages during one load */
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static int listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_DEBUG && log_level < 2)
		return 0;
	pthread_mutex_lock(&said_lock); /* threads load objects */
	str_addvf(&said, fmt, ap);
	pthread_mutex_unlock(&said_lock);
	return 0;
}

/* ---- refusals ----------------------------------------------------------- */

/* "libbpf: prog 'probe_3': BPF program load failed" names the program. */
static const struct image_prog *refused_prog(const struct image *img)
{
	const char *at = strstr(str_text(&said), "prog 'probe_");
	unsigned long i;

	if (!at)
		return NULL;
	i = strtoul(at + 12, NULL, 10);
	return i < img->nprogs ? &img->progs[i] : NULL;
}

/* Finds the verifier's last message: the line before "processed N insns". */
static void verifier_reason(char *buf, size_t size)
{
	const char *text = str_text(&said), *end = strstr(text, "\nprocessed ");
	const char *from;

	*buf = 0;
	if (!end)
		return;
	for (from = end; from > text && from[-1] != '\n'; from--)
		;
	snprintf(buf, size, "%.*s", (int)(end - from), from);
}

/* The kernel's reasons for a refusal, and the verifier's words for each; TOO_LARGE: limits. */
static const struct refusal {
	const char *word, *text, *hint;
	enum diag_tag tag; /* 0: TOO_LARGE */
} refusals[] = {
	{"cannot use helper bpf_probe_write_user", "this kernel lets no program write to a process",
		"it is locked down, see /sys/kernel/security/lockdown", DIAG_CONTEXT},
	{"cannot use helper bpf_override_return", "this kernel lets no program end a function",
		"it is built without CONFIG_BPF_KPROBE_OVERRIDE", DIAG_CONTEXT},
	{"calling kernel function bpf_task_from_pid is not allowed",
		"comm(PID) is not available in probes of this type on this kernel",
		"tracepoints, fentry and timers have it", DIAG_CONTEXT},
	{"cannot use helper", "a function of this probe is not available in probes of its type on this kernel",
		"strata -vv shows the verifier's words", DIAG_CONTEXT},
	{"BPF program is too large", "this probe takes the kernel more than a million steps to verify",
		"split it into several probes, or write what repeats as a loop"},
	{"jumps is too complex", "this probe has more branches than the kernel verifies",
		"split it into several probes, or write what repeats as a loop"},
	{"too many subprograms", "this probe has more loops than the 256 functions that the kernel allows",
		"split it into several probes"},
	{"maps per program has reached the limit",
		"this probe uses more maps than the 64 that the kernel allows in one program",
		"some of the 64 are strata's own; use one map with several keys, @name[\"a\"] and @name[\"b\"], "
		"or several probes"},
	{"combined stack size", "this probe needs more than the 512 bytes of stack that the kernel allows",
		"take stacks outside of loops, and split long expressions"},
	{"frames is too deep", "this probe needs more than the 8 nested calls that the kernel allows",
		"each loop is one, and walking a user stack takes 6: take it before the loops, $s = ustack"},
};

static void complain_at(const struct image *img, const struct image_prog *p, const struct refusal *why)
{
	struct arena *a = arena_new();
	struct diags *d = diags_new(a, img->source);

	diag(d, p->span, why->tag ? why->tag : DIAG_TOO_LARGE, "%s", why->text);
	diag_hint(d, "%s", why->hint);
	diags_print(d, stderr, false);
	arena_free(a);
}

static void explain_refusal(const struct image *img, int r)
{
	const struct image_prog *p = refused_prog(img);
	char reason[256];

	if (strstr(str_text(&said), "(-24)")) /* libbpf prints "failed to create: Too many open files(-24)" */
		r = -EMFILE;
	verifier_reason(reason, sizeof(reason));
	if (!p || !*reason || r == -EMFILE) {
		why_no_bpf(r);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (strstr(reason, refusals[i].word)) {
			complain_at(img, p, &refusals[i]);
			return;
		}
	log_error("%sthe kernel's verifier refuses the probe %s: %s", img->calls_c ? "" : "internal error: ",
		img->places[p->first_place].place->name, reason);
	log_hint(img->calls_c ? "the imported functions in C are part of it: strata -vv shows where it stops" :
		"please report this, with the script and the output of strata -vv");
}

static int refuse(const struct image *img, int r)
{
	if (log_level >= 2)
		fputs(str_text(&said), stderr);
	explain_refusal(img, r);
	return r;
}

/* ---- sizes and types ---------------------------------------------------- */

static void size_map(struct bpf_object *obj, const char *name, uint32_t value_size,
	uint32_t entries)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	if (m && value_size)
		bpf_map__set_value_size(m, value_size);
	if (m && entries)
		bpf_map__set_max_entries(m, entries);
}

/* The kernel writes each element of a hash map when it makes the map. Images of a session that grows share one. */
static void size_lost_at(struct bpf_object *obj, const struct image *img)
{
	uint64_t n = ((uint64_t)img->nplaces + img->nprogs) * (uint64_t)libbpf_num_possible_cpus();

	if (!img->grows && n < LOST_PLACES)
		size_map(obj, "lost_at", 0, (uint32_t)n);
}

/* A trampoline's program is loaded for one function. */
static int set_function(const struct image *img, const struct image_prog *p, struct target *t,
	struct bpf_program *bpf)
{
	const struct place *place = img->places[p->first_place].place;
	int r;

	if (!target_feature(t, FEATURE_FENTRY)) {
		log_error("cannot attach to %s: this kernel lacks BPF trampolines, or does not "
			  "permit them", place->name);
		log_hint("they need Linux 5.5, on arm64 6.4; kprobes could stand in, but this "
			 "kernel has none of them either");
		return -EOPNOTSUPP;
	}
	r = bpf_program__set_attach_target(bpf, 0, place->func);
	if (r)
		log_error("cannot attach to %s: %s", place->name, why_errno(r));
	return r;
}

static int set_iterator(const struct place *place, struct bpf_program *bpf)
{
	int r = bpf_program__set_attach_target(bpf, 0, place->func);

	if (r)
		log_error("cannot iterate over %s: %s", place->name, why_errno(r));
	return r;
}

static int prepare_progs(const struct image *img, struct target *t, struct bpf_object *obj)
{
	for (unsigned i = 0; i < img->nprogs; i++) {
		const struct image_prog *p = &img->progs[i];
		struct bpf_program *bpf = bpf_object__find_program_by_name(obj, p->name);

		if (!bpf) {
			log_error("internal error: %s is not in the linked object", p->name);
			return -ENOENT;
		}
		bpf_program__set_type(bpf, p->provider->prog_type);
		if (p->sleeps)
			bpf_program__set_flags(bpf, bpf_program__flags(bpf) | BPF_F_SLEEPABLE);
		bpf_program__set_expected_attach_type(bpf, probe_is_multi(t, img, p) ?
			p->provider->multi_type : p->provider->attach_type);
		if (p->provider->ctx == CTX_ITER && set_iterator(img->places[p->first_place].place, bpf))
			return -EOPNOTSUPP;
		if (p->provider->ctx == CTX_TRAMPOLINE && set_function(img, p, t, bpf))
			return -EOPNOTSUPP;
	}
	return 0;
}

/* Sets a constant of tree.bpf.c, which is linked only with -c. */
static void prepare_tree(struct target *t, struct bpf_object *obj)
{
	uint32_t *offset = rodata_find(obj, "task_tgid_offset", sizeof(*offset));
	int at;

	if (!offset)
		return;
	at = target_btf_offset(t, "task_struct", "tgid");
	if (at < 0) {
		log_warn("without kernel BTF the children of the command are not traced");
		return;
	}
	*offset = at;
}

/* Sets a constant of request.bpf.c, which is linked only if it is used. */
static void prepare_requests(struct target *t, struct bpf_object *obj)
{
	uint32_t *offset = rodata_find(obj, "request_task_tp", sizeof(*offset));
	int at;

	if (!offset)
		return;
#ifdef __aarch64__
	at = target_btf_offset(t, "task_struct", "thread.uw.tp_value");
#else
	at = target_btf_offset(t, "task_struct", "thread.fsbase");
#endif
	if (at < 0)
		log_warn("without kernel BTF threads have no trace_id, span_id and labels");
	*offset = at < 0 ? 0 : (uint32_t)at;
}

static uint64_t ring_wanted(const struct image *img)
{
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / RING_MEMORY;
	uint64_t size = img->streams ? RING_STREAM : RING_SMALL;

	if (size > most)
		size = most < RING_SMALL ? RING_SMALL : most;
	if (img->unwinder || img->kernel_stacks)
		size = RING_STACKS;
	return size < RING_RECORDS * (uint64_t)img->record_max ? RING_RECORDS * (uint64_t)img->record_max : size;
}

/* Returns the size in bytes: a power of two of pages, which the kernel requires. */
static uint32_t ring_size(const struct image *img, uint64_t pages)
{
	uint64_t page = sysconf(_SC_PAGESIZE), wanted = pages ? pages * page : ring_wanted(img), size = page;

	while (img->ring && size < wanted)
		size *= 2;
	return size;
}

/* Reports missing features here, because the verifier would only name an unknown function. */
static bool lacks_stacks(struct target *t)
{
	if (!target_feature(t, FEATURE_TASK_PT_REGS)) {
		log_error("user stacks cannot be walked: this kernel lacks the %s",
			feature_help(FEATURE_TASK_PT_REGS));
		log_hint("Linux 5.15 has all that is needed; strata --info shows what "
			 "this one has");
		return true;
	}
	if (!target_feature(t, FEATURE_BPF_LOOP))
		log_info("very deep stacks are cut: this kernel lacks the %s", feature_help(FEATURE_BPF_LOOP));
	return false;
}

static bool may_enter(const struct image *img, const struct load_env *env)
{
	return env->may_enter && entries_suit(img);
}

/* The first image with the unwinder makes the walk's maps. */
static int prepare_unwinder(const struct image *img, struct bpf_object *obj, struct load_env *env)
{
	uint32_t limit = img->stack_limit ? img->stack_limit : 1;
	int r;

	r = shared_find(env->shared, "tables") ? unwinders_configure(env->target, obj, limit) :
		unwinders_prepare(env->target, obj, limit, may_enter(img, env) ? 0 : LANGS_ALL,
			&env->maps);
	if (r == -ENOENT)
		log_error("internal error: the unwinder is not in the linked object");
	else if (r)
		why_no_bpf(r);
	unwinders_narrow(obj, img->languages);
	return r;
}

static int prepare(struct image_object *o, const struct image *img, struct bpf_object *obj, struct load_env *env)
{
	int r = 0;

	if (img->user_stacks && lacks_stacks(env->target))
		return -EOPNOTSUPP;
	if (!script_maps_fit(img, obj))
		return -E2BIG;
	size_map(obj, "scratch", img->scratch_size, (uint32_t)libbpf_num_possible_cpus() * SCRATCH_SLOTS);
	size_map(obj, "handovers", 0, (uint32_t)libbpf_num_possible_cpus() * SCRATCH_SLOTS);
	size_map(obj, "ring", 0, ring_size(img, env->ring_pages));
	size_lost_at(obj, img);
	r = script_maps_size(img, env, obj);
	if (r)
		why_no_bpf(r);
	else if (o->large)
		large_maps_add(o->large, img, obj, env->shared);
	if (!r && img->unwinder)
		r = prepare_unwinder(img, obj, env);
	if (r)
		return r;
	r = shared_use(env->shared, obj);
	if (r) {
		why_no_bpf(r);
		return r;
	}
	prepare_tree(env->target, obj);
	prepare_requests(env->target, obj);
	who_prepare(env->target, obj, env->only_pid);
	return prepare_progs(img, env->target, obj);
}

/* Each program and shared map needs a file, and reading needs some. (libbpf has opened one for each map.) Programs that
 * walk may be in a second object, and have an entry each. */
static int check_files(struct bpf_object *obj, bool enters)
{
	struct bpf_program *p;
	unsigned n = 4;
	struct bpf_map *m;

	bpf_object__for_each_program(p, obj)
		n += enters ? 4 : 1;
	bpf_object__for_each_map(m, obj) /* shared_add() opens it again */
		n += enters ? 2 : 1;
	return files_suffice(n);
}

static void *verify(void *arg)
{
	struct image_object *o = arg;

	o->result = large_maps_use(TAKE(o->large), o->obj);
	if (!o->result)
		o->result = bpf_object__load(o->obj);
	if (!o->result && o->img->handover)
		o->result = walkers_load(o->walkers, o->img, o->obj);
	atomic_store(&o->is_over, true);
	return NULL;
}

static int open_object(struct image_object *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	int r;

	libbpf_set_print(listen);
	str_clear(&said);
	o->obj = bpf_object__open_mem(o->img->elf, o->img->elf_size, &opts);
	if (o->obj)
		return 0;
	r = -errno;
	if (r == -EMFILE || r == -ENFILE)
		log_error("cannot load the script: %s", why_errno(r));
	else
		log_error("internal error: libbpf refuses the object: %s", str_text(&said));
	return r;
}

static void begin_ring(struct image_object *o, const struct load_env *env)
{
	bool makes = o->img->ring && !shared_find(env->shared, "ring");

	o->large = large_maps_begin(makes ? ring_size(o->img, env->ring_pages) : 0);
}

static int find_rows(struct image_object *o)
{
	o->rows = calloc(o->img->nrecords + 1, sizeof(*o->rows));
	if (!o->rows)
		return -ENOMEM;
	for (unsigned i = 0; i < o->img->nrecords; i++) {
		o->rows[i] = record_row_by_name(o->img->records[i].kind);
		if (!o->rows[i]) {
			log_error("internal error: no kind of record is called %s", o->img->records[i].kind);
			return -EINVAL;
		}
	}
	return 0;
}

int image_object_start(struct image_object *o, const struct image *img, struct load_env *env)
{
	int r;

	o->img = img;
	r = shared_check(env->shared, img);
	if (!r)
		r = find_rows(o);
	if (!r) {
		begin_ring(o, env); /* while libbpf reads the object */
		r = open_object(o);
	}
	if (!r)
		r = check_files(o->obj, may_enter(img, env));
	if (!r)
		r = prepare(o, img, o->obj, env); /* this reports the reason */
	o->walkers = env->walkers;
	if (!r && img->handover) {
		r = walkers_open(o->walkers, env, img, o->obj);
		if (r)
			why_no_bpf(r);
	}
	if (!r && may_enter(img, env)) {
		r = entries_open(&o->entries, img, o->obj, env);
		if (r)
			why_no_bpf(r);
	}
	if (r)
		return r;
	o->is_under_way = !pthread_create(&o->thread, NULL, verify, o);
	if (!o->is_under_way)
		verify(o);
	return 0;
}

static void join(struct image_object *o)
{
	if (o->is_under_way)
		pthread_join(o->thread, NULL);
	o->is_under_way = false;
}

void image_object_expect(struct image_object *o, uint32_t languages)
{
	if (o->entries)
		entries_expect(o->entries, languages);
}

bool image_object_load_walks(struct image_object *o, struct unwinders *u)
{
	int r;

	if (!o->entries)
		return false;
	entries_open_next(o->entries, u);
	join(o);
	if (o->result)
		return false;
	r = entries_are_still(o->entries) ? entries_take(o->entries) : 0;
	r = r ? r : entries_grow(o->entries, u);
	o->result = r < 0 ? r : 0;
	return r > 0;
}

bool image_object_is_loading(const struct image_object *o)
{
	return !atomic_load(&o->is_over) || (o->entries && !entries_are_still(o->entries));
}

/* Loads until all languages that were seen are loaded. */
static int wait_for_walks(struct image_object *o, struct unwinders *u)
{
	int r;

	do {
		r = entries_take(o->entries);
		r = r ? r : entries_grow(o->entries, u);
	} while (r > 0);
	return r;
}

void image_object_grow(struct image_object *o, struct unwinders *u)
{
	int r = 0;

	if (!o->entries || !o->obj)
		return;
	if (entries_are_still(o->entries))
		r = entries_take(o->entries);
	r = r ? r : entries_grow(o->entries, u);
	if (r >= 0)
		return;
	if (log_level >= 2)
		fputs(str_text(&said), stderr);
	log_warn("stacks lack the frames of languages that processes have mapped since the start: %s", why_errno(r));
}

int image_object_wait(struct image_object *o, struct load_env *env, struct unwinders *u)
{
	int r;

	join(o);
	if (!o->result && o->entries && u)
		o->result = wait_for_walks(o, u);
	if (o->result)
		return refuse(o->img, o->result);
	if (log_level >= 2)
		fputs(str_text(&said), stderr);
	r = shared_add(env->shared, o->obj, o->img);
	if (!r && o->img->gates) {
		o->env.holds = holds_new(o->img, o->obj, env->target, o->env.settings);
		r = o->env.holds ? 0 : -EINVAL;
	}
	if (r)
		log_error("cannot load the script: %s", why_errno(r));
	return r;
}

/* ---- programs ----------------------------------------------------------- */

struct bpf_program *image_object_attached(const struct image_object *o, const char *name)
{
	struct bpf_program *entry = o->entries ? entries_program(o->entries, name) : NULL;

	return entry ? entry : bpf_object__find_program_by_name(o->obj, name);
}

static struct bpf_program *find_program(const struct image_object *o, const struct image_prog *p)
{
	return image_object_attached(o, p->name);
}

int image_object_ring(const struct image_object *o)
{
	bool is_made = o->entries && !o->is_under_way && !o->result;
	const struct bpf_map *ring = is_made ? bpf_object__find_map_by_name(o->obj, "ring") : NULL;

	return ring ? bpf_map__fd(ring) : -1;
}

int image_object_program(const struct image_object *o, unsigned n)
{
	return bpf_program__fd(find_program(o, &o->img->progs[n]));
}

int image_object_run(struct image_object *o, enum provider_run when, uint64_t config, void (*done)(void *arg),
	void *arg)
{
	for (unsigned i = 0; i < o->img->nprogs; i++) {
		const struct image_prog *p = &o->img->progs[i];
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		int r;

		if (p->provider->run != when || o->img->places[p->first_place].place->config != config)
			continue;
		r = bpf_prog_test_run_opts(bpf_program__fd(find_program(o, p)), &opts);
		if (r) {
			log_error("cannot run %s: %s", p->provider->name, why_errno(r));
			return r;
		}
		done(arg);
	}
	return 0;
}

enum { STEP = 256 }; /* objects before their records are read */

/* Reads one iterator to its end. */
static int iterate(const struct image_object *o, const struct image_prog *p, bool (*done)(void *arg), void *arg)
{
	const char *name = o->img->places[p->first_place].place->name;
	struct bpf_link *link = bpf_program__attach_iter(find_program(o, p), NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	ssize_t n = fd < 0 ? -errno : 1;
	char bytes[STEP];

	while (n > 0) {
		n = read(fd, bytes, sizeof(bytes));
		n = n < 0 ? errno == EAGAIN || errno == EINTR ? 1 : -errno : n;
		if (!done(arg))
			break;
	}
	if (n < 0)
		log_error("cannot iterate over %s: %s", name, why_errno((int)n));
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return n < 0 ? (int)n : 0;
}

int image_object_iterate(const struct image_object *o, bool (*done)(void *arg), void *arg)
{
	int r = 0;

	for (unsigned i = 0; i < o->img->nprogs && !r; i++)
		if (o->img->progs[i].provider->run == RUN_ITER)
			r = iterate(o, &o->img->progs[i], done, arg);
	return r;
}

uint64_t image_signals(const struct image *img)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < img->nprogs; i++)
		if (img->progs[i].provider->run == RUN_SIGNAL)
			set |= 1ull << img->places[img->progs[i].first_place].place->config;
	return set;
}

bool image_object_has_probes(const struct image_object *o)
{
	for (unsigned i = 0; i < o->img->nprogs; i++)
		if (o->img->progs[i].provider->attach || o->img->progs[i].provider->run == RUN_SIGNAL)
			return true;
	return false;
}

static int attach(struct image_object *o, const struct load_env *env, const struct image_prog *p)
{
	struct loaded_probe lp = {
		.image = o->img,
		.prog = p,
		.bpf = find_program(o, p),
		.target = env->target,
		.pid = env->pid,
		.links = &o->links,
		.obj = o->obj,
		.ticks = env->ticks,
	};

	return p->provider->attach ? p->provider->attach(&lp) : 0;
}

/* Attaches in an order that makes the kernel run the programs of one place in the order of the script. */
int image_object_attach(struct image_object *o, const struct load_env *env, unsigned *ret_places)
{
	unsigned n = o->img->nprogs;
	int r = 0;

	*ret_places = 0;
	for (unsigned i = 0; i < 2 * n && !r && !stop_asked(); i++) {
		const struct image_prog *p = &o->img->progs[i < n ? i : 2 * n - 1 - i];

		if (probe_is_newest_first(env->target, o->img, p) == (i < n))
			continue;
		r = attach(o, env, p);
		*ret_places += p->nplaces;
	}
	return r;
}

unsigned image_object_begin_places(const struct image_object *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->img->nprogs; i++)
		n += o->img->progs[i].provider->run != RUN_ATTACHED ? o->img->progs[i].nplaces : 0;
	return n;
}

static void read_missed(struct image_object *o)
{
	o->missed = calloc(o->img->nprogs + 1, sizeof(*o->missed));
	for (unsigned i = 0; o->missed && i < o->img->nprogs; i++) {
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (!bpf_prog_get_info_by_fd(image_object_program(o, i), &info, &size))
			o->missed[i] = info.recursion_misses;
	}
}

void image_object_stop(struct image_object *o)
{
	who_stop(o->obj);
	if (!o->missed)
		read_missed(o);
}

static void add_cost(const struct bpf_program *p, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	if (!p || bpf_program__fd(p) < 0 || bpf_prog_get_info_by_fd(bpf_program__fd(p), &info, &size))
		return;
	*ns += info.run_time_ns;
	*runs += info.run_cnt;
}

void image_object_cost(const struct image_object *o, uint64_t *ns, uint64_t *runs)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, o->obj)
		add_cost(p, ns, runs);
	for (unsigned i = 0; o->entries && i < o->img->nprogs; i++)
		add_cost(entries_program(o->entries, o->img->progs[i].name), ns, runs);
}

void image_object_done(struct image_object *o)
{
	join(o);
	large_maps_use(TAKE(o->large), NULL);
	links_done(&o->links);
	entries_free(o->entries);
	o->entries = NULL;
	bpf_object__close(o->obj);
	o->obj = NULL;
	free(o->rows);
	o->rows = NULL;
	free(o->missed);
	o->missed = NULL;
	holds_free(o->env.holds);
	o->env.holds = NULL;
}
