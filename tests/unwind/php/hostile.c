// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like PHP (-DVERSION; -DZTS: a build for threads) and has false data.
 *
 *     hostile MODE     calls getppid() from its execute_ex() CALLS times
 *
 * It defines PHP's symbols. Its frames, functions and strings have the layout of that version, and each
 * mode changes one value to one that PHP never writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 200

/* php-src php-8.2.32, php-8.4.24: Zend/zend_globals.h, zend_compile.h, zend_types.h, zend.h. */
#if VERSION == 84
enum { FUNC_OPCODES = 104, FUNC_FILE = 168 };
#define VERSION_TEXT "8.4.24"
#elif VERSION == 82
enum { FUNC_OPCODES = 88, FUNC_FILE = 152 };
#define VERSION_TEXT "8.2.32"
#else /* this version does not exist: everything may be elsewhere */
enum { FUNC_OPCODES = 8, FUNC_FILE = 16 };
#define VERSION_TEXT "9.9.0"
#endif
enum {
	GLOBALS_CURRENT = 488,
	FRAME_OPLINE = 0, FRAME_FUNC = 24, FRAME_FLAGS = 40, FRAME_PREV = 48, CALL_TOP = 1 << 17,
	FUNC_NAME = 8, FUNC_SCOPE = 16, INTERNAL = 1, USER = 2, EVAL = 4,
	CLASS_NAME = 8, STR_LEN = 16, STR_VAL = 24,
	OP_EXTENDED = 20, OP_LINE = 24, OP_CODE = 28, OP_INCLUDE = 73, OP_EXCEPTION = 149, OP_FRAMELESS = 204,
};
#define ENDLESS 1000000000

const char *const header = "X-Powered-By: PHP/" VERSION_TEXT;
#ifdef ZTS
#define executor_globals executor_globals_of_a_thread
static
#else
__attribute__((visibility("default"), aligned(16)))
#endif
uint8_t executor_globals[2048];
__attribute__((visibility("default"))) void *zend_flf_functions;

struct object { /* an object of any kind; larger than each of them */
	_Alignas(16) uint8_t bytes[512];
};

static struct object frames[4], funcs[4], ops[4], name, file, class, class_name;

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
	put(o, STR_LEN, strlen(text));
	strcpy((char *)o->bytes + STR_VAL, text);
}

/* Four frames, innermost first, of one activation. */
static void be_truthful(void)
{
	put_pointer(executor_globals, GLOBALS_CURRENT, &frames[0]);
	put_str(&name, "hostile");
	put_str(&file, "/hostile.php");
	put_str(&class_name, "Liar");
	put_pointer(&class, CLASS_NAME, &class_name);
	for (int i = 0; i < 4; i++) {
		funcs[i].bytes[0] = USER;
		put_pointer(&funcs[i], FUNC_NAME, &name);
		put_pointer(&funcs[i], FUNC_SCOPE, &class);
		put_pointer(&funcs[i], FUNC_OPCODES, &ops[i]);
		put_pointer(&funcs[i], FUNC_FILE, &file);
		put(&ops[i], OP_LINE, 10 + i);
		put_pointer(&frames[i], FRAME_OPLINE, &ops[i]);
		put_pointer(&frames[i], FRAME_FUNC, &funcs[i]);
		if (i < 3)
			put_pointer(&frames[i], FRAME_PREV, &frames[i + 1]);
	}
	put(&frames[3], FRAME_FLAGS, CALL_TOP);
}

/* The last size bytes before an unmapped page. */
static uint8_t *at_the_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + page, page);
	return p + page - size;
}

static void lie_about_frames(const char *mode)
{
	static const uint64_t wild[] = {0xffffffff81000000, 0x8000000000000000, 0x4141414141414140, 1};

	if (!strcmp(mode, "cycle"))
		put_pointer(&frames[3], FRAME_PREV, &frames[0]);
	else if (!strcmp(mode, "self"))
		put_pointer(&frames[0], FRAME_PREV, &frames[0]);
	else if (!strcmp(mode, "fakes"))
		for (int i = 0; i < 4; i++) {
			put(&frames[i], FRAME_FUNC, 0);
			put_pointer(&frames[i], FRAME_PREV, &frames[i]);
		}
	else if (!strcmp(mode, "wild-globals"))
		put(executor_globals, GLOBALS_CURRENT, wild[2]);
	else if (!strcmp(mode, "wild-frame"))
		put(&frames[1], FRAME_PREV, wild[2]);
	else if (!strcmp(mode, "uneven-frame"))
		put_pointer(&frames[1], FRAME_PREV, frames[2].bytes + 1);
	else if (!strcmp(mode, "edge-frame"))
		put_pointer(&frames[1], FRAME_PREV, at_the_edge(8));
	else if (!strcmp(mode, "wild-func"))
		for (int i = 0; i < 4; i++)
			put(&frames[i], FRAME_FUNC, wild[i]);
	else if (!strcmp(mode, "edge-func"))
		put_pointer(&frames[1], FRAME_FUNC, at_the_edge(16));
	else if (!strcmp(mode, "wild-opline"))
		for (int i = 0; i < 4; i++)
			put(&frames[i], FRAME_OPLINE, wild[i]);
}

static void lie_about_functions(const char *mode)
{
	if (!strcmp(mode, "type"))
		funcs[1].bytes[0] = 77;
	else if (!strcmp(mode, "wild-class"))
		put(&class, CLASS_NAME, 0x4141414141414140);
	else if (!strcmp(mode, "names")) {
		put(&name, STR_LEN, ENDLESS);
		put(&class_name, STR_LEN, UINT64_MAX);
		put(&file, STR_LEN, 0x8000000000000000);
	} else if (!strcmp(mode, "terminal")) {
		put_str(&name, "\x1b[31mred\x1b[0m\n\tname\x07");
		put_str(&file, "\x1b]0;title\x07]: 1000");
	} else if (!strcmp(mode, "nameless")) {
		for (int i = 0; i < 4; i++)
			put(&funcs[i], FUNC_NAME, 0);
		put(&ops[1], OP_LINE, 1 | (uint64_t)OP_INCLUDE << 32);
		put(&ops[1], OP_EXTENDED - 4, (uint64_t)12345 << 32);
		funcs[2].bytes[0] = EVAL;
	} else if (!strcmp(mode, "exception")) { /* the word before the operation is not the address of an operation */
		put(&ops[2], 504, 0x4141414141414140);
		for (int i = 0; i < 4; i++)
			put(&ops[i], OP_LINE, 10 | (uint64_t)OP_EXCEPTION << 32);
	} else if (!strcmp(mode, "frameless")) {
		zend_flf_functions = &frames[0];
		for (int i = 0; i < 4; i++)
			put(&ops[i], OP_LINE, 10 | (uint64_t)OP_FRAMELESS << 32);
		put(&ops[2], OP_EXTENDED - 4, (uint64_t)0xffffffff << 32);
	}
}

/* An endless supply of functions: each call runs another one. */
static void another_function(unsigned call)
{
	put(&funcs[0], FUNC_FILE + 8, call);
	snprintf((char *)name.bytes + STR_VAL, 64, "hostile%u", call);
	put(&name, STR_LEN, strlen((char *)name.bytes + STR_VAL));
}

static uint64_t anything(void)
{
	return random() % 4 ? (uintptr_t)&frames[random() % 4] : (uint64_t)random() << 33 ^ random();
}

/* Every pointer leads to one of our objects, or nowhere. */
static void be_random(unsigned seed)
{
	srandom(seed);
	for (int i = 0; i < 4; i++)
		for (size_t k = 0; k < sizeof(struct object); k += 8) {
			put(&frames[i], k, anything());
			put(&funcs[i], k, anything());
			put(&ops[i], k, anything());
		}
}

__attribute__((visibility("default"), noinline)) void execute_ex(const char *mode)
{
	for (unsigned i = 0; i < CALLS; i++) {
		if (!strcmp(mode, "many"))
			another_function(i);
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
	lie_about_frames(mode);
	lie_about_functions(mode);
	execute_ex(mode);
	return header[0] != 'X';
}
