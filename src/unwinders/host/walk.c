// SPDX-License-Identifier: Apache-2.0
/* walk.c - runs the kernel's walk here: its sources, on maps that are plain memory. Each walk has its own
 * maps; only the thread's current walk is global. */
#include "walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "bpf/lib/host.h"

/* clang's and gcc's warnings differ on the kernel halves, which are compiled with their own warnings. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wint-to-pointer-cast"
#pragma GCC diagnostic ignored "-Wsign-compare"

#define MAP
#include "bpf/lib/maps.bpf.h"
#include "bpf/walk/unwind.bpf.c"

#define LIST_HOST(stem)   extern const struct host_lang stem##_host;
#define NATIVE_HOST(stem)
#define FRAME_HOST(stem)  extern const struct host_lang stem##_host;
#define L(id, stem, builtin, kind, name) kind##_HOST(stem)
#include "bpf/languages.def"
#undef L

#define LIST_ROW(id, stem)   [FRAME_LANG_##id] = &stem##_host,
#define NATIVE_ROW(id, stem)
#define FRAME_ROW(id, stem)  [FRAME_LANG_##id] = &stem##_host,

/* The languages' maps; NULL: the language has none. */
static const struct host_lang *const host_langs[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) kind##_ROW(id, stem)
#include "bpf/languages.def"
#undef L
};

/* An array of the tables map, with bounds that only the host knows. */
struct host_table {
	const void *data;
	size_t size;
	struct table_chunk last; /* a copy, with zeros after the table's end */
};

struct host {
	struct host_memory *memory;
	const struct host_regs *regs;
	struct host_tables *given;
	uint32_t pid;
	struct walk_memory *walk;
	struct stack_record *out;
	void *scratch[FRAME_LANGS]; /* allocated at first use */
	struct rule_cache cache;
	struct host_table table;
};

static _Thread_local struct host *host;

/* ---- stand-ins --------------------------------------------------------- */

static void *table_of(uint32_t file)
{
	struct host_table *t = &host->table;

	t->data = file ? host->given->table(host->given, file, &t->size) : NULL;
	return t->data ? t : NULL;
}

static void *chunk_of_table(struct host_table *t, uint32_t i)
{
	const size_t at = (size_t)i * sizeof(t->last);

	if (at >= t->size)
		return NULL;
	if (t->size - at >= sizeof(t->last))
		return (char *)t->data + at;
	memset(&t->last, 0, sizeof(t->last));
	memcpy(&t->last, (const char *)t->data + at, t->size - at);
	return &t->last;
}

static void *scratch_of_lang(unsigned lang)
{
	if (!host->scratch[lang])
		host->scratch[lang] = calloc(1, host_langs[lang]->scratch_size);
	return host->scratch[lang];
}

/* Returns the value in a language's map, or NULL if there is none. */
static void *lookup_lang(const void *map, uint32_t key)
{
	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		const struct host_lang *l = host_langs[i];

		if (l && map == l->scratch)
			return scratch_of_lang(i);
		if (l && map == l->procs)
			return host->given->proc ? (void *)host->given->proc(host->given, i, key) : NULL;
	}
	return NULL;
}

void *host_map_lookup(void *map, const void *key)
{
	const struct mapping_key *mk = key;
	uint32_t k;

	if (map == &walks)
		return host->walk;
	if (map == &frames)
		return host->out;
	if (map == &rule_cache)
		return &host->cache;
	if (map == &mappings)
		return host->given->chunk(host->given, mk->pid, mk->chunk);
	memcpy(&k, key, sizeof(k));
	if (map == &tables)
		return table_of(k);
	if (map == &host->table)
		return chunk_of_table(map, k);
	return lookup_lang(map, k);
}

long host_map_update(void *map, const void *key, const void *value)
{
	return 0;
}

long host_read(void *dst, __u32 size, const void *addr)
{
	return host->memory->read(host->memory, (uint64_t)addr, dst, size);
}

long host_output(const void *data, __u64 size)
{
	const struct record *r = data;

	if (r->kind == RECORD_LANG && host->given->record)
		host->given->record(host->given, r, size);
	return 0;
}

__u64 host_pid_tgid(void)
{
	return (uint64_t)host->pid << 32 | (host->regs->tid ? host->regs->tid : host->pid);
}

__u64 host_ring_size(void)
{
	return 0;
}

__u64 host_time(void)
{
	return 0;
}

int user_registers(struct walk *w)
{
	const struct host_regs *r = host->regs;

	w->pc = r->pc;
	w->sp = r->sp;
	w->fp = r->fp;
	w->lr = r->lr;
	w->machine = r->machine;
	w->pc_mask = (1ULL << (r->address_bits ? r->address_bits : 48)) - 1;
	w->g = r->other[RULE_REG_X28];
	memcpy(w->regs, r->other, sizeof(w->regs));
	w->flags = WALK_EXACT | WALK_LR | WALK_BLIND | (r->has_other ? WALK_REGS | WALK_RBX : 0) |
		(host->given->is_late ? WALK_LATE : 0);
	return 0;
}

__u64 thread_pointer(void)
{
	return host->regs->tp;
}

/* ---- a list of frames that the kernel sent -------------------------------- */

int host_has_list(void)
{
	return host->given->list != NULL;
}

int host_list_begin(struct walk *w)
{
	w->list.lang = host->given->list_lang;
	w->list.begun = 1;
	w->list.frame = host->given->nlist;
	return w->list.frame ? 0 : -1;
}

int host_list_next(struct walk *w, __u64 *frame)
{
	const struct host_tables *t = host->given;

	w->list.entry = 0;
	if (!w->list.frame)
		return 0;
	*frame = t->list[t->nlist - w->list.frame--];
	if (*frame >> FRAME_LANG_SHIFT)
		return 1;
	w->list.entry = *frame;
	return 0;
}

/* ---- memory ------------------------------------------------------------ */

static int process_read(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	struct host_process *p = (struct host_process *)m;
	struct iovec to = {buf, size}, from = {(void *)addr, size};
	ssize_t n = process_vm_readv(p->pid, &to, 1, &from, 1, 0);

	return n == (ssize_t)size ? 0 : n < 0 ? -errno : -EFAULT;
}

void host_process_init(struct host_process *m, int pid)
{
	*m = (struct host_process){{process_read}, pid};
}

static const uint8_t *page_of(struct host_pages *p, uint64_t number)
{
	size_t k = number % HOST_PAGES;

	if (p->page[k] == number + 1)
		return p->data[k];
	p->page[k] = 0;
	if (p->of->read(p->of, number << 12, p->data[k], sizeof(p->data[k])))
		return NULL;
	p->page[k] = number + 1;
	return p->data[k];
}

/* A part without a whole page, such as a core's end, is read directly. */
static int pages_read(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	struct host_pages *p = (struct host_pages *)m;
	const uint8_t *data;

	for (size_t done = 0, n; done < size; done += n) {
		size_t at = (addr + done) & 4095;

		n = size - done < 4096 - at ? size - done : 4096 - at;
		data = page_of(p, (addr + done) >> 12);
		if (!data)
			return p->of->read(p->of, addr, buf, size);
		memcpy((char *)buf + done, data + at, n);
	}
	return 0;
}

void host_pages_init(struct host_pages *m, struct host_memory *of)
{
	m->memory.read = pages_read;
	m->of = of;
	memset(m->page, 0, sizeof(m->page));
}

static bool is_hole(const struct host_copy *c, uint64_t addr)
{
	return c->holes >> (addr - c->start) / WALK_PIECE & 1;
}

static bool all_zeros(const uint8_t *data, size_t size)
{
	return !size || (!data[0] && !memcmp(data, data + 1, size - 1));
}

/* A page without writes is zeros; a page that was swapped out is not. */
static void read_hole(struct host_copy *c, uint64_t addr, uint8_t *to, size_t n)
{
	if (!c->refuse && c->rest && !c->rest->read(c->rest, addr, to, n)) {
		c->late |= !all_zeros(to, n);
		return;
	}
	memset(to, 0, n);
	c->zeros = true;
}

/* Reads within one piece. */
static void read_piece(struct host_copy *c, uint64_t addr, uint8_t *to, size_t n)
{
	if (is_hole(c, addr))
		read_hole(c, addr, to, n);
	else
		memcpy(to, (const uint8_t *)c->data + (addr - c->start), n);
}

/* For its bytes the copy is right, because the process has continued since. A window also reaches below the
 * copy, where bytes are unknown, and beyond its end. */
static int copy_read(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	struct host_copy *c = (struct host_copy *)m;
	uint64_t end = addr + size, copy_end = c->start + c->size;
	uint64_t from = addr > c->start ? addr : c->start, to = end < copy_end ? end : copy_end;

	if (from >= to)
		return c->rest ? c->rest->read(c->rest, addr, buf, size) : -EFAULT;
	if (end > copy_end && (!c->rest || c->rest->read(c->rest, addr, buf, size)))
		return -EFAULT;
	if (addr < c->start)
		memset(buf, 0, from - addr);
	for (uint64_t next; from < to; from = next) {
		next = WALK_COPY(from) + WALK_PIECE;
		next = next < to ? next : to;
		read_piece(c, from, (uint8_t *)buf + (from - addr), next - from);
	}
	return 0;
}

void host_copy_init(struct host_copy *m, const struct walk_record *r, struct host_memory *rest)
{
	*m = (struct host_copy){{copy_read}, r->stack, WALK_COPY(r->sp), r->size, r->holes, rest};
}

bool host_copy_has_changed(const struct host_copy *m, struct host_memory *process, uint64_t sp, bool all)
{
	uint8_t now[WALK_PIECE];
	unsigned left = all ? WALK_STACK_MAX / WALK_PIECE : 4; /* number of pieces */

	for (uint64_t end = m->start + m->size; end > sp && left; end = WALK_COPY(end - 1)) {
		uint64_t from = WALK_COPY(end - 1) > sp ? WALK_COPY(end - 1) : sp;

		if (is_hole(m, from))
			continue;
		if (process->read(process, from, now, end - from) ||
			memcmp(now, (const uint8_t *)m->data + (from - m->start), end - from))
			return true;
		left--;
	}
	return false;
}

void host_regs_record(const struct walk_record *r, uint16_t machine, struct host_regs *ret)
{
	*ret = (struct host_regs){.pc = r->pc, .sp = r->sp, .fp = r->fp, .lr = r->lr, .tp = r->tp,
		.has_other = 1, .tid = r->tid, .machine = machine};
	memcpy(ret->other, r->regs, sizeof(ret->other));
}

/* ---- the walk ---------------------------------------------------------- */

static struct host *host_new(uint32_t limit)
{
	struct host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->walk = aligned_alloc(64, sizeof(*h->walk));
	h->out = malloc(sizeof(*h->out) + 8ull * limit);
	if (h->walk)
		memset(h->walk, 0, sizeof(*h->walk));
	return h;
}

static void host_free(struct host *h)
{
	free(h->walk);
	free(h->out);
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		free(h->scratch[i]);
	free(h);
}

static int take_frames(const struct host *h, const struct stack_req *r, struct host_stack *ret)
{
	uint64_t *frames = malloc(8ull * r->nr + 1);

	if (!frames)
		return -ENOMEM;
	memcpy(frames, h->out->frames, 8ull * r->nr);
	*ret = (struct host_stack){r->id, frames, r->nr, r->end, r->end == UNWIND_COMPLETE && !h->walk->walk.pc};
	return 0;
}

/* Calls run() with the state of a walk on the host. */
static int with_host(struct host *h, const struct host_thread *thread, int (*run)(struct host *h, void *arg),
	void *arg)
{
	struct host *before = host;
	int err = -ENOMEM;

	if (!h)
		return -ENOMEM;
	h->memory = thread->memory;
	h->regs = thread->regs;
	h->given = thread->tables;
	h->pid = thread->pid;
	host = h;
	if (h->walk && h->out)
		err = run(h, arg);
	host = before;
	host_free(h);
	return err;
}

struct whole {
	struct stack_req req;
	struct host_stack *ret;
};

static int run_whole(struct host *h, void *arg)
{
	struct whole *w = arg;

	stack_user(&w->req);
	return take_frames(h, &w->req, w->ret);
}

int host_walk(const struct host_thread *thread, uint32_t filter, uint32_t limit, struct host_stack *ret)
{
	struct whole w = {{.filter = filter, .limit = limit}, ret};

	if (!limit || limit > UNWIND_LIMIT_MAX)
		return -EINVAL;
	return with_host(host_new(limit), thread, run_whole, &w);
}

static int run_step(struct host *h, void *arg)
{
	struct stack_req r = {.limit = 1};
	struct host_regs *up = arg;
	struct walk *w = h->walk;
	int end = user_registers(w);

	if (!end) {
		start(w, &r, 0);
		end = locate(w);
	}
	if (!end) {
		walk_lr(w);
		end = walk_step(w);
	}
	*up = (struct host_regs){.pc = w->pc, .sp = w->sp, .fp = w->fp, .lr = w->lr,
		.machine = w->machine};
	return end;
}

int host_step(const struct host_thread *thread, struct host_regs *ret)
{
	return with_host(host_new(1), thread, run_step, ret);
}
