// SPDX-License-Identifier: Apache-2.0
/* hostile.c MODE - looks like Erlang's runtime, and has false data.
 *
 * It has the text and the functions by which the runtime is recognised, tables of modules and atoms, compiled code in
 * a memfd, and a process's stack. It prints a line, waits for one, then calls getppid() from compiled code many times.
 * Modes that begin with "table" lie before the first line, when strata reads the tables; others lie from the first call
 * on. With INTERPRETED it is a runtime without JIT compiler.
 *
 * Layouts of OTP-27.3.4: bpf/lang/beam.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	CALLS = 200,
	MODULES = 20,
	FUNCTIONS = 8,
	MODULE_BYTES = 4096,
	FUNCTIONS_AT = 136,
	LINES_AT = 72,
	CODE_AT = 512,      /* of the first function */
	CODE_BYTES = 128,
	TABLE_AT = 2048,    /* the table of lines, */
	ADDRESSES_AT = 2304, /* its addresses, */
	PLACES_AT = 2560,   /* and its places */
	NAME_AT = 3072,     /* the name of a file */
	ATOMS = 64,
	HEAP_WORDS = 512,
	FRAMES = 5,         /* on the stack */
	HEAP_AT = 0xc0,
	STOP_AT = 0x58,
	CURRENT_AT = 0xa8,
};

#define ATOM(i) ((uint64_t)(i) << 6 | 0x0b)

static const char name_of_atoms[] __attribute__((used, aligned(16))) = "x\0atom_tab";
struct ranges {
	uint64_t modules, n, allocated, mid;
};
/* r and the table of atoms of the runtime: in the file's own data. */
struct ranges r[3] = {{1, 0, 0, 0}};
uint64_t atom_table[32] = {1};
pthread_key_t scheduler_key = 1;

static uint64_t ranges[2 * MODULES];
static uint64_t atoms[ATOMS][8], *segment[1024], **segments[4] = {segment};
static char texts[ATOMS][32];
static uint64_t heap[HEAP_WORDS] __attribute__((aligned(4096)));
static uint64_t process[64], scheduler[64];
static uint8_t *writable, *code; /* two mappings of the same memory */

void *scheduler_data(void);
int enif_thread_type(void);
int enif_make_atom(void);

int enif_make_atom(void)
{
	return 0;
}

/* The code that the runtime has: the key's place, and that of the current process, are read in it. */
__asm__(".text\n"
	".globl enif_thread_type\n.type enif_thread_type, @function\nenif_thread_type:\n"
	"\t.cfi_startproc\n\tsub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall scheduler_data\n\tmov 0xb0(%rax), %eax\n"
	"\tadd $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc\n"
	".size enif_thread_type, .-enif_thread_type\n"
	"scheduler_data:\n\tmov scheduler_key(%rip), %edi\n\tjmp pthread_getspecific@plt\n");

/* Compiled code: calls a function of C with rbp or Process.stop as the process's stack. */
static const uint8_t by_rbp[] = {
	0x55, 0x53,             /* push %rbp; push %rbx */
	0x48, 0x89, 0xfd,       /* mov %rdi,%rbp */
	0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
	0xff, 0xd6,             /* call *%rsi */
	0xeb, 0x03,             /* jmp over the next */
	0x48, 0x89, 0xec,       /* mov %rbp,%rsp */
	0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d, 0xc3,
};
static const uint8_t by_stop[] = {
	0x55, 0x53, 0x48, 0x89, 0xfd, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0xeb, 0x04,
	0x49, 0x8b, 0x65, 0x58, /* mov 0x58(%r13),%rsp */
	0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d, 0xc3,
};

static uint64_t function_at(int module, int function)
{
	return (uintptr_t)code + (uint64_t)(module * MODULE_BYTES + CODE_AT + function * CODE_BYTES);
}

static void put(uint64_t at, uint64_t value)
{
	memcpy(writable + (at - (uintptr_t)code), &value, 8);
}

static void build_atom(int i, const char *text)
{
	memset(atoms[i], 0, sizeof(atoms[i]));
	snprintf(texts[i], sizeof(texts[i]), "%s", text);
	atoms[i][3] = strlen(texts[i]);
	atoms[i][4] = (uintptr_t)texts[i];
	segment[i] = atoms[i];
}

static void build_module(int m)
{
	static const char file[] = "hostile.erl";
	uint64_t at = (uintptr_t)code + (uint64_t)m * MODULE_BYTES, table = at + TABLE_AT;

	put(at, FUNCTIONS);
	put(at + LINES_AT, table);
	put(table, at + PLACES_AT + 256); /* names of files */
	put(table + 8, 4);
	put(table + 16, at + PLACES_AT);
	put(at + PLACES_AT + 256, 0x3b); /* the module's own; then "h" and so on */
	put(at + PLACES_AT + 264, at + NAME_AT + 1);
	for (uint64_t i = 0; i < sizeof(file) - 1; i++) {
		put(at + NAME_AT + 16 * i, (uint64_t)file[i] << 4 | 15);
		put(at + NAME_AT + 16 * i + 8, i + 2 < sizeof(file) ? at + NAME_AT + 16 * (i + 1) + 1 : 0x3b);
	}
	for (int f = 0; f <= FUNCTIONS; f++) {
		uint64_t info = function_at(m, f);

		put(at + FUNCTIONS_AT + 8 * (uint64_t)f, info);
		put(table + 24 + 8 * (uint64_t)f, at + ADDRESSES_AT + 8 * (uint64_t)f);
		put(at + ADDRESSES_AT + 8 * (uint64_t)f, info + 40);
		put(at + PLACES_AT + 4 * (uint64_t)f, (uint64_t)(1 << 24 | (10 + f)));
		put(info + 16, ATOM(10 + m));
		put(info + 24, ATOM(40 + f));
		put(info + 32, (uint64_t)f);
		memcpy(writable + (info + 48 - (uintptr_t)code), f ? by_rbp : by_stop,
			f ? sizeof(by_rbp) : sizeof(by_stop));
	}
	ranges[2 * m] = at;
	ranges[2 * m + 1] = at + MODULE_BYTES;
}

static void build(void)
{
	char text[32];

	for (int i = 0; i < ATOMS; i++) {
		snprintf(text, sizeof(text), "%s%d", i < 40 ? "m" : "f", i);
		build_atom(i, i ? text : "false");
	}
	for (int m = 0; m < MODULES; m++)
		build_module(m);
	for (int i = 0; i < 3; i++)
		r[i] = (struct ranges){(uintptr_t)ranges, MODULES, 2 * MODULES, (uintptr_t)(ranges + MODULES)};
	atom_table[8] = (uintptr_t)name_of_atoms + 2;
	atom_table[15] = (uintptr_t)segments;
	/* The process's stack: frames of two words, then the return address that ends it. */
	for (int i = 0; i < HEAP_WORDS; i++)
		heap[i] = 0x3f;
	for (int i = 0; i < FRAMES; i++)
		heap[HEAP_WORDS - 1 - 3 * i] = function_at(MODULES - 2 - i, 1 + i) + 64;
	process[STOP_AT / 8] = (uintptr_t)&heap[HEAP_WORDS - 3 * FRAMES];
	process[STOP_AT / 8 - 1] = (uintptr_t)heap;
	process[HEAP_AT / 8] = (uintptr_t)heap;
	process[HEAP_AT / 8 + 1] = (uintptr_t)(heap + HEAP_WORDS);
	process[HEAP_AT / 8 + 2] = 0;
	process[HEAP_AT / 8 + 3] = HEAP_WORDS;
	scheduler[CURRENT_AT / 8] = (uintptr_t)process;
}

#define STACK (process[STOP_AT / 8])
#define NEWEST (HEAP_WORDS - 1 - 3 * (FRAMES - 1))
#define WILD 0x1234567890ULL

static void lie_of_stack(const char *mode)
{
	if (!strcmp(mode, "wild-stop"))
		STACK = WILD;
	else if (!strcmp(mode, "uneven-stop"))
		STACK += 1;
	else if (!strcmp(mode, "stop-above"))
		STACK = (uintptr_t)(heap + HEAP_WORDS);
	else if (!strcmp(mode, "wild-process"))
		scheduler[CURRENT_AT / 8] = WILD;
	else if (!strcmp(mode, "wild-heap"))
		process[HEAP_AT / 8] = WILD;
	else if (!strcmp(mode, "endless-heap"))
		process[HEAP_AT / 8 + 1] = process[HEAP_AT / 8 + 3] = ~0ULL;
	else if (!strcmp(mode, "no-end"))
		heap[HEAP_WORDS - 1] = 0x3f;
	else if (!strcmp(mode, "wild-word"))
		heap[NEWEST + 3] = WILD;
	else if (!strcmp(mode, "full"))
		for (int i = 0; i < HEAP_WORDS; i++)
			heap[i] = function_at(i % MODULES, i % FUNCTIONS) + 64;
	else if (!strcmp(mode, "outside-functions"))
		heap[NEWEST + 3] = (uintptr_t)code + MODULES * MODULE_BYTES - 8;
}

static void lie_of_names(const char *mode)
{
	uint64_t info = function_at(MODULES - 5, 4), table = (uintptr_t)code + (MODULES - 5) * MODULE_BYTES + TABLE_AT;

	if (!strcmp(mode, "wild-atom"))
		put(info + 24, ATOM(1ULL << 40));
	else if (!strcmp(mode, "no-atom"))
		put(info + 16, 464);
	else if (!strcmp(mode, "wild-text"))
		atoms[44][4] = WILD;
	else if (!strcmp(mode, "long-text"))
		atoms[44][3] = 0xffff;
	else if (!strcmp(mode, "terminal"))
		build_atom(44, "\x1b[31m\x07red\nred");
	else if (!strcmp(mode, "wild-segment"))
		segment[44] = (void *)WILD;
	else if (!strcmp(mode, "wild-lines"))
		put(table, WILD), put(table + 16, WILD), put(table + 24, WILD);
	else if (!strcmp(mode, "endless-lines"))
		put(table + 24 + 8 * 5, ~7ULL);
	else if (!strcmp(mode, "place"))
		put(table + 16 + 0, (uintptr_t)code + 1), put(table + 8, 3);
	else if (!strcmp(mode, "endless-name"))
		put(table - TABLE_AT + NAME_AT + 8, table - TABLE_AT + NAME_AT + 1);
	else if (!strcmp(mode, "wild-name"))
		put(table - TABLE_AT + NAME_AT + 8, WILD | 1);
	else if (!strcmp(mode, "functions"))
		put((uintptr_t)code + (MODULES - 5) * MODULE_BYTES, ~0U);
	else if (!strcmp(mode, "wild-function"))
		put((uintptr_t)code + (MODULES - 5) * MODULE_BYTES + FUNCTIONS_AT + 8 * 4, WILD);
	else if (!strcmp(mode, "modules"))
		r[0].n = r[1].n = r[2].n = 1 << 19;
	else if (!strcmp(mode, "wild-modules"))
		r[0].modules = r[1].modules = r[2].modules = WILD;
	else if (!strcmp(mode, "random"))
		for (int i = 0; i < MODULES; i++) {
			uint64_t at = (uintptr_t)code + (uint64_t)i * MODULE_BYTES + (i % 2 ? 0 : TABLE_AT);

			put(at + 8 * ((uint64_t)random() % 64), (uint64_t)random() >> (random() & 31));
		}
}

static void lie_of_tables(const char *mode)
{
	if (!strcmp(mode, "table-empty"))
		r[0].n = r[1].n = r[2].n = 0;
	else if (!strcmp(mode, "table-wild"))
		r[0].modules = r[1].modules = r[2].modules = WILD;
	else if (!strcmp(mode, "table-back"))
		ranges[2] = ranges[0] - 4096;
	else if (!strcmp(mode, "table-atoms"))
		atom_table[15] = WILD;
	else if (!strcmp(mode, "table-functions"))
		for (int m = 0; m < MODULES; m++)
			put((uintptr_t)code + (uint64_t)m * MODULE_BYTES + FUNCTIONS_AT + 8, WILD);
	else if (!strcmp(mode, "table-key"))
		scheduler_key = 0x7fffffff;
}

static void map_code(void)
{
	int fd = memfd_create("vmem", 0);

	if (fd < 0 || ftruncate(fd, MODULES * MODULE_BYTES))
		exit(1);
	writable = mmap(NULL, MODULES * MODULE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	code = mmap(NULL, MODULES * MODULE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	if (writable == MAP_FAILED || code == MAP_FAILED)
		exit(1);
}

#ifdef INTERPRETED
const int etp_beamasm;

/* Calls getppid() from its own code. */
__attribute__((noinline)) void process_main(void)
{
	for (int i = 0; i < CALLS; i++)
		getppid();
}
#endif

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "truth";
	int by_stop_first = !strstr(mode, "rbp");
	void (*run)(uint64_t stack, pid_t (*call)(void));

	map_code();
	if (pthread_key_create(&scheduler_key, NULL) || pthread_setspecific(scheduler_key, scheduler))
		return 1;
	build();
	lie_of_tables(mode);
	puts("ready");
	fflush(stdout);
	getchar();
#ifdef INTERPRETED
	process_main();
	return 0;
#endif
	run = (void (*)(uint64_t, pid_t (*)(void)))(uintptr_t)(function_at(MODULES - 1, by_stop_first ? 0 : 1) + 48);
	for (int i = 0; i < CALLS; i++) {
		if (strncmp(mode, "table", 5)) {
			build();
			lie_of_stack(mode);
			lie_of_names(mode);
		}
		run(STACK, getppid);
	}
	return 0;
}
