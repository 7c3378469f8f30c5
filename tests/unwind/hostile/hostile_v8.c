// SPDX-License-Identifier: Apache-2.0
/* hostile_v8.c - a process that looks like node 20 and has false data.
 *
 *     hostile-v8 MODE [pause]     calls getppid() CALLS times below frames of "JavaScript", or
 *                                 waits there until its standard input ends
 *
 * It has the symbols of V8 11.3: v8dbg_*, the builtins, the version. Its frames, functions and the
 * objects that name them have V8's layout, and each mode changes one of them to a value that V8
 * never writes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 200
#define PAGE  4096
#define FRAMES 4

#define SAY(name, value) __attribute__((visibility("default"))) const int32_t v8dbg_##name = value;
enum { /* instance types */
	ONE_BYTE = 8, CONS = 1, SLICED = 3, THIN = 5, EXTERNAL = 2, FUNCTION = 2066, SHARED = 300, BYTECODE = 301,
	SCOPE = 302, SCRIPT = 303, CODE = 304, STREAM = 305, UNCOMPILED = 306, ARRAY = 307,
};
SAY(frametype_EntryFrame, 1)
SAY(frametype_ConstructEntryFrame, 2)
SAY(frametype_BuiltinExitFrame, 25)
SAY(type_JSFunction__JS_FUNCTION_TYPE, FUNCTION)
SAY(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, SHARED)
SAY(type_BytecodeArray__BYTECODE_ARRAY_TYPE, BYTECODE)
SAY(type_ScopeInfo__SCOPE_INFO_TYPE, SCOPE)
SAY(type_Script__SCRIPT_TYPE, SCRIPT)
SAY(type_Code__CODE_TYPE, CODE)
SAY(type_InstructionStream__INSTRUCTION_STREAM_TYPE, STREAM)
SAY(CodeKindBaseline, 11)
#ifdef COMPRESSED /* announces compressed pointers, like Electron; the layout here is not compressed */
SAY(SmiValueShift, 31)
#endif
__attribute__((visibility("default"))) int32_t _ZN2v88internal7Version6major_E = 11;
__attribute__((visibility("default"))) int32_t _ZN2v88internal7Version6minor_E = 3;
__attribute__((visibility("default"))) uint8_t _ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE[3 * 256];

/* The builtins: each makes a JavaScript frame of its arguments, and calls `next` from it. */
void v8_Default_embedded_blob_code_(const uint64_t words[5], void (*next)(unsigned), unsigned arg);
extern const uint32_t v8_Default_embedded_blob_code_size_;
#ifdef __x86_64__
__asm__(".globl v8_Default_embedded_blob_code_, v8_Default_embedded_blob_code_size_\n"
	".p2align 5\n"
	"v8_Default_embedded_blob_code_:\n"
	"	push %rbp\n	mov %rsp, %rbp\n"
	"	push (%rdi)\n	push 8(%rdi)\n	push 16(%rdi)\n	push 24(%rdi)\n	push 32(%rdi)\n	push $0\n"
	"	mov %edx, %edi\n	call *%rsi\n	leave\n	ret\n"
	"v8_Default_embedded_blob_end:\n"
	".section .rodata\n.p2align 2\nv8_Default_embedded_blob_code_size_:\n"
	".long v8_Default_embedded_blob_end - v8_Default_embedded_blob_code_\n.text\n");
#else
__asm__(".globl v8_Default_embedded_blob_code_, v8_Default_embedded_blob_code_size_\n"
	".p2align 5\n"
	"v8_Default_embedded_blob_code_:\n"
	"	stp x29, x30, [sp, #-16]!\n	mov x29, sp\n"
	"	ldp x3, x4, [x0]\n	stp x4, x3, [sp, #-16]!\n"
	"	ldp x3, x4, [x0, #16]\n	stp x4, x3, [sp, #-16]!\n"
	"	ldr x3, [x0, #32]\n	stp xzr, x3, [sp, #-16]!\n"
	"	mov w0, w2\n	blr x1\n	mov sp, x29\n	ldp x29, x30, [sp], #16\n	ret\n"
	"v8_Default_embedded_blob_end:\n"
	".section .rodata\n.p2align 2\nv8_Default_embedded_blob_code_size_:\n"
	".long v8_Default_embedded_blob_end - v8_Default_embedded_blob_code_\n.text\n");
#endif
typedef void builtin(const uint64_t words[5], void (*next)(unsigned), unsigned arg);

struct object { /* an object of any type; larger than each of them */
	_Alignas(16) uint8_t bytes[512];
};

static struct object maps[16], functions[FRAMES], shared[FRAMES], bytecodes[FRAMES], script, script_name, name[FRAMES],
	ends, positions, scope, strings[4], deopt, literals, inlined;
static struct object *stream; /* in executable memory */
static struct object code;
static builtin *compiled;
static uint64_t frame[FRAMES][5];
static const char *how;
static unsigned nmaps, call;
static int waits;

static void put(void *at, size_t offset, uint64_t value)
{
	memcpy((uint8_t *)at + offset, &value, sizeof(value));
}

static uint64_t tagged(const void *o)
{
	return (uintptr_t)o + 1;
}

static uint64_t smi(int64_t v)
{
	return (uint64_t)v << 32;
}

/* Each type gets its own map. */
static void put_type(void *o, uint16_t type)
{
	struct object *m = NULL;
	uint16_t there;

	for (unsigned i = 0; i < nmaps && !m; i++) {
		memcpy(&there, maps[i].bytes + 12, 2);
		m = there == type ? &maps[i] : NULL;
	}
	m = m ? m : &maps[nmaps++];
	memcpy(m->bytes + 12, &type, 2);
	put(m, 0, tagged(&maps[0]));
	put(o, 0, tagged(m));
}

static void put_str(struct object *o, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	put_type(o, ONE_BYTE);
	memcpy(o->bytes + 12, &n, 4);
	strcpy((char *)o->bytes + 16, text);
}

static void put_length(struct object *o, uint32_t n)
{
	memcpy(o->bytes + 12, &n, 4);
}

/* Interpreted: hostile0 to 3 of /hostile.js, at lines 1 to 4; the last is compiled, by TurboFan. */
static void be_truthful(void)
{
	put_type(&script, SCRIPT);
	put(&script, 16, tagged(&script_name));
	put(&script, 56, tagged(&ends));
	put_str(&script_name, "/hostile.js");
	put_type(&ends, ARRAY);
	put(&ends, 8, smi(8));
	for (int i = 0; i < 8; i++)
		put(&ends, 16 + 8 * i, smi(10 * i + 9));
	put_type(&positions, ARRAY);
	put(&positions, 8, smi(2));
	for (int i = 0; i < FRAMES; i++) {
		char text[32];

		snprintf(text, sizeof(text), "hostile%d", i);
		put_str(&name[i], text);
		put_type(&functions[i], FUNCTION);
		put(&functions[i], 24, tagged(&shared[i]));
		put_type(&shared[i], SHARED);
		put(&shared[i], 8, tagged(&bytecodes[i]));
		put(&shared[i], 16, tagged(&name[i]));
		put(&shared[i], 32, tagged(&script));
		put(&shared[i], 48, 1 << 5 | (uint64_t)(i + 1) << 32);
		put_type(&bytecodes[i], BYTECODE);
		put(&bytecodes[i], 8, smi(64));
		put(&bytecodes[i], 32, tagged(&positions));
		frame[i][0] = tagged(&script);
		frame[i][1] = tagged(&functions[i]);
		frame[i][2] = 1;
		frame[i][3] = tagged(&bytecodes[i]);
		frame[i][4] = smi(53 + 10);
	}
	positions.bytes[17] = 2 * 2 * 25; /* from code offset 0 on: offset 24 of the script, line 3 */
	frame[FRAMES - 1][4] = tagged(&script);
}

/* A copy of the builtin, after the header that V8 puts before code. */
static void compile(void)
{
	uint8_t *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t size = v8_Default_embedded_blob_code_size_, kind = 13;

	stream = (struct object *)(p + 8 * PAGE);
	put_type(stream, STREAM);
	put(stream, 8, tagged(&code));
	memcpy(stream->bytes + 16, (void *)(uintptr_t)v8_Default_embedded_blob_code_, size);
	__builtin___clear_cache((char *)stream->bytes, (char *)stream->bytes + 512);
	put_type(&code, CODE);
	put(&code, 16, tagged(&deopt));
	put(&code, 24, tagged(&positions));
	put(&code, 40, (uintptr_t)stream + 16);
	memcpy(code.bytes + 48, &kind, 4);
	memcpy(code.bytes + 56, &size, 4);
	put(&deopt, 16 + 8 * 7, tagged(&inlined));
	put(&deopt, 16 + 8 * 2, tagged(&literals));
	put(&inlined, 8, smi(64));
	put(&literals, 8, smi(4));
	for (int i = 0; i < FRAMES; i++)
		put(&literals, 16 + 8 * i, tagged(&shared[i]));
	compiled = (builtin *)(stream->bytes + 16);
}

/* The last size bytes before an unmapped page. */
static uint8_t *at_the_edge(size_t size)
{
	uint8_t *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + PAGE, PAGE);
	return p + PAGE - size;
}

/* A large mapping of zeros; only pages that are written take memory. */
static void *endless(uint64_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* A position in an inlined function, as the position table encodes it. */
static void put_inlined_position(uint32_t id)
{
	uint64_t v = ((uint64_t)(id + 1) << 31 | 25 << 1) << 1;
	int n = 1;

	positions.bytes[16] = 0;
	for (; v; v >>= 7)
		positions.bytes[16 + n++] = (uint8_t)(v & 127) | (v > 127 ? 128 : 0);
	put(&positions, 8, smi(n));
}

static void *flip(void *arg)
{
	for (unsigned i = 0;; i++) {
		struct object *o = (struct object *[]){ &script, &name[i & 3], &shared[i & 3], &ends, &positions,
			&scope }[i % 6];
		uint64_t was;

		memcpy(&was, o->bytes + 8 * (i / 6 % 8), 8);
		put(o, 8 * (i / 6 % 8), i % 3 ? smi(i) : tagged(&maps[i & 15]));
		put(o, 8 * (i / 6 % 8), was);
	}
	return arg;
}

static void lie_of_strings(const char *mode)
{
	if (!strcmp(mode, "cons-cycle")) {
		put_type(&name[1], CONS | ONE_BYTE);
		put_length(&name[1], 1000000);
		put(&name[1], 16, tagged(&name[1]));
		put(&name[1], 24, tagged(&name[1]));
	} else if (!strcmp(mode, "thin-cycle")) {
		put_type(&name[1], THIN | ONE_BYTE);
		put_length(&name[1], 7);
		put(&name[1], 16, tagged(&name[1]));
	} else if (!strcmp(mode, "sliced-cycle")) {
		put_type(&name[1], SLICED | ONE_BYTE);
		put_length(&name[1], 7);
		put(&name[1], 16, tagged(&name[1]));
		put(&name[1], 24, smi(3));
	} else if (!strcmp(mode, "cons-tree")) { /* a string of 2^64 pieces */
		for (int i = 0; i < 4; i++) {
			put_type(&strings[i], CONS | ONE_BYTE);
			put_length(&strings[i], INT32_MAX);
			put(&strings[i], 16, tagged(&strings[(i + 1) % 4]));
			put(&strings[i], 24, tagged(&strings[(i + 2) % 4]));
		}
		put(&strings[3], 12, 0);
		put(&shared[1], 16, tagged(&strings[0]));
	} else if (!strcmp(mode, "name-long")) {
		put_length(&name[1], UINT32_MAX);
		put_length(&name[2], INT32_MAX);
		put(&shared[2], 16, tagged(memcpy(endless(8ull << 30), &name[2], sizeof(name[2]))));
	} else if (!strcmp(mode, "script-long")) {
		put(&script, 16, tagged(memcpy(endless(8ull << 30), &script_name, sizeof(script_name))));
		put_length((struct object *)(uintptr_t)(((uint64_t *)script.bytes)[2] - 1), UINT32_MAX);
	} else if (!strcmp(mode, "external")) {
		put_type(&name[1], EXTERNAL | ONE_BYTE);
		put(&name[1], 24, 0xffffffff81000000);
		put_type(&name[2], EXTERNAL | 16 | ONE_BYTE);
		put(&name[2], 16, 0x4141414141414141);
	} else if (!strcmp(mode, "terminal")) {
		put_str(&name[1], "\x1b[31mred\x1b[0m\n\tname\x07");
		put_str(&script_name, "\x1b]0;title\x07]: 1000");
	} else {
		fprintf(stderr, "hostile-v8: no mode is called %s\n", mode);
		exit(2);
	}
}

static void lie_of_code(const char *mode)
{
	uint32_t big = INT32_MAX;

	if (!strcmp(mode, "positions-endless")) { /* varints that never end, and many of them */
		struct object *p = endless(16 << 20);

		memset(p->bytes + 16, 0x81, 8 << 20);
		put(p, 8, smi(4 << 20));
		put(&code, 24, tagged(p));
		for (int i = 0; i < FRAMES; i++)
			put(&bytecodes[i], 32, tagged(p));
	} else if (!strcmp(mode, "positions-long")) {
		put(&positions, 8, smi(INT32_MAX));
	} else if (!strcmp(mode, "positions-negative")) {
		put(&positions, 8, smi(-5));
	} else if (!strcmp(mode, "inlined-cycle")) { /* each is inlined into itself */
		put_inlined_position(1);
		for (int i = 0; i < 4; i++) {
			put(&inlined, 16 + 16 * i, (uint64_t)(i + 1) << 31 | 25 << 1);
			put(&inlined, 24 + 16 * i, i);
		}
	} else if (!strcmp(mode, "inlined-far")) {
		put_inlined_position(60000);
		put(&inlined, 8, smi(INT32_MAX));
	} else if (!strcmp(mode, "code-size")) {
		memcpy(code.bytes + 56, &big, 4);
		put(&code, 40, 0xffffffffffffff00);
	} else if (!strcmp(mode, "baseline")) { /* 11 is baseline code, whose table has another format */
		uint32_t kind = 11;

		memcpy(code.bytes + 48, &kind, 4);
		frame[FRAMES - 1][3] = tagged(&bytecodes[0]);
		put(&bytecodes[0], 8, smi(INT32_MAX));
	} else if (!strcmp(mode, "streams")) { /* every address begins one */
		uint64_t word;

		memcpy(&word, stream, 8);
		for (uint8_t *p = stream->bytes - 8 * PAGE; p < stream->bytes; p += 8)
			put(p, 0, word);
		put(stream, 0, 0);
	} else {
		lie_of_strings(mode);
	}
}

static void lie(const char *mode)
{
	static const uint64_t wild[] = {0xffffffff81000001, 0x8000000000000001, 0x4141414141414141, 1};
	pthread_t thread;

	if (!strcmp(mode, "wild-functions")) {
		for (int i = 0; i < FRAMES; i++)
			frame[i][1] = wild[i];
	} else if (!strcmp(mode, "wild-shared")) {
		for (int i = 0; i < FRAMES; i++)
			put(&functions[i], 24, wild[i]);
	} else if (!strcmp(mode, "wild-script")) {
		for (int i = 0; i < FRAMES; i++)
			put(&shared[i], 32, wild[i]);
	} else if (!strcmp(mode, "map-self")) {
		put(&functions[1], 0, tagged(&functions[1]));
		put(&shared[2], 0, tagged(&shared[2]));
	} else if (!strcmp(mode, "edge")) {
		frame[1][1] = tagged(memcpy(at_the_edge(16), &functions[1], 16));
		put(&functions[2], 24, tagged(memcpy(at_the_edge(32), &shared[2], 32)));
	} else if (!strcmp(mode, "offsets")) {
		frame[0][4] = smi(-1);
		frame[1][4] = smi(INT32_MAX);
		frame[2][4] = smi(0);
	} else if (!strcmp(mode, "scope-huge") || !strcmp(mode, "scope-negative")) {
		put_type(&scope, SCOPE);
		put(&scope, 24, smi(mode[6] == 'h' ? INT32_MAX : -3));
		put(&shared[1], 16, tagged(&scope));
	} else if (!strcmp(mode, "lines-long")) {
		put(&ends, 8, smi(INT32_MAX));
	} else if (!strcmp(mode, "lines-many")) { /* as many as strata accepts, none in order */
		struct object *p = endless(64 << 20);

		for (int i = 0; i < 4 << 20; i++)
			put(p, 16 + 8 * (size_t)i, smi((int32_t)(i * 48271u)));
		put(p, 8, smi(4 << 20));
		put(&script, 56, tagged(p));
	} else if (!strcmp(mode, "source-long")) { /* so that strata has to count lines in it */
		struct object *p = endless(4ull << 30);

		put_type(p, ONE_BYTE);
		put_length(p, INT32_MAX);
		put(&script, 8, tagged(p));
		put(&script, 56, smi(0));
	} else if (!strcmp(mode, "flip")) {
		pthread_create(&thread, NULL, flip, NULL);
	} else if (strcmp(mode, "truth") != 0 && strcmp(mode, "many") != 0 && strcmp(mode, "cycle") != 0 &&
		strcmp(mode, "self") != 0) {
		lie_of_code(mode);
	}
}

/* An endless supply of functions: each call runs another one. */
static void another_function(void)
{
	char text[32];

	snprintf(text, sizeof(text), "another%u", call);
	put_str(&name[0], text);
	put(&shared[0], 48, 1 << 5 | (uint64_t)(call + 10) << 32);
	put(&script, 64, smi(call));
}

/* The function that frame i calls; the innermost sets fp according to the mode. */
static void go(unsigned i)
{
	uint64_t *fp = __builtin_frame_address(0), was;

	if (i) {
		(i == FRAMES ? compiled : v8_Default_embedded_blob_code_)(frame[i - 1], go, i - 1);
		__asm__ volatile("" ::: "memory");
		return;
	}
	fp = (uint64_t *)fp[0]; /* of frame 0 */
	was = fp[0];
	if (!strcmp(how, "self"))
		fp[0] = (uintptr_t)fp;
	else if (!strcmp(how, "cycle"))
		fp[0] = (uintptr_t)fp - 8;
	if (waits)
		i = (unsigned)read(0, &(char){0}, 1);
	else
		getppid();
	fp[0] = was;
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "truth";
	waits = argc > 2;
	memset(_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE, 2, 3 * 256);
	put_type(&maps[0], ARRAY);
	be_truthful();
	compile();
	lie(how);
	for (call = 0; call < (waits ? 1 : CALLS); call++) {
		if (!strcmp(how, "many"))
			another_function();
		go(FRAMES);
	}
	if (!strcmp(how, "truth"))
		getchar(); /* strata reads the lines meanwhile */
	return 0;
}
