// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like PUC's Lua (-DMINOR="3", "4", "9") or LuaJIT (-DJIT) and has false data.
 *
 *     hostile MODE     calls getppid() from its interpreter's loop CALLS times
 *
 * Its lua_State, frames, functions and names have the layout of that version, and each mode changes one value to one
 * that Lua never writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS  200
#define FRAMES 5

/* The loop saves the registers of its caller, which has the lua_State in rbx. */
#ifdef JIT
const char ident[] = "LuaJIT 2.1.0-hostile";
/* The VM, with a frame of 80 bytes, and the code of BC_JLOOP that has the offsets of jit_base and of traces. */
__asm__(".text\n"
	".type run_loop,@function\n"
	"run_loop: .cfi_startproc\n"
	"push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_offset %rbp, -16\n"
	"push %rbx\n .cfi_adjust_cfa_offset 8\n push %r15\n .cfi_adjust_cfa_offset 8\n"
	"push %r14\n .cfi_adjust_cfa_offset 8\n sub $0x28,%rsp\n .cfi_adjust_cfa_offset 40\n"
	"mov %rdi,16(%rsp)\n mov %rsi,24(%rsp)\n lea vm_call(%rip),%rax\n jmp *%rax\n"
	".cfi_endproc\n"
	".size run_loop,.-run_loop\n"
	".type vm,@function\n"
	"vm: .cfi_startproc\n .cfi_def_cfa_offset 80\n .cfi_offset %rbp, -16\n"
	".fill 16,1,0x90\n"
	".byte 0x49,0x81,0xc6; .long 0x1000\n" /* add $0x1000,%r14 */
	".byte 0x49,0x8b,0x8e; .long -0xb00\n" /* mov trace(%r14),%rcx */
	".byte 0x48,0x8b,0x04,0xc1, 0x48,0x8b,0x40,0x58, 0x48,0x8b,0x6c,0x24,0x10\n"
	".byte 0x49,0x89,0x96; .long -0xe00\n" /* mov %rdx,jit_base(%r14) */
	"vm_call: mov trace_code(%rip),%rax\n test %rax,%rax\n jz 1f\n jmp *%rax\n" /* a trace runs in this frame */
	"1: call getppid@PLT\n"
	"vm_return: add $0x28,%rsp\n pop %r14\n pop %r15\n pop %rbx\n pop %rbp\n ret\n"
	".fill 9000,1,0x90\n"
	".cfi_endproc\n"
	".size vm,.-vm\n");
#else
const char ident[] = "$LuaVersion: Lua 5." MINOR ".0 hostile";
__asm__(".text\n"
	".type run_loop,@function\n"
	"run_loop: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n"
	"mov %rdi,%rbx\n call loop\n pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n"
	".size run_loop,.-run_loop\n"
	".type loop,@function\n"
	"loop: .cfi_startproc\n"
	"push %r15\n .cfi_adjust_cfa_offset 8\n push %r14\n .cfi_adjust_cfa_offset 8\n"
	"push %r13\n .cfi_adjust_cfa_offset 8\n push %r12\n .cfi_adjust_cfa_offset 8\n"
	"push %rbp\n .cfi_adjust_cfa_offset 8\n push %rbx\n .cfi_adjust_cfa_offset 8\n"
	"sub $16,%rsp\n .cfi_adjust_cfa_offset 16\n"
	"call getppid@PLT\n"
	"add $16,%rsp\n pop %rbx\n pop %rbp\n pop %r12\n pop %r13\n pop %r14\n pop %r15\n ret\n"
	".fill 5000,1,0x90\n"
	".cfi_endproc\n"
	".size loop,.-loop\n"
	".section .data.rel.ro,\"aw\"\n .balign 8\n labels: .set at,1\n"
	".rept 83\n .quad loop+at\n .set at,at+1\n .endr\n .text\n");
#endif
void run_loop(void *state, uint64_t pc);
#ifdef JIT
#define labels ident
#else
extern const uint64_t labels[];
#endif

struct object { /* an object of any kind; larger than each of them */
	_Alignas(16) uint8_t bytes[512];
};

static struct object state, closures[FRAMES], protos[FRAMES], name;
static struct { /* global_State and what follows it */
	_Alignas(16) uint8_t bytes[0x600];
} global;
static uint64_t slots[4 * FRAMES + 8] __attribute__((aligned(16)));
static uint8_t lines[64];
static uint64_t pc;

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

/* The last bytes of a page before one that is not mapped. */
static uint8_t *end_of_page(void)
{
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 4096, 4096);
	return p + 4096;
}

#ifdef JIT
/* LuaJIT 2.1.1761786044: luajit/src/lj_obj.h, luajit/src/lj_frame.h. */
enum { FIRST_LINE = 0x48, NAME = 0x40, SIZE = 12, LINES = 0x50, CODE = 0x68, FUNCTION = 8 };
#define LINK(i) slots[2 * (i) + 3]

static void put_name(const char *text)
{
	put32(&name, 0x14, (uint32_t)strlen(text));
	strcpy((char *)name.bytes + 24, text);
}

static void build(void)
{
	state.bytes[9] = 6;
	put_pointer(&state, 0x10, &global);
	put_pointer(&state, 0x20, &slots[2 * FRAMES + 2]); /* base */
	put_pointer(&state, 0x38, slots);
	put_pointer(&state, 0x30, slots + sizeof(slots) / 8);
	slots[0] = (uintptr_t)&state;
	put_name("@hostile.lua");
	for (int i = 0; i < FRAMES; i++) {
		closures[i].bytes[9] = FUNCTION;
		put_pointer(&closures[i], 0x20, protos[i].bytes + CODE);
		put32(&protos[i], SIZE, 16);
		put_pointer(&protos[i], NAME, &name);
		put32(&protos[i], FIRST_LINE, (uint32_t)(10 * i));
		put32(&protos[i], FIRST_LINE + 4, 9);
		put_pointer(&protos[i], LINES, lines);
		slots[2 * i + 2] = (uintptr_t)&closures[i] | ~8ULL << 47;
		LINK(i) = 16 | (i ? 6 : 1); /* by pcall, or by C */
	}
	pc = (uintptr_t)protos[FRAMES - 1].bytes + CODE + 8;
}

/* A trace in which another function is inlined: luajit/src/lj_jit.h, lj_snap.c. */
enum { VMSTATE = 0xb8, TRACES = 0x500, JIT_BASE = 0x200, FUNCTION_REF = 0x7ff0, LINK_REF = 0x7ff4,
	FRAME_FLAG = 0x010000, IR = 0x20, SNAP = 0x30, SNAPMAP = 0x38, STARTPC = 0x48, SZMCODE = 0x54, MCODE = 0x58 };
struct snapshot {
	uint32_t map;
	uint16_t ref, code;
	uint8_t nslots, top, nentries, count;
};
static struct object trace;
static void *traces[2] = { NULL, &trace };
static uint64_t ir[64];
static struct snapshot snapshots[2];
static uint32_t entries[64];
void *trace_code __attribute__((visibility("hidden")));
extern const uint8_t vm_return[] __attribute__((visibility("hidden")));

static void build_code(void)
{
	uint8_t *p = trace_code;

	if (!p)
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p, "\x48\xb8________\xff\xd0\x48\xb8________\xff\xe0", 24); /* mov, call, mov, jmp */
	put_pointer(p, 2, (const void *)getppid);
	put_pointer(p, 14, vm_return);
	trace_code = p;
}

static void build_trace(void)
{
	uint64_t end;

	build_code();
	put32(&global, VMSTATE, 1);
	put_pointer(&global, TRACES, traces);
	put_pointer(&global, JIT_BASE, &slots[2 * FRAMES + 2]);
	memset(&trace, 0, sizeof(trace));
	put32(&trace, 8, 2 << 16);
	put_pointer(&trace, IR, (uint8_t *)ir - 8 * 0x7fe0);
	put_pointer(&trace, SNAP, snapshots);
	put_pointer(&trace, SNAPMAP, entries);
	put(&trace, STARTPC, pc);
	put32(&trace, SZMCODE, 64);
	put_pointer(&trace, MCODE, trace_code);
	put32(&protos[FRAMES - 1], CODE + 4, 1 << 8 | 66); /* its base is 3 slots above */
	ir[FUNCTION_REF + 1 - 0x7fe0] = (uintptr_t)&closures[1];
	ir[LINK_REF + 1 - 0x7fe0] = pc;
	entries[0] = 3 << 24 | FUNCTION_REF;
	entries[1] = 4 << 24 | FRAME_FLAG | LINK_REF;
	end = ((uint64_t)(uintptr_t)(protos[1].bytes + CODE + 8) << 8) | 3;
	memcpy(entries + 2, &end, sizeof(end));
	snapshots[0] = snapshots[1] = (struct snapshot){ .nentries = 2 };
	snapshots[1].code = 48;
}

static void lie_about_trace(const char *mode)
{
	build_trace();
	if (!strcmp(mode, "trace-many"))
		put32(&trace, 8, 0xffff0000);
	else if (!strcmp(mode, "trace-snapshots"))
		put(&trace, SNAP, 0x1234567890);
	else if (!strcmp(mode, "trace-map"))
		put(&trace, SNAPMAP, 0x1234567890);
	else if (!strcmp(mode, "trace-far"))
		snapshots[0].map = snapshots[1].map = ~0U;
	else if (!strcmp(mode, "trace-ir"))
		put(&trace, IR, 0x1234567890);
	else if (!strcmp(mode, "trace-code"))
		put32(&trace, SZMCODE, 1);
	else if (!strcmp(mode, "trace-cycle"))
		put32(&protos[FRAMES - 1], CODE + 4, 0xfe00);
	else if (!strcmp(mode, "trace-entries"))
		for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
			entries[i] = (uint32_t)random() | FRAME_FLAG;
	else if (!strcmp(mode, "trace-random"))
		for (size_t i = 0; i < 4; i++)
			put32(&trace, 8 + 4 * (size_t)(random() % 22), (uint32_t)random() >> (random() & 31));
	if (!strcmp(mode, "trace-entries") || !strcmp(mode, "trace-many"))
		snapshots[0].nentries = snapshots[1].nentries = 255;
}

static void lie(const char *mode)
{
	if (!strncmp(mode, "trace", 5))
		lie_about_trace(mode);
	else if (!strcmp(mode, "wild-state"))
		state.bytes[9] = 7;
	else if (!strcmp(mode, "wild-frame"))
		put(&state, 0x20, 0x1234567890);
	else if (!strcmp(mode, "uneven-frame"))
		put_pointer(&state, 0x20, (uint8_t *)&slots[2 * FRAMES + 2] + 1);
	else if (!strcmp(mode, "edge"))
		put_pointer(&state, 0x20, end_of_page());
	else if (!strcmp(mode, "cycle"))
		LINK(2) = (uint64_t)-16 & ~7ULL;
	else if (!strcmp(mode, "self"))
		LINK(2) = 6;
	else if (!strcmp(mode, "varargs"))
		LINK(2) = 16 | 3;
	else if (!strcmp(mode, "wild-link"))
		LINK(2) = 0x1234567890;
	else if (!strcmp(mode, "code"))
		put(&closures[2], 0x20, 0x1234567890);
	else if (!strcmp(mode, "long"))
		LINK(2) = 1ULL << 40 | 6;
}
#else
/* Lua v5.3.6, v5.4.4: lua/lstate.h, lua/lobject.h. */
static struct object infos[FRAMES];
#define IS_3 (MINOR[0] == '3')
enum { FIRST_LINE_3 = 0x28, FIRST_LINE_4 = 0x2c, CODE_3 = 0x38, CODE_4 = 0x40, NAME_3 = 0x68, NAME_4 = 0x70,
	LINES_3 = 0x48, LINES_4 = 0x58, PLACES = 0x60, NPLACES = 0x28, PC_3 = 0x28, PC_4 = 0x20, STATUS_3 = 0x42,
	STATUS_4 = 0x3e };
#define OF(name) (IS_3 ? (size_t)name##_3 : (size_t)name##_4)
#define NAME (IS_3 ? (size_t)NAME_3 : (size_t)NAME_4)
#define SIZE 24
#define FIRST_LINE OF(FIRST_LINE)

static void put_name(const char *text)
{
	name.bytes[8] = 0x14;
	put(&name, 16, strlen(text));
	strcpy((char *)name.bytes + 24, text);
}

static void build(void)
{
	state.bytes[8] = 8;
	put_pointer(&state, 0x18, &global);
	put_pointer(&state, 0x20, &infos[FRAMES - 1]);
	put_name("@hostile.lua");
	for (int i = 0; i < FRAMES; i++) {
		put_pointer(&closures[i], 0x18, &protos[i]);
		slots[2 * i] = (uintptr_t)&closures[i];
		slots[2 * i + 1] = 0x46;
		put_pointer(&infos[i], 0, &slots[2 * i]);
		put_pointer(&infos[i], 0x10, i ? &infos[i - 1] : NULL);
		put_pointer(&infos[i], OF(PC), protos[i].bytes + 256);
		infos[i].bytes[OF(STATUS)] = (uint8_t)((IS_3 ? 2 : 0) | (i ? 0 : IS_3 ? 8 : 4));
		put32(&protos[i], SIZE, 16);
		put32(&protos[i], 0x1c, 16);
		put_pointer(&protos[i], OF(CODE), protos[i].bytes + 248);
		put_pointer(&protos[i], NAME, &name);
		put32(&protos[i], FIRST_LINE, (uint32_t)(10 * i));
		put_pointer(&protos[i], OF(LINES), lines);
	}
}

static void lie(const char *mode)
{
	if (!strcmp(mode, "wild-state"))
		state.bytes[8] = 9;
	else if (!strcmp(mode, "wild-frame"))
		put(&state, 0x20, 0x1234567890);
	else if (!strcmp(mode, "uneven-frame"))
		put_pointer(&state, 0x20, infos[FRAMES - 1].bytes + 1);
	else if (!strcmp(mode, "edge"))
		put_pointer(&state, 0x20, end_of_page() - 8);
	else if (!strcmp(mode, "cycle"))
		put_pointer(&infos[2], 0x10, &infos[3]);
	else if (!strcmp(mode, "self"))
		put_pointer(&infos[2], 0x10, &infos[2]);
	else if (!strcmp(mode, "wild-link"))
		put(&infos[2], 0x10, 0x1234567890);
	else if (!strcmp(mode, "empty-cycle")) {
		put_pointer(&infos[2], 0x10, &infos[2]);
		slots[5] = 0;
	} else if (!strcmp(mode, "code"))
		put(&closures[2], 0x18, 0x1234567890);
	else if (!strcmp(mode, "long"))
		put32(&protos[2], NPLACES, 0x7fffffff);
	else if (!strcmp(mode, "places")) {
		put32(&protos[2], NPLACES, 3);
		put(&protos[2], PLACES, 0x1234567890);
		lines[3] = 0x80;
	}
}
#endif

/* Lies that both have. */
static void lie_of_functions(const char *mode)
{
	static const char text[] = "@\x1b[31m\x07red\n.lua";

	if (!strcmp(mode, "wild-name"))
		put(&protos[2], NAME, 0x1234567890);
	else if (!strcmp(mode, "uneven-name"))
		put_pointer(&protos[2], NAME, name.bytes + 1);
	else if (!strcmp(mode, "no-name"))
		put(&protos[2], NAME, 0);
	else if (!strcmp(mode, "endless-name"))
		put(&name, 16, ~0ULL);
	else if (!strcmp(mode, "terminal"))
		put_name(text);
	else if (!strcmp(mode, "size"))
		put32(&protos[2], SIZE, ~0U);
	else if (!strcmp(mode, "first-line"))
		put32(&protos[2], FIRST_LINE, ~0U);
	else if (!strcmp(mode, "lines"))
		memset(lines, 0x81, sizeof(lines));
	else if (!strcmp(mode, "random"))
		for (size_t i = 0; i < sizeof(protos) / 4; i++)
			put32(protos, 4 * i, (uint32_t)random() >> (random() & 31));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "truth";
	const char *volatile used = ident;
	const void *volatile table = labels;

	if (!*used || !table)
		return 1;
	for (int i = 0; i < CALLS; i++) {
		build();
		lie(mode);
		lie_of_functions(mode);
		if (!strcmp(mode, "many")) {
			static char other[32];

			snprintf(other, sizeof(other), "@hostile%d.lua", i);
			put_name(other);
		}
		run_loop(&state, pc);
	}
	return 0;
}
