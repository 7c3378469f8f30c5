// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like CPython and has false data.
 *
 *     hostile MODE [SEED]     calls getppid() from its "eval loop" CALLS times
 *
 * It defines CPython's symbols. Its thread state, frames and code objects have the layout of 3.11
 * or 3.12, and each mode changes one member to a value that CPython never writes. In a build as a later
 * VERSION (PY_VERSION_HEX), the modes offsets-* change _Py_DebugOffsets. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 200

/* Include/internal/pycore_frame.h, pycore_runtime.h, cpython/code.h, cpython/pystate.h. */
#if VERSION >> 16 == 0x030c
enum {
	RUNTIME_KEY = 1544, TSTATE_CFRAME = 56, TSTATE_THREAD = 136, CFRAME_FRAME = 0,
	FRAME_CODE = 0, FRAME_PREVIOUS = 8, FRAME_INSTR = 56, FRAME_ENTRY = 70, ENTRY = 3,
	CODE_FIRSTLINE = 68, CODE_FILE = 112, CODE_NAME = 128, CODE_LINES = 136, CODE_CODE = 192,
	STR_DATA = 40,
};
#else
enum { /* 3.11 */
	RUNTIME_KEY = 592, TSTATE_CFRAME = 56, TSTATE_THREAD = 152, CFRAME_FRAME = 8,
	FRAME_CODE = 32, FRAME_PREVIOUS = 48, FRAME_INSTR = 56, FRAME_ENTRY = 68, ENTRY = 1,
	CODE_FIRSTLINE = 72, CODE_FILE = 112, CODE_NAME = 128, CODE_LINES = 136, CODE_CODE = 184,
	STR_DATA = 48,
};
#endif
enum { OB_TYPE = 8, STR_LENGTH = 16, STR_STATE = 32, BYTES_SIZE = 16, BYTES_DATA = 32 };
#define COMPACT_ASCII (1 << 2 | 1 << 5 | 1 << 6)
#define ENDLESS       1000000000

__attribute__((visibility("default"))) unsigned long Py_Version = VERSION;
__attribute__((visibility("default"), aligned(16))) uint8_t _PyRuntime[8192];
__attribute__((visibility("default"))) uint8_t PyCode_Type[512], _Py_NoneStruct[64];

struct object { /* an object of any type; larger than each of them */
	_Alignas(16) uint8_t bytes[512];
};

static struct object tstate, cframe, frames[4], codes[4], name, file, lines;

static void put(void *at, size_t offset, uint64_t value)
{
	memcpy((uint8_t *)at + offset, &value, sizeof(value));
}

static void put_pointer(void *at, size_t offset, const void *p)
{
	put(at, offset, (uintptr_t)p);
}

static void put_str(struct object *o, const char *text)
{
	put(o, STR_LENGTH, strlen(text));
	put(o, STR_STATE, COMPACT_ASCII);
	strcpy((char *)o->bytes + STR_DATA, text);
}

/* Four frames of one activation, innermost first; in 3.12 the last is not a Python frame. */
static void be_truthful(void)
{
	pthread_key_t key;

	pthread_key_create(&key, NULL);
	pthread_setspecific(key, &tstate);
	put(_PyRuntime, RUNTIME_KEY, 1 | (uint64_t)key << 32);
	put(&tstate, TSTATE_THREAD, pthread_self());
	put_pointer(&tstate, TSTATE_CFRAME, &cframe);
	put_pointer(&cframe, CFRAME_FRAME, &frames[0]);
	put_str(&name, "hostile");
	put_str(&file, "/hostile.py");
	put(&lines, BYTES_SIZE, 3);
	memcpy(lines.bytes + BYTES_DATA, "\xf8\x00\xf8", 3);
	for (int i = 0; i < 4; i++) {
		put_pointer(&codes[i], OB_TYPE, PyCode_Type);
		put(&codes[i], CODE_FIRSTLINE, 10 + i);
		put_pointer(&codes[i], CODE_FILE, &file);
		put_pointer(&codes[i], CODE_NAME, &name);
		put_pointer(&codes[i], CODE_LINES, &lines);
		put_pointer(&frames[i], FRAME_CODE, &codes[i]);
		put_pointer(&frames[i], FRAME_INSTR, codes[i].bytes + CODE_CODE);
		if (i < 3)
			put_pointer(&frames[i], FRAME_PREVIOUS, &frames[i + 1]);
		else
			frames[i].bytes[FRAME_ENTRY] = ENTRY;
	}
}

/* The last size bytes before an unmapped page. */
static uint8_t *at_the_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + page, page);
	return p + page - size;
}

/* An endless supply of code objects: each call runs another one. */
static void another_code(unsigned call)
{
	put(&codes[0], CODE_FIRSTLINE, call);
	snprintf((char *)name.bytes + STR_DATA, 64, "hostile%u", call);
	put(&name, STR_LENGTH, strlen((char *)name.bytes + STR_DATA));
}

static void lie(const char *mode)
{
	static const uint64_t wild[] = {0xffffffff81000000, 0x8000000000000000, 0x4141414141414141, 1};

	if (!strcmp(mode, "cycle")) {
		frames[3].bytes[FRAME_ENTRY] = 0;
		put_pointer(&frames[3], FRAME_PREVIOUS, &frames[0]);
	} else if (!strcmp(mode, "self")) {
		put_pointer(&frames[0], FRAME_PREVIOUS, &frames[0]);
	} else if (!strcmp(mode, "shims")) { /* 3.12: where activations begin */
		for (int i = 0; i < 4; i++)
			frames[i].bytes[FRAME_ENTRY] = ENTRY;
		put_pointer(&frames[3], FRAME_PREVIOUS, &frames[0]);
	} else if (!strcmp(mode, "wild-code")) {
		for (int i = 0; i < 4; i++)
			put(&frames[i], FRAME_CODE, wild[i]);
	} else if (!strcmp(mode, "wild-frame")) {
		put(&frames[1], FRAME_PREVIOUS, wild[2]);
	} else if (!strcmp(mode, "edge-frame")) {
		put_pointer(&frames[1], FRAME_PREVIOUS, at_the_edge(8));
	} else if (!strcmp(mode, "edge-code")) {
		put_pointer(&frames[1], FRAME_CODE, at_the_edge(16));
	} else if (!strcmp(mode, "no-code")) {
		put_pointer(&codes[1], OB_TYPE, &name);
	} else if (!strcmp(mode, "names")) {
		put(&name, STR_LENGTH, ENDLESS);
		put(&file, STR_LENGTH, UINT64_MAX);
		put(&file, STR_STATE, 4 << 2 | 1 << 5);
	} else if (!strcmp(mode, "terminal")) {
		put_str(&name, "\x1b[31mred\x1b[0m\n\tname\x07");
		put_str(&file, "\x1b]0;title\x07]: 1000");
	} else if (!strcmp(mode, "lines")) { /* varints that never end */
		uint8_t *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(p + BYTES_DATA, 0x7f, 1 << 20);
		p[BYTES_DATA] = 0xf0;
		put(p, BYTES_SIZE, ENDLESS);
		for (int i = 0; i < 4; i++)
			put_pointer(&codes[i], CODE_LINES, p);
	} else if (!strcmp(mode, "lines-negative")) {
		put(&lines, BYTES_SIZE, UINT64_MAX);
	} else if (!strcmp(mode, "instr")) {
		put(&frames[0], FRAME_INSTR, wild[1]);
		put(&frames[1], FRAME_INSTR, 0);
	} else if (strcmp(mode, "truth") != 0 && strcmp(mode, "many") != 0) {
		fprintf(stderr, "hostile: no mode is called %s\n", mode);
		exit(2);
	}
}

/* _Py_DebugOffsets: a cookie, the version, then numbers. */
static void lie_about_offsets(const char *how, unsigned seed)
{
	uint64_t *word = (uint64_t *)_PyRuntime;

	memcpy(word, "xdebugpy", 8);
	word[1] = Py_Version;
	srandom(seed);
	for (int i = 2; i < 128; i++) {
		if (!strcmp(how, "huge"))
			word[i] = UINT64_MAX - i;
		else if (!strcmp(how, "zero"))
			word[i] = 0;
		else if (!strcmp(how, "random"))
			word[i] = random() % 1024;
		else
			word[i] = (uint64_t)random() << 33 ^ random();
	}
	for (size_t i = 130; i < sizeof(_PyRuntime) / 8; i++)
		put_pointer(_PyRuntime, 8 * i, &tstate);
	for (int i = 0; i < 4; i++) /* every pointer in it leads to one of our objects */
		for (size_t k = 0; k < sizeof(struct object); k += 8)
			put_pointer(&frames[i], k, random() % 2 ? (void *)&frames[random() % 4] : PyCode_Type);
	for (size_t k = 0; k < sizeof(tstate); k += 8)
		put_pointer(&tstate, k, random() % 2 ? (void *)pthread_self() : (void *)&frames[0]);
}

__attribute__((visibility("default"), noinline)) void *_PyEval_EvalFrameDefault(unsigned call)
{
	for (unsigned i = 0; i < CALLS; i++) {
		if (call)
			another_code(i);
		getppid();
	}
	__asm__ volatile("" ::: "memory");
	return NULL;
}

/* The thread state at its place in 3.13. */
__attribute__((visibility("default"))) _Thread_local void *_Py_tss_tstate;
__attribute__((visibility("default"), noinline)) void *_PyThreadState_GetCurrent(void)
{
	return _Py_tss_tstate;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "truth";

	be_truthful();
	_Py_tss_tstate = &tstate;
	if (!strncmp(mode, "offsets-", 8))
		lie_about_offsets(mode + 8, argc > 2 ? atoi(argv[2]) : 1);
	else
		lie(mode);
	usleep(1000); /* arm64: the kernel stores the thread pointer at a context switch */
	_PyEval_EvalFrameDefault(!strcmp(mode, "many"));
	return 0;
}
