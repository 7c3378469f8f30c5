// SPDX-License-Identifier: Apache-2.0
/* process.c - the processes' mappings, for the walk.
 *
 * A process's mappings are a sorted array. The kernel half gets it in chunks, after the tables and the
 * languages' data that it refers to. Mappings come from /proc/PID/maps once, then from mmap events; an
 * unmapping without an event is noticed when something else is mapped there. */
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/owner.h"
#include "base/vec.h"
#include "current.h"
#include "mappings.h"
#include "perfmap.h"
#include "requesting.h"
#include "target/target.h"
#include "unwinders/host/walk.h"
#include "unwinders/idmap.h"
#include "unwinders/maps/maps.h"
#include "unwinders/requests/requests.h"

#define DEAD_MAX     16384
#define REPORTED_SECONDS 5

/* A process with a language's file whose data could not be read yet: a library fills its data after it was mapped. */
struct late {
	uint32_t pid;
	uint64_t until; /* CLOCK_MONOTONIC_COARSE ns: the last try */
};
#define LATE_NS 10000000000ULL
#define OLD_NS  2000000 /* the age of mappings that are checked before they are published */

struct processes {
	struct target *target;
	struct files *files;
	struct walk_maps *maps;
	struct idmap by_pid;          /* struct process * */
	VEC(struct perfmap *) perfmaps;
	VEC(uint32_t) graves;         /* pids of dead processes, oldest first */
	size_t forgotten;             /* number of graves that are empty again */
	VEC(uint32_t) changed;        /* pids to be published; some may be published or ended by now */
	bool lossy;                   /* events were lost */
	bool watches;                 /* a map is watched, see processes_watch() */
	struct mapping_chunk chunk;   /* the chunk that is being written */
	uint32_t generation;          /* the last generation given, see struct lang */
	struct host_memory *recorded; /* of the core that is being added; or NULL */
	VEC(struct late) late;
	struct requests *requests;    /* NULL: nobody wants to know */
};

struct processes *processes_new(struct target *t, struct files *fs, struct walk_maps *maps)
{
	struct processes *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->target = t;
	ps->files = fs;
	ps->maps = maps;
	return ps;
}

static void process_free(struct process *p)
{
	for (unsigned i = 1; p && i < FRAME_LANGS; i++)
		free(p->lang[i].proc);
	if (p)
		free(p->maps);
	free(p);
}

void processes_free(struct processes *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->by_pid.cap; i++)
		if (ps->by_pid.slot[i].key)
			process_free((void *)(uintptr_t)ps->by_pid.slot[i].value);
	for (size_t i = 0; i < ps->perfmaps.len; i++)
		perfmap_free(ps->perfmaps.data[i]);
	vec_done(&ps->perfmaps);
	vec_done(&ps->graves);
	vec_done(&ps->changed);
	vec_done(&ps->late);
	idmap_done(&ps->by_pid);
	free(ps);
}

struct process *processes_find(const struct processes *ps, uint32_t pid)
{
	return idmap_pointer(&ps->by_pid, pid);
}

size_t processes_count(const struct processes *ps)
{
	return ps->by_pid.n;
}

/* ---- contents of a mapping ---- */

static struct perfmap *map_of(struct processes *ps, struct process *p)
{
	if (!p->jit && (p->jit = perfmap_new((int)p->pid)))
		vec_push(&ps->perfmaps, p->jit);
	return p->jit;
}

/* JITs map a page of their jitdump file, jit-PID.dump, so that profilers find it. */
static void note_dump(struct processes *ps, struct process *p, const struct proc_map *pm)
{
	const char *slash = strrchr(pm->path, '/');
	size_t digits = slash && !strncmp(slash, "/jit-", 5) ? strspn(slash + 5, "0123456789") : 0;
	struct perfmap *m;
	int fd;

	if (!digits || strcmp(slash + 5 + digits, ".dump") != 0 || p->recorded)
		return;
	m = map_of(ps, p);
	fd = m ? proc_open_mapping(ps->target, (int)p->pid, pm) : -1;
	if (fd >= 0)
		perfmap_dump(m, fd);
}

static struct file *anonymous_file(struct processes *ps, struct process *p, uint64_t base)
{
	struct file *f;

	for (unsigned i = 0; i < p->nanonymous; i++)
		if (p->anonymous[i]->jit_base == base)
			return p->anonymous[i];
	if (p->nanonymous == ARRAY_SIZE(p->anonymous))
		return NULL;
	if (!map_of(ps, p))
		return NULL;
	f = files_anonymous(ps->files, p->jit, base, p->languages >> FRAME_LANG_JS & 1 ? "[v8]" : "[anon]");
	if (f)
		p->anonymous[p->nanonymous++] = f;
	return f;
}

static void new_generation(struct processes *ps, struct process *p, unsigned lang)
{
	size_t at = langs[lang]->generation_at;

	ps->generation++;
	if (at && p->lang[lang].proc)
		memcpy((char *)p->lang[lang].proc + at, &ps->generation, sizeof(ps->generation));
}

static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct host_memory *m = arg;

	return m->read(m, addr, buf, size);
}

/* Returns false if the language's data cannot be read in the process. */
static bool attach_lang(struct processes *ps, struct process *p, unsigned lang, struct file *f,
	const struct mapping *m)
{
	const struct lang *l = langs[lang];
	_cleanup_(freep) void *proc = p->lang[lang].proc ? NULL : calloc(1, l->proc_size + 1);
	struct lang_file of = file_of_lang(f, lang);
	struct host_process memory;

	host_process_init(&memory, (int)p->pid);
	of.arg = p->recorded ? ps->recorded : &memory.memory;
	of.read = of.arg ? read_memory : NULL;
	if (p->lang[lang].proc)
		return !l->attach(&of, m, false, p->lang[lang].proc);
	if (!proc || l->attach(&of, m, true, proc))
		return false;
	if (p->libc && l->libc)
		l->libc(p->libc->elf, proc);
	p->lang[lang].file = f;
	p->lang[lang].proc = TAKE(proc);
	for (unsigned i = 0; lang == FRAME_LANG_JS && i < p->nanonymous; i++) /* mapped before a library with V8 */
		p->anonymous[i]->path = "[v8]";
	new_generation(ps, p, lang);
	return true;
}

static void fill_anonymous(struct processes *ps, struct process *p, const char *path, struct mapping *m)
{
	struct file *f = anonymous_file(ps, p, m->start & ~FRAME_VADDR_MASK);

	m->flags = MAPPING_ANON | mappings_compiled(path);
	m->bias = m->start & ~FRAME_VADDR_MASK;
	m->file = f ? f->id : 0;
}

static void changes(struct processes *ps, struct process *p)
{
	if (!p->changed)
		vec_push(&ps->changed, p->pid);
	p->changed = true;
}

static void comes_late(struct processes *ps, const struct process *p)
{
	const struct late late = { p->pid, clock_ns(CLOCK_MONOTONIC_COARSE) + LATE_NS };

	if (!p->recorded)
		vec_push(&ps->late, late);
}

/* Tries again to read languages' data. Returns whether some are still missing. */
static bool attach_late(struct processes *ps, struct process *p)
{
	uint32_t before = p->languages;

	for (size_t i = 0; i < p->nmaps; i++) {
		const struct mapping *m = &p->maps[i];
		uint32_t found = m->flags >> MAPPING_LANGS_SHIFT & p->mapped & LANGS_FRAME & ~p->languages;

		for (unsigned lang = 1; !(m->flags & MAPPING_ANON) && found >> lang; lang++)
			if (found >> lang & 1 && attach_lang(ps, p, lang, files_get(ps->files, m->file), m))
				p->languages |= 1U << lang;
	}
	if (p->languages != before)
		changes(ps, p);
	return p->mapped & LANGS_FRAME & ~p->languages;
}

static void attach_all_late(struct processes *ps)
{
	uint64_t now = ps->late.len ? clock_ns(CLOCK_MONOTONIC_COARSE) : 0;
	size_t n = 0;

	for (size_t i = 0; i < ps->late.len; i++) {
		struct late late = ps->late.data[i];
		struct process *p = processes_find(ps, late.pid);

		if (p && !p->dead && attach_late(ps, p) && now < late.until)
			ps->late.data[n++] = late;
	}
	ps->late.len = n;
}

/* The file is a C library, or has languages. */
static void fill_langs(struct processes *ps, struct process *p, struct file *f, struct mapping *m)
{
	uint32_t languages = file_languages(f);

	p->mapped |= languages;
	if (f->libc && !p->libc) {
		p->libc = f;
		for (unsigned i = 1; i < FRAME_LANGS; i++)
			if (p->lang[i].proc && langs[i]->libc)
				langs[i]->libc(f->elf, p->lang[i].proc);
	}
	for (unsigned i = 1; languages >> i; i++) {
		bool native = lang_kind(i) == LANG_NATIVE, has;

		if (!(languages >> i & 1))
			continue;
		has = native || attach_lang(ps, p, i, f, m);
		if (has)
			p->languages |= 1U << i;
		if (native && !p->native_file)
			p->native_file = f->id;
		if (has || lang_kind(i) == LANG_FRAME) /* the table has the language's rules */
			m->flags |= MAPPING_LANG(i);
		if (!has && lang_kind(i) == LANG_FRAME)
			comes_late(ps, p);
	}
}

static void fill_file(struct processes *ps, struct process *p, struct file *f, const struct proc_map *pm,
	uint64_t offset, struct mapping *m)
{
	uint64_t bias;

	if (!f) { /* it cannot be opened: the process has ended */
		m->bias = m->start - offset;
		m->flags = MAPPING_NO_TABLE;
		return;
	}
	if (!f->elf || !file_bias(f, m->start, offset, &bias)) {
		fill_anonymous(ps, p, pm->path, m); /* a JIT's memory file */
		return;
	}
	m->bias = bias;
	m->file = f->id;
	m->flags |= f->table.data ? 0 : MAPPING_NO_TABLE;
	fill_langs(ps, p, f, m);
	requesting_file(ps->requests, p, f, bias);
}

static struct file *file_of(struct processes *ps, const struct process *p,
	const struct proc_map *pm)
{
	return p->recorded ? files_of_path(ps->files, pm->path) :
		files_of_mapping(ps->files, (int)p->pid, pm);
}

static bool is_code(const struct file *f, const struct proc_map *pm)
{
	uint64_t bias;

	return f && f->elf && file_bias(f, pm->start, pm->offset, &bias);
}

/* The walk compares addresses below this. "[vsyscall]", which is a segment of cores, is above. */
#define USER_END (1ULL << 63)

/* Remembers the code of libpcre2: see native_pcre() of bpf/walk/cfi.bpf.c. */
static void note_pcre(struct process *p, const struct proc_map *pm)
{
	const char *slash = strrchr(pm->path, '/');

	if (!slash || strncmp(slash, "/libpcre2-", strlen("/libpcre2-")) != 0)
		return;
	p->pcre_start = pm->start;
	p->pcre_end = pm->end;
}

/* Returns the mapping's file, or NULL. "[vdso]" is an image in memory; "[uprobes]" is the kernel's. */
static struct file *add_mapping(struct processes *ps, struct process *p, const struct proc_map *pm)
{
	struct mapping m = { .start = pm->start, .end = pm->end };
	struct file *f = NULL;

	if (pm->end > USER_END || pm->start >= pm->end)
		return NULL;
	if (!strcmp(pm->path, "[uprobes]")) {
		m.flags = MAPPING_UPROBES;
	} else if (!strcmp(pm->path, "[vdso]")) {
		f = files_vdso(ps->files);
		fill_file(ps, p, f, pm, 0, &m);
		m.flags |= MAPPING_VDSO;
	} else if ((!pm->inode && !p->recorded) || pm->path[0] != '/') {
		fill_anonymous(ps, p, pm->path, &m);
	} else {
		f = file_of(ps, p, pm);
		if (p->recorded && !is_code(f, pm))
			return NULL;
		fill_file(ps, p, f, pm, pm->offset, &m);
		note_pcre(p, pm);
		note_dump(ps, p, pm);
	}
	m.flags |= pm->write ? MAPPING_WRITE : 0;
	mappings_insert(p, &m);
	return f;
}

/* ---- publishing ---- */

/* Chunk 0 is written last: it shows that the others are there. */
static int publish(const struct process *p, struct walk_maps *maps, const struct current *now, struct mapping_chunk *c)
{
	int err = 0;

	for (unsigned i = 1; !err && i < FRAME_LANGS; i++)
		if (p->lang[i].proc)
			err = maps->set_proc(maps, i, p->pid, p->lang[i].proc);
	for (uint32_t i = mappings_chunks(p); !err && i-- > 0;) {
		if (!process_chunk(p, i, c))
			continue;
		current_only(now, c);
		err = maps->set_chunk(maps, p->pid, i, c);
	}
	return err;
}

/* Returns whether some mappings may have gone: tables were made since, or the process often closes libraries. */
static bool is_old(const struct process *p)
{
	return !p->recorded && p->nmaps && (p->reuses || clock_ns(CLOCK_MONOTONIC) - p->known_at > OLD_NS);
}

/* Publishes the mappings that the process still has. The kernel forgets a mapping by itself (bpf/walk/reuse.bpf.c), but
 * not before it is published: so this looks twice. */
static int publish_current(struct processes *ps, const struct process *p)
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		struct current now = {.files = ps->files};

		current_read(&now, ps->target, p->pid);
		err = publish(p, ps->maps, &now, &ps->chunk);
		free(now.maps);
	}
	return err;
}

/* Publishes the process, and keeps the generations that the kernel half has given. */
static int publish_own(struct processes *ps, struct process *p)
{
	bool is_start = !ps->maps->put_tables(ps->maps);
	const struct current unread = {};

	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		size_t at = langs[i]->generation_at;
		uint32_t found = at && p->lang[i].proc ? ps->maps->generation(ps->maps, i, p->pid) : 0;

		if (found)
			memcpy((char *)p->lang[i].proc + at, &found, sizeof(found));
	}
	p->published = true;
	p->changed = false;
	return !is_start && is_old(p) ? publish_current(ps, p) : publish(p, ps->maps, &unread, &ps->chunk);
}

void processes_publish(struct processes *ps, uint32_t pid)
{
	struct process *p = processes_find(ps, pid);

	if (p && p->changed && !p->dead)
		publish_own(ps, p);
}

/* V8 names its own code. */
static bool renew_file(struct processes *ps, struct file *f, uint32_t before)
{
	if (!f->jit_next && strcmp(f->path, "[v8]") != 0 &&
		(f->jit_next = files_anonymous(ps->files, f->jit, f->jit_base, f->path)))
		f->jit_before = before;
	return f->jit_next;
}

/* The process's JIT has put code into the place of other code: new stacks have another file there. */
static void renew_code(struct processes *ps, struct process *p, uint32_t before)
{
	for (unsigned i = 0; i < p->nanonymous; i++) {
		struct file *f = p->anonymous[i];

		if (!renew_file(ps, f, before))
			continue;
		for (size_t k = 0; k < p->nmaps; k++)
			if (p->maps[k].file == f->id)
				p->maps[k].file = f->jit_next->id;
		p->anonymous[i] = f->jit_next;
		changes(ps, p);
	}
}

static void poll_maps(struct processes *ps)
{
	for (size_t i = 0; i < ps->perfmaps.len; i++) {
		uint32_t before = perfmap_poll(ps->perfmaps.data[i], ps->target);

		for (size_t k = 0; before && k < ps->by_pid.cap; k++) {
			struct process *p = (void *)(uintptr_t)ps->by_pid.slot[k].value;

			if (ps->by_pid.slot[k].key && !p->dead && p->jit == ps->perfmaps.data[i])
				renew_code(ps, p, before);
		}
	}
}

void processes_watch(struct processes *ps, const struct stack_record *r, size_t size)
{
	size_t n = size > sizeof(*r) ? (size - sizeof(*r)) / sizeof(r->frames[0]) : 0;

	for (size_t i = 0; i < n && i < r->nr; i++) {
		const struct file *f = r->frames[i] >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE ?
			files_get(ps->files, (uint32_t)(r->frames[i] >> FRAME_FILE_SHIFT) & (FILES_MAX - 1)) : NULL;

		if (!f || !f->jit)
			continue;
		ps->watches = true;
		perfmap_watch(f->jit);
	}
}

void processes_publish_all(struct processes *ps)
{
	if (ps->watches)
		poll_maps(ps);
	attach_all_late(ps);
	for (size_t i = 0; i < ps->changed.len; i++)
		processes_publish(ps, ps->changed.data[i]);
	ps->changed.len = 0;
}

void processes_readable(struct processes *ps, uint32_t pid)
{
	struct process *p = processes_find(ps, pid);

	if (!p || p->dead || p->readable)
		return;
	p->readable = true;
	publish_own(ps, p);
}

static void withdraw(struct processes *ps, struct process *p)
{
	if (!p->published)
		return;
	for (uint32_t i = 0; i < mappings_chunks(p); i++)
		ps->maps->set_chunk(ps->maps, p->pid, i, NULL);
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (p->lang[i].proc)
			ps->maps->set_proc(ps->maps, i, p->pid, NULL);
	p->published = false;
}

/* ---- events ---- */

/* The map remains if it is the parent's, and the process a child that runs the parent's code. */
static void end_perfmap(struct processes *ps, const struct process *p)
{
	if (p->jit)
		perfmap_end(p->jit, p->pid, ps->target);
}

static struct process *new_process(struct processes *ps, uint32_t pid)
{
	struct process *old = processes_find(ps, pid), *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (old) {
		end_perfmap(ps, old);
		withdraw(ps, old);
	}
	process_free(old);
	p->pid = pid;
	idmap_set(&ps->by_pid, pid, (uintptr_t)p);
	return p;
}

/* Anonymous files are kept: their numbers are in frames that were sent. Unchanged mappings are not written,
 * so that the kernel's count of misses is kept, unless a language's data became readable. */
static int read_maps(struct processes *ps, struct process *p)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	_cleanup_(freep) struct mapping *old = NULL;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	ssize_t n = proc_maps(ps->target, (int)p->pid, &maps);
	size_t nold = p->nmaps;
	uint32_t languages = p->languages;

	if (n < 0)
		return (int)n;
	if (!n)
		return -ESRCH; /* a zombie, or a kernel thread */
	p->known_at = now;
	old = TAKE(p->maps);
	p->nmaps = p->cap = 0;
	for (ssize_t i = 0; i < n; i++)
		if (maps[i].exec || mappings_is_written(maps, (size_t)n, (size_t)i))
			add_mapping(ps, p, &maps[i]);
	if (ps->requests)
		requests_process(ps->requests, p->pid);
	if (p->published && !p->changed && p->languages == languages && mappings_same(p, old, nold))
		return 0;
	return publish_own(ps, p);
}

int processes_add(struct processes *ps, uint32_t pid)
{
	struct process *p = processes_find(ps, pid);

	if (!p || p->dead)
		p = proc_alive(ps->target, (int)pid) ? new_process(ps, pid) : NULL;
	return p ? read_maps(ps, p) : -ESRCH;
}

int processes_add_recorded(struct processes *ps, uint32_t pid, const struct proc_map *maps, size_t n,
	struct host_memory *memory)
{
	struct process *p = new_process(ps, pid);

	if (!p)
		return -ENOMEM;
	p->recorded = true;
	ps->recorded = memory;
	for (size_t i = 0; i < n; i++)
		add_mapping(ps, p, &maps[i]);
	ps->recorded = NULL;
	return publish_own(ps, p);
}

struct file *processes_mmap(struct processes *ps, const struct process_mmap *m)
{
	struct process *p = processes_find(ps, m->pid);
	struct proc_map pm = {
		.start = m->start, .end = m->start + m->len, .offset = m->offset,
		.inode = m->inode, .dev_major = m->dev_major, .dev_minor = m->dev_minor,
		.exec = m->exec, .write = m->write, .path = m->path,
	};
	const struct mapping *old;
	struct file *f = NULL;
	uint32_t file;

	if (!p || p->dead) {
		processes_add(ps, m->pid);
		return NULL;
	}
	p->known_at = m->known_at;
	old = process_mapping(p, m->start);
	file = old ? old->file : 0;
	if (m->exec)
		f = add_mapping(ps, p, &pm);
	else
		mappings_cut(p, pm.start, pm.end);
	p->reuses |= file && f && f->id != file;
	changes(ps, p);
	if (!p->begins || !f)
		return NULL;
	p->begins = false;
	return f;
}

static void copy_langs(struct processes *ps, struct process *p, const struct process *from)
{
	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		if (!from->lang[i].proc)
			continue;
		p->lang[i].file = from->lang[i].file;
		p->lang[i].proc = malloc(langs[i]->proc_size);
		if (!p->lang[i].proc)
			continue;
		memcpy(p->lang[i].proc, from->lang[i].proc, langs[i]->proc_size);
		new_generation(ps, p, i);
	}
}

void processes_fork(struct processes *ps, uint32_t parent, uint32_t child)
{
	const struct process *from = processes_find(ps, parent);
	struct process *p;

	if (!from || from->dead)
		return; /* read at the child's first miss */
	p = new_process(ps, child);
	if (!p)
		return;
	from = processes_find(ps, parent);
	p->known_at = from->known_at;
	p->languages = from->languages;
	p->native_file = from->native_file;
	p->pcre_start = from->pcre_start;
	p->pcre_end = from->pcre_end;
	p->mapped = from->mapped;
	p->libc = from->libc;
	copy_langs(ps, p, from);
	p->jit = from->jit;
	p->nanonymous = from->nanonymous;
	memcpy(p->anonymous, from->anonymous, sizeof(p->anonymous));
	for (size_t i = 0; i < from->nmaps; i++)
		mappings_insert(p, &from->maps[i]);
	changes(ps, p);
	if (p->mapped & LANGS_FRAME & ~p->languages)
		comes_late(ps, p);
	if (ps->requests)
		requests_fork(ps->requests, parent, child);
}

/* Mappings of the new program follow as events. */
void processes_exec(struct processes *ps, uint32_t pid)
{
	struct process *p = new_process(ps, pid);

	if (!p)
		return;
	p->begins = true;
	changes(ps, p);
	if (ps->requests)
		requests_exec(ps->requests, pid);
}

void processes_lost(struct processes *ps)
{
	ps->lossy = true;
}

/* Forgets all dead processes except the last n, which are kept for usym(). A pid may be used again. */
static void forget_dead(struct processes *ps, size_t n)
{
	while (ps->graves.len - ps->forgotten > n) {
		uint32_t old = ps->graves.data[ps->forgotten++];
		struct process *p = processes_find(ps, old);

		if (!p || !p->dead)
			continue;
		process_free(p);
		idmap_remove(&ps->by_pid, old);
	}
	if (ps->forgotten < DEAD_MAX)
		return;
	ps->graves.len -= ps->forgotten;
	memmove(ps->graves.data, ps->graves.data + ps->forgotten, ps->graves.len * sizeof(*ps->graves.data));
	ps->forgotten = 0;
}

static void bury(struct processes *ps, uint32_t pid)
{
	vec_push(&ps->graves, pid);
	forget_dead(ps, DEAD_MAX);
}

void processes_exit(struct processes *ps, uint32_t pid)
{
	struct process *p = processes_find(ps, pid);

	for (unsigned i = 1; i < FRAME_LANGS; i++) /* the kernel half may have found the language */
		if (lang_kind(i) != LANG_NATIVE && (!p || ps->lossy || p->mapped >> i & 1))
			ps->maps->set_proc(ps->maps, i, pid, NULL);
	if (!p || p->dead)
		return;
	end_perfmap(ps, p);
	withdraw(ps, p);
	if (ps->requests)
		requests_exit(ps->requests, pid);
	p->dead = true;
	bury(ps, pid);
}

static struct process *nth_process(const struct processes *ps, size_t i)
{
	return ps->by_pid.slot[i].key ? (void *)(uintptr_t)ps->by_pid.slot[i].value : NULL;
}

/* Returns whether a process has ended, though nobody reported it. The report may still be on its way, after those of
 * the process's last acts: so this waits. */
static bool has_ended(const struct processes *ps, struct process *p)
{
	if (p->dead || p->recorded || proc_alive(ps->target, (int)p->pid))
		return false;
	if (!p->gone)
		p->gone = time(NULL);
	return time(NULL) - p->gone > REPORTED_SECONDS;
}

void processes_forget(struct processes *ps, size_t n)
{
	for (size_t i = 0; i < ps->by_pid.cap; i++) {
		struct process *p = nth_process(ps, i);

		if (p && has_ended(ps, p))
			processes_exit(ps, p->pid);
	}
	forget_dead(ps, n);
}

void processes_feed(struct processes *ps, struct requests *rs)
{
	ps->requests = rs;
	for (size_t i = 0; rs && i < ps->by_pid.cap; i++) {
		const struct process *p = nth_process(ps, i);

		if (p && !p->dead)
			requesting_process(rs, p, ps->files);
	}
}

void processes_mark_files(const struct processes *ps)
{
	for (size_t i = 0; i < ps->by_pid.cap; i++) {
		const struct process *p = nth_process(ps, i);

		for (size_t k = 0; p && !p->dead && k < p->nmaps; k++) {
			struct file *f = files_get(ps->files, p->maps[k].file);

			if (f)
				f->mapped = true;
		}
		if (p && !p->dead && p->libc)
			files_get(ps->files, p->libc->id)->mapped = true;
		for (unsigned k = 1; p && !p->dead && k < FRAME_LANGS; k++)
			if (p->lang[k].file)
				p->lang[k].file->mapped = true;
	}
}

static bool lacks_table(const struct processes *ps, const struct process *p)
{
	for (size_t i = 0; i < p->nmaps; i++) {
		const struct file *f = files_get(ps->files, p->maps[i].file);

		if (p->maps[i].flags & MAPPING_NO_TABLE && f && f->table.data)
			return true;
	}
	return false;
}

void processes_reread(struct processes *ps)
{
	VEC(uint32_t) pids = {};

	for (size_t i = 0; i < ps->by_pid.cap; i++) {
		const struct process *p = nth_process(ps, i);

		if (p && !p->dead && !p->recorded && lacks_table(ps, p))
			vec_push(&pids, p->pid);
	}
	for (size_t i = 0; i < pids.len; i++)
		processes_add(ps, pids.data[i]);
	vec_done(&pids);
}
