// SPDX-License-Identifier: Apache-2.0
/* threads.c - the names of CPython's threads, and the holder of the GIL.
 *
 * threading._active has a Thread for each number that pthread_self() returned; its _name is an attribute. A thread
 * state has the same number and, from 3.11 on, the kernel's.
 *
 * Offsets are those of builds with a GIL, at the tags v3.8.0 to v3.12.0: Include/cpython/pystate.h,
 * Include/internal/pycore_interp.h (3.8: pycore_pystate.h), Include/cpython/object.h, and for dictionaries
 * Objects/dict-common.h (from 3.11 on Include/internal/pycore_dict.h). From 3.13 on _PyRuntime has most of them:
 * see offsets.c. All data is untrusted: lists are followed up to a limit. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "python.h"
#include "unwinders/lang.h"
#include "unwinders/unwinders.h"

#define V(minor) (0x0300 | (minor))

enum {
	INTERPRETERS_MAX = 64,
	THREADS_MAX = 1 << 16,
	ENTRIES_MAX = 1 << 16, /* entries of a dictionary */
	NAME_MAX_CHARS = 128,
	PTHREAD_WORDS = 576,   /* words of 4 bytes at the start of a struct pthread, one of which is the kernel's tid */
	READS_MAX = 1 << 21,
	TRIES_MAX = 64,        /* threads in which the place of the tid is looked for */
	ACTIVE = 1 << 4,       /* in a thread state's _status: it is the current one of its interpreter */
};

/* Offsets. */
struct threads_row {
	uint16_t version;
	uint16_t head;        /* in _PyRuntime: the newest interpreter */
	uint16_t modules;     /* in an interpreter: sys.modules */
	uint16_t first;       /* in an interpreter: its first thread state */
	uint16_t next, ident; /* in a thread state: the next one; the result of pthread_self() */
	uint16_t native;      /* in a thread state: the kernel's tid; 0: none */
	uint16_t status;      /* in a thread state: _status; 0: none */
	uint16_t cached_keys; /* in a heap type: the keys of its objects' attributes */
};

static const struct threads_row rows[] = {
	{ V(8), 32, 56, 8, 8, 176, 0, 0, 872 },
	{ V(9), 32, 856, 8, 8, 176, 0, 0, 864 },
	{ V(10), 32, 856, 8, 8, 176, 0, 0, 872 },
	{ V(11), 40, 888, 16, 8, 152, 160, 0, 872 },
	{ V(12), 40, 944, 72, 8, 136, 144, 24, 880 },
	{ V(13), .cached_keys = 880 },
	{ V(14), .cached_keys = 880 },
	{ V(15), .cached_keys = 888 },
};

/* Words of struct _Py_DebugOffsets, by version: see offsets.c. */
static const struct {
	uint16_t version;
	uint8_t head, first, modules, next, ident, native, status;
} described[] = {
	{ V(13), 5, 9, 11, 21, 24, 25, 27 },
	{ V(14), 5, 9, 12, 24, 27, 28, 30 },
	{ V(15), 5, 9, 12, 24, 30, 31, 33 },
};

enum {
	WITHOUT_GIL = 2, /* a word of the description */
	DESCRIPTION_WORDS = 48,
	TYPE_SIZE = 32, TYPE_FLAGS = 168, TYPE_DICT = 288, /* PyTypeObject: tp_basicsize, tp_flags, tp_dictoffset */
	INLINE_VALUES = 1 << 2, MANAGED_DICT = 1 << 4,     /* tp_flags */
	MODULE_DICT = 16,
	DICT_KEYS = 32, DICT_VALUES = 40,
	INT_SIZE = 16, INT_DIGITS = 24,
};

struct reader {
	const struct lang_process *p;
	const struct python_layout *at;
	struct threads_row row;
	uint32_t left; /* reads that may still be done: a hostile process makes lists that lead anywhere */
};

static bool read_at(struct reader *r, uint64_t addr, void *buf, size_t size)
{
	if (!addr || !r->left)
		return false;
	r->left--;
	return !r->p->read(r->p->arg, addr, buf, size);
}

/* Returns 0 if it is not readable. */
static uint64_t word(struct reader *r, uint64_t addr)
{
	uint64_t v;

	return read_at(r, addr, &v, sizeof(v)) ? v : 0;
}

/* ---- dictionaries ---- */

struct dict {
	uint64_t entries, n;
	uint64_t values;        /* values apart from the keys; 0: in the entries */
	unsigned stride, key_at;
};

static unsigned index_size(uint64_t n)
{
	return n <= UINT8_MAX ? 1 : n <= UINT16_MAX ? 2 : n <= UINT32_MAX ? 4 : 8;
}

static bool open_keys(struct reader *r, uint64_t keys, struct dict *ret)
{
	uint8_t head[32];
	uint64_t size;

	*ret = (struct dict){.stride = 24, .key_at = 8};
	if (!read_at(r, keys, head, sizeof(head)))
		return false;
	if (r->row.version <= V(10)) {
		memcpy(&size, head + 8, 8);
		ret->n = word(r, keys + 32);
		ret->entries = keys + 40 + size * index_size(size);
	} else {
		memcpy(&ret->n, head + 24, 8);
		ret->entries = keys + 32 + (1ull << (head[9] & 63));
		if (head[10]) { /* all keys are strings, whose hashes are not repeated */
			ret->stride = 16;
			ret->key_at = 0;
		}
	}
	ret->n = ret->n < ENTRIES_MAX ? ret->n : ENTRIES_MAX;
	return true;
}

static bool open_dict(struct reader *r, uint64_t dict, struct dict *ret)
{
	if (!open_keys(r, word(r, dict + DICT_KEYS), ret))
		return false;
	ret->values = word(r, dict + DICT_VALUES);
	if (ret->values && r->row.version >= V(13)) /* after four bytes of sizes and flags */
		ret->values += 8;
	return true;
}

static uint64_t key_of(struct reader *r, const struct dict *d, uint64_t i)
{
	return word(r, d->entries + i * d->stride + d->key_at);
}

static uint64_t value_of(struct reader *r, const struct dict *d, uint64_t i)
{
	return word(r, d->values ? d->values + 8 * i : d->entries + i * d->stride + d->key_at + 8);
}

static char *text_of(struct reader *r, uint64_t str)
{
	if (!str || !r->left)
		return NULL;
	r->left--;
	return python_str(r->at, r->p->read, r->p->arg, str, NAME_MAX_CHARS);
}

/* Returns 0 if there is no such key. */
static uint64_t lookup(struct reader *r, const struct dict *d, const char *name)
{
	for (uint64_t i = 0; i < d->n; i++) {
		_cleanup_(freep) char *key = text_of(r, key_of(r, d, i));

		if (key && !strcmp(key, name))
			return value_of(r, d, i);
	}
	return 0;
}

/* Opens the dictionary of an object's attributes. */
static bool open_attributes(struct reader *r, uint64_t object, struct dict *ret)
{
	uint64_t type = word(r, object + r->at->ob_type), flags = word(r, type + TYPE_FLAGS);
	uint64_t values = 0, dict = 0, size = word(r, type + TYPE_SIZE);
	uint8_t valid[4] = {};

	if (r->row.version <= V(10)) {
		dict = word(r, object + word(r, type + TYPE_DICT) % 4096);
	} else if (!(flags & MANAGED_DICT)) {
		return false;
	} else if (r->row.version == V(11)) {
		values = word(r, object - 32);
		dict = word(r, object - 24);
	} else if (r->row.version == V(12)) {
		dict = word(r, object - 24);
		values = dict & 1 ? dict + 1 : 0;
	} else {
		dict = word(r, object - 24);
		if (flags & INLINE_VALUES && read_at(r, object + size, valid, sizeof(valid)) && valid[3])
			values = object + size + 8;
	}
	if (!values)
		return dict && open_dict(r, dict, ret);
	if (!open_keys(r, word(r, type + r->row.cached_keys), ret))
		return false;
	ret->values = values;
	return true;
}

/* Returns an int of at most two digits of 30 bits, or 0. */
static uint64_t int_of(struct reader *r, uint64_t object)
{
	uint64_t n = word(r, object + INT_SIZE);
	uint32_t digits[3] = {};

	n = r->row.version >= V(12) ? n >> 3 : n;
	if (!n || n > 3 || !read_at(r, object + INT_DIGITS, digits, n * 4))
		return 0;
	return digits[0] | (uint64_t)digits[1] << 30 | (uint64_t)digits[2] << 60;
}

/* ---- threads ---- */

static bool described_row(struct reader *r, uint64_t runtime)
{
	uint64_t words[DESCRIPTION_WORDS];
	struct threads_row *row = &r->row;

	if (row->head)
		return true;
	if (!read_at(r, runtime, words, sizeof(words)) || words[WITHOUT_GIL])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(described); i++) {
		if (described[i].version != row->version)
			continue;
		row->head = (uint16_t)words[described[i].head];
		row->first = (uint16_t)words[described[i].first];
		row->modules = (uint16_t)words[described[i].modules];
		row->next = (uint16_t)words[described[i].next];
		row->ident = (uint16_t)words[described[i].ident];
		row->native = (uint16_t)words[described[i].native];
		row->status = (uint16_t)words[described[i].status];
	}
	return row->head;
}

static bool find_row(struct reader *r, uint64_t runtime)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].version != r->at->version)
			continue;
		r->row = rows[i];
		return described_row(r, runtime);
	}
	return false;
}

static struct thread_note *note_of(struct thread_note *notes, size_t n, uint64_t tid)
{
	for (size_t i = 0; i < n; i++)
		if ((uint64_t)notes[i].tid == tid)
			return &notes[i];
	return NULL;
}

/* Up to 3.10 the kernel's tid is only in the C library's struct pthread, whose address pthread_self() returns. *at:
 * its place there in words; before it is known, -1 - the number of tries. */
static struct thread_note *by_pthread(struct reader *r, uint64_t pthread, int *at, struct thread_note *notes, size_t n)
{
	uint32_t words[PTHREAD_WORDS];
	struct thread_note *note;

	if (*at <= -TRIES_MAX || !read_at(r, pthread, words, sizeof(words)))
		return NULL;
	if (*at >= 0)
		return note_of(notes, n, words[*at]);
	for (int i = 0; i < PTHREAD_WORDS; i++) {
		note = note_of(notes, n, words[i]);
		if (note) {
			*at = i;
			return note;
		}
	}
	--*at;
	return NULL;
}

/* A Thread, and the number of its thread. */
struct active {
	uint64_t ident, thread;
};

/* Reads threading._active. Returns the number of threads, and an array to be free()d. */
static size_t read_active(struct reader *r, uint64_t interpreter, struct active **ret)
{
	uint64_t module = 0, active = 0;
	struct dict d;
	size_t n = 0;

	if (open_dict(r, word(r, interpreter + r->row.modules), &d))
		module = lookup(r, &d, "threading");
	if (module && open_dict(r, word(r, module + MODULE_DICT), &d))
		active = lookup(r, &d, "_active");
	if (!active || !open_dict(r, active, &d))
		return 0;
	*ret = calloc(d.n + 1, sizeof(**ret));
	for (uint64_t i = 0; *ret && i < d.n; i++) {
		uint64_t key = key_of(r, &d, i), thread = key ? value_of(r, &d, i) : 0;

		if (thread)
			(*ret)[n++] = (struct active){ int_of(r, key), thread };
	}
	return n;
}

/* Returns the name of a thread, to be free()d, or NULL. */
static char *name_of(struct reader *r, const struct active *active, size_t n, uint64_t ident)
{
	struct dict attributes;

	for (size_t i = 0; i < n; i++)
		if (active[i].ident == ident)
			return open_attributes(r, active[i].thread, &attributes) ?
				text_of(r, lookup(r, &attributes, "_name")) : NULL;
	return NULL;
}

static void note_lock(struct reader *r, const struct python_proc *proc, uint64_t state, struct thread_note *note)
{
	if (r->row.status) {
		note->lock_at = state + r->row.status;
		note->lock_mask = note->lock_value = ACTIVE;
	} else if (proc->tstate_current) {
		note->lock_at = proc->tstate_current;
		note->lock_mask = UINT64_MAX;
		note->lock_value = state;
	}
}

static void note_interpreter(struct reader *r, uint64_t interpreter, struct thread_note *notes, size_t n)
{
	uint64_t state = word(r, interpreter + r->row.first);
	_cleanup_(freep) struct active *active = NULL;
	size_t nactive = read_active(r, interpreter, &active);
	int at = -1;

	for (int i = 0; state && i < THREADS_MAX; i++, state = word(r, state + r->row.next)) {
		uint64_t ident = word(r, state + r->row.ident);
		struct thread_note *note = r->row.native ? note_of(notes, n, word(r, state + r->row.native)) :
			by_pthread(r, ident, &at, notes, n);

		if (!note)
			continue;
		note_lock(r, r->p->proc, state, note);
		if (!note->name)
			note->name = name_of(r, active, nactive, ident);
	}
}

void python_threads(const struct lang_process *p, struct thread_note *notes, size_t n)
{
	const struct python_proc *proc = p->proc;
	struct reader r = { .p = p, .at = &proc->at, .left = READS_MAX };
	uint64_t interpreter;

	if (!proc->runtime || !find_row(&r, proc->runtime))
		return;
	interpreter = word(&r, proc->runtime + r.row.head);
	for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		note_interpreter(&r, interpreter, notes, n);
		interpreter = word(&r, interpreter + proc->at.interp_next);
	}
}
