// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like Perl (-DMINOR: 32, 36, 37, 99; -DSINGLE: built without threads) and has false
 * data.
 *
 *     hostile MODE     calls getppid() from its Perl_runops_standard() CALLS times
 *
 * It defines Perl's symbols. Its stackinfo, contexts, subs and names have the layout of that version, and each mode
 * changes one value to one that Perl never writes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS    200
#define CONTEXTS 4

/* perl v5.32.1, v5.36.0: intrpvar.h, cop.h, cv.h, gv.h, hv.h. */
enum {
#if MINOR == 32
	INTERP_COP = 0xe0, INTERP_INFO = 0xf0,
#else
	INTERP_COP = 0xd0, INTERP_INFO = 0xe0,
#endif
	INTERP_OP = 8, SI_CONTEXTS = 8, SI_PREV = 16, SI_INDEX = 32, SI_NEWEST = 40, SI_TYPE = 44, SI_MAIN = 1,
	CX_SIZE = 0x68, CX_COP = 16, CX_RETOP = 48, CX_CV = 72, CX_SUB = 9, CX_EVAL = 11,
	COP_LINE = 36, COP_FILE = 48, SV_FLAGS = 12, SV_U = 16, TYPE_CODE = 13,
	CV_STASH = 32, CV_NAME = 56, CV_FLAGS = 92, CV_NAMED = 0x8000,
	HV_MAX = 24, HV_AUX = 32, AUX_COUNT = 28, HEK_LENGTH = 4, HEK_KEY = 8, GV_NAME = 32,
};

#define PUBLIC __attribute__((visibility("default")))
PUBLIC const uint8_t PL_revision = 5, PL_version = MINOR, PL_subversion = 0;
PUBLIC const char *const PL_op_name[] = { "null", "entertry" };
PUBLIC void *PL_ppaddr[2];
#ifdef SINGLE
PUBLIC void *PL_op, *PL_curcop, *PL_curstackinfo;
#else
PUBLIC pthread_key_t PL_thr_key;
#endif

struct object { /* an object of any kind; larger than each of them */
	_Alignas(16) uint8_t bytes[512];
};

static struct object interp, info, cops[CONTEXTS], subs[CONTEXTS], bodies[CONTEXTS], stash, stash_body, array, name,
	package, file;
static uint8_t contexts[CX_SIZE * CONTEXTS] __attribute__((aligned(16)));

#if MINOR == 32
#define STASH_AUX (array.bytes + 8) /* after an array of HV_MAX + 1 pointers */
#else
#define STASH_AUX (stash_body.bytes + HV_AUX)
#endif

static void put(void *at, size_t offset, uint64_t value)
{
	memcpy((uint8_t *)at + offset, &value, sizeof(value));
}

static void put32(void *at, size_t offset, uint32_t value)
{
	memcpy((uint8_t *)at + offset, &value, sizeof(value));
}

static void put_pointer(void *at, size_t offset, const void *p)
{
	put(at, offset, (uintptr_t)p);
}

static void put_hek(struct object *o, const char *text)
{
	put32(o, HEK_LENGTH, (uint32_t)strlen(text));
	strcpy((char *)o->bytes + HEK_KEY, text);
}

static void set_cop(const void *p)
{
#ifdef SINGLE
	PL_curcop = (void *)p;
#else
	put_pointer(&interp, INTERP_COP, p);
#endif
}

static void set_info(const void *p)
{
#ifdef SINGLE
	PL_curstackinfo = (void *)p;
#else
	put_pointer(&interp, INTERP_INFO, p);
#endif
}

#ifdef SINGLE
static struct object glob, glob_body; /* the file is the name of a glob */
#define FILE_AT &glob
#else
#define FILE_AT &file
#endif

static void set_file(const char *name)
{
#ifdef SINGLE
	put_pointer(&glob, 0, &glob_body);
	put_pointer(&glob_body, GV_NAME, &file);
	strcpy((char *)file.bytes + HEK_KEY + 2, name);
#else
	strcpy((char *)file.bytes, name);
#endif
}

static void set_index(uint32_t i)
{
	put32(&info, SI_INDEX, i);
	put32(&info, SI_NEWEST, i);
}

/* Four subs of a program: five frames. */
static void be_truthful(void)
{
	put_hek(&name, "hostile");
	put_hek(&package, "Liar");
	set_file("/hostile.pl");
	put_pointer(&stash, 0, &stash_body);
	put_pointer(&stash, SV_U, &array);
	put_pointer(STASH_AUX, 0, &package);
	put_pointer(&info, SI_CONTEXTS, contexts);
	set_index(CONTEXTS - 1);
	put32(&info, SI_TYPE, SI_MAIN);
	for (int i = 0; i < CONTEXTS; i++) {
		uint8_t *cx = contexts + i * CX_SIZE;

		put32(&cops[i], COP_LINE, 10 + i);
		put_pointer(&cops[i], COP_FILE, FILE_AT);
		put_pointer(&subs[i], 0, &bodies[i]);
		put32(&subs[i], SV_FLAGS, TYPE_CODE);
		put_pointer(&bodies[i], CV_STASH, &stash);
		put_pointer(&bodies[i], CV_NAME, &name);
		put32(&bodies[i], CV_FLAGS, CV_NAMED);
		cx[0] = CX_SUB;
		put_pointer(cx, CX_COP, &cops[i]);
		put_pointer(cx, CX_RETOP, &interp);
		put_pointer(cx, CX_CV, &subs[i]);
	}
	set_cop(&cops[0]);
	set_info(&info);
#ifndef SINGLE
	pthread_key_create(&PL_thr_key, NULL);
	pthread_setspecific(PL_thr_key, &interp);
#endif
}

/* The last size bytes before an unmapped page. */
static uint8_t *at_the_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + page, page);
	return p + page - size;
}

static void lie_about_lists(const char *mode)
{
	const uint64_t wild = 0x4141414141414140;

	if (!strcmp(mode, "wild-info"))
		set_info((void *)wild);
	else if (!strcmp(mode, "wild-contexts"))
		put(&info, SI_CONTEXTS, wild);
	else if (!strcmp(mode, "uneven-contexts"))
		put_pointer(&info, SI_CONTEXTS, contexts + 1);
	else if (!strcmp(mode, "low-contexts"))
		put(&info, SI_CONTEXTS, 8);
	else if (!strcmp(mode, "index"))
		set_index(0x7fffffff);
	else if (!strcmp(mode, "negative"))
		set_index(0x80000000);
	else if (!strcmp(mode, "cycle")) { /* a stackinfo after itself, which is not the program's */
		put32(&info, SI_TYPE, 2);
		put_pointer(&info, SI_PREV, &info);
	} else if (!strcmp(mode, "empty-cycle")) {
		put32(&info, SI_TYPE, 2);
		set_index(0xffffffff);
		put_pointer(&info, SI_PREV, &info);
	} else if (!strcmp(mode, "edge")) {
		uint8_t *p = at_the_edge(2 * CX_SIZE - 40); /* the cut context is not readable */

		memcpy(p, contexts, 2 * CX_SIZE - 40);
		put_pointer(&info, SI_CONTEXTS, p);
		set_index(1);
	}
}

static void lie_about_code(const char *mode)
{
	const uint64_t wild = 0x4141414141414140;

	if (!strcmp(mode, "wild-cop"))
		set_cop((void *)wild);
	else if (!strcmp(mode, "lines"))
		put32(&cops[0], COP_LINE, 2000000); /* 951424, in 20 bits */
	else if (!strcmp(mode, "wild-sub"))
		put(contexts, CX_CV + 2 * CX_SIZE, wild);
	else if (!strcmp(mode, "small-sub")) /* looks like the number of a kind */
		put(contexts, CX_CV + 2 * CX_SIZE, 77);
	else if (!strcmp(mode, "type"))
		put32(&subs[2], SV_FLAGS, 3);
	else if (!strcmp(mode, "wild-names")) {
		put(&bodies[1], CV_NAME, wild);
		put(&bodies[2], CV_STASH, wild);
		put32(&bodies[3], CV_FLAGS, 0); /* the HEK is now a GV */
	} else if (!strcmp(mode, "endless-file")) {
		for (int i = 0; i < CONTEXTS; i++)
			put_pointer(&cops[i], COP_FILE, memset(at_the_edge(4096), 'a', 4096));
	} else if (!strcmp(mode, "evals")) {
		for (int i = 0; i < CONTEXTS; i++)
			contexts[i * CX_SIZE] = CX_EVAL;
	} else if (!strcmp(mode, "stale-eval")) { /* above the newest sub, eval or format: Perl is making the context */
		contexts[(CONTEXTS - 1) * CX_SIZE] = CX_EVAL;
		put32(&info, SI_NEWEST, CONTEXTS - 2);
	}
}

static void lie_about_names(const char *mode)
{
	if (!strcmp(mode, "names")) {
		put32(&name, HEK_LENGTH, 0xffffffff);
		put32(&package, HEK_LENGTH, 1000000);
	} else if (!strcmp(mode, "counts")) {
		put32(STASH_AUX, AUX_COUNT, 0x80000000);
		put(&stash_body, HV_MAX, UINT64_MAX);
	} else if (!strcmp(mode, "deleted")) { /* Perl_hv_ename_delete(): an array of the stash's own name */
		uint8_t *names = at_the_edge(sizeof(void *));

		put_pointer(names, 0, &package);
		put_pointer(STASH_AUX, 0, names);
		put32(STASH_AUX, AUX_COUNT, 0xffffffff);
	} else if (!strcmp(mode, "nameless")) {
		put(STASH_AUX, 0, 0);
	} else if (!strcmp(mode, "wild-package")) {
		put(&stash, 0, 0x4141414141414140);
	} else if (!strcmp(mode, "latin")) { /* without its flag, a name is Latin-1 */
		put_hek(&name, "\xe9t\xe9");
		put_hek(&package, "\xc3\xa9t\xc3\xa9"); /* with it, UTF-8 */
	} else if (!strcmp(mode, "terminal")) {
		put_hek(&name, "\x1b[31mred\x1b[0m\n\tname\x07");
		set_file("\x1b]0;title\x07]: 1000");
	}
}

/* An endless supply of subs: each call runs another one. */
static void another_sub(unsigned call)
{
	char text[32];

	snprintf(text, sizeof(text), "hostile%u", call);
	put_hek(&name, text);
	put32(&name, 0, call);
}

static uint64_t anything(void)
{
	struct object *const objects[] = { &interp, &info, &cops[0], &subs[0], &bodies[0], &stash, &stash_body, &name };

	return random() % 4 ? (uintptr_t)objects[random() % 8] : (uint64_t)random() << 33 ^ random();
}

/* Every pointer leads to one of our objects, or nowhere. */
static void be_random(unsigned seed)
{
	struct object *const objects[] = { &info, &cops[0], &subs[0], &bodies[0], &stash, &stash_body, &name };

	srandom(seed);
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
		for (size_t k = 0; k < sizeof(struct object); k += 8)
			put(objects[i], k, anything());
	for (size_t k = 0; k < sizeof(contexts); k += 8)
		put(contexts, k, anything());
	if (random() % 2) {
		put_pointer(&info, SI_CONTEXTS, contexts);
		set_index(CONTEXTS - 1);
	}
}

PUBLIC __attribute__((noinline)) void Perl_runops_standard(const char *mode)
{
	for (unsigned i = 0; i < CALLS; i++) {
		if (!strcmp(mode, "many"))
			another_sub(i);
		if (!strcmp(mode, "random"))
			be_random(i);
		getppid();
	}
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "truth";

	be_truthful();
	lie_about_lists(mode);
	lie_about_code(mode);
	lie_about_names(mode);
	Perl_runops_standard(mode);
	return 0;
}
