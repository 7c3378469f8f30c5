// SPDX-License-Identifier: Apache-2.0
/* program.c - threads that work on requests. Each sets its record, then calls getpriority(5, WHO): native.py
 * computes the request from WHO. The program publishes its context, and waits for a line of input before the threads
 * begin.
 *
 *     program THREADS CALLS [LIBRARY [OTHER..]]   opens the OTHER libraries, then LIBRARY, which has set_record() */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "publish.h"
#include "record.h"

static void (*set)(void *r);
static unsigned calls;
static pthread_barrier_t opened;

/* ---- requests -------------------------------------------------------------------- */

static void attribute(struct record *r, uint8_t key, const char *value)
{
	size_t n = strlen(value);

	r->attributes[r->size++] = key;
	r->attributes[r->size++] = (uint8_t)n;
	memcpy(r->attributes + r->size, value, n);
	r->size += n;
}

static void work_on(struct record *r, unsigned who)
{
	char text[64];

	r->valid = 0;
	for (unsigned i = 0; i < 16; i++)
		r->trace[i] = (uint8_t)(who >> i % 3 * 8) + i;
	for (unsigned i = 0; i < 8; i++)
		r->span[i] = (uint8_t)(who * 7 + i);
	r->flags = who % 2;
	r->size = 0;
	if (who % 3 == 0)
		attribute(r, 1, "an older value");
	attribute(r, 200, "nobody's");
	if (who % 4)
		snprintf(text, sizeof(text), "/route/%u", who % 100), attribute(r, 2, text);
	snprintf(text, sizeof(text), "t%u", who % 5);
	attribute(r, 1, text);
	r->valid = 1;
}

/* The same request as labels. A key without an address does not count; the first label of a key does. */
static void label(struct label_set *s, const char *key, const char *value)
{
	s->labels[s->n++] = (struct label){ { strlen(key), key }, { strlen(value), strdup(value) } };
}

static struct label_set *labels_of(const struct record *r, unsigned who)
{
	struct label_set *s = calloc(1, sizeof(*s));
	char text[64];

	s->labels = calloc(8, sizeof(*s->labels));
	s->n = 1; /* a removed label */
	snprintf(text, sizeof(text), "t%u", who % 5);
	label(s, "tenant", text);
	label(s, "tenant", "a later value");
	snprintf(text, sizeof(text), "/route/%u", who % 100);
	if (who % 4)
		label(s, "route", text);
	for (unsigned i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", r->trace[i]);
	label(s, "trace_id", text);
	for (unsigned i = 0; i < 8; i++)
		sprintf(text + 2 * i, "%02x", r->span[i]);
	label(s, "span_id", text);
	return s;
}

static void call(unsigned who)
{
	syscall(SYS_getpriority, 5, who);
}

static void *thread(void *arg)
{
	struct record *r = aligned_alloc(16, sizeof(*r));
	unsigned first = (unsigned)(uintptr_t)arg * 100000;

	pthread_barrier_wait(&opened);
	pthread_barrier_wait(&opened);
	memset(r, 0, sizeof(*r));
	call(first); /* the thread has not touched the variable yet */
	for (unsigned who = first + 1; who < first + calls; who++) {
		work_on(r, who);
#ifdef LABELS
		set(who % 10 == 3 || who % 10 == 7 ? NULL : labels_of(r, who));
#else
		set(who % 10 == 3 ? NULL : r);
#endif
		if (who % 10 == 7)
			r->valid = 0;
		call(who);
	}
	set(NULL);
	return NULL;
}

/* The opened libraries' variables have high numbers, which the threads' vectors do not have room for yet. */
static void open_library(char **names)
{
#ifdef OPENS
	void *lib = NULL;

	for (char **other = names + 1; *other; other++)
		if (!dlopen(*other, RTLD_NOW))
			fprintf(stderr, "%s\n", dlerror()), exit(1);
	lib = dlopen(*names, RTLD_NOW);
	set = lib ? (void (*)(void *))dlsym(lib, "set_record") : NULL;
	if (!set)
		fprintf(stderr, "%s\n", dlerror()), exit(1);
#else
	(void)names;
	set = set_record;
#endif
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argv[1]);
	pthread_t threads[64];

	(void)argc;
	calls = (unsigned)atoi(argv[2]);
	pthread_barrier_init(&opened, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i);
	pthread_barrier_wait(&opened);
	open_library(argv + 3);
	publish();
	getchar();
	pthread_barrier_wait(&opened);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
