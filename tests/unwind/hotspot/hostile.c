// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like HotSpot: it exports tables, and has a code cache with an interpreter and a
 * compiled method, through which main() calls getppid(). The first argument chooses the lie; with a second one the
 * process runs until it is killed. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 200
#define DEPTH 4

/* ---- objects, with offsets of our own ---- */

struct symbol { uint16_t length; char body[254]; };
struct klass { uint64_t pad; struct symbol *name; };
struct pool { uint64_t pad0; struct klass *holder; uint16_t file; uint16_t pad[3]; struct symbol *symbols[8]; };
struct const_method {
	uint64_t pad0;
	struct pool *pool;
	uint16_t flags, code_size, name, pad;
	uint8_t code[32];
	uint8_t lines[64];
};
struct method { uint64_t pad; struct const_method *constant; };
struct heap { uint64_t pad; char *low, *high, *segmap; int shift; };
struct array { int len, pad; struct heap **data; };
struct blob {
	const char *name;
	int frame_size, complete;
	uint8_t *code;
	struct method *method;
	int compile_id, orig_pc;
	uint64_t deopt;
	int pcs, dependencies, metadata, scopes;
};
struct pc_desc { int pc, scope, pad[2]; };

static struct symbol klass_name = { 11, "evil/Klass0" }, method_name = { 7, "method0" }, file_name = { 9, "Evil.java" };
static struct klass klass = { .name = &klass_name };
static struct pool pool = { .holder = &klass, .file = 2, .symbols = { NULL, &method_name, &file_name } };
static struct const_method constant = { .pool = &pool, .flags = 1, .code_size = 32, .name = 1,
	.lines = { 255, 0, 14 } };
static struct method method = { 0, &constant };
static struct heap heap, *heap_list[64] = { &heap };
static struct array heap_array = { 1, 0, heap_list };
static struct array *heaps = &heap_array;
static struct blob *compiled, *interpreter;

/* ---- the tables ---- */

struct field { const char *type, *name, *kind; int is_static, pad; uint64_t offset; void *address; };
struct type { const char *name, *super; int flags[3], pad; uint64_t size; };
struct constant { const char *name; int value, pad; };

#define OF(type, name, object, member) { type, name, "int", 0, 0, offsetof(object, member), NULL }
static struct field fields[] = {
	{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0, 0, &heaps },
	OF("GrowableArrayBase", "_len", struct array, len), OF("GrowableArray<int>", "_data", struct array, data),
	{ "CodeHeap", "_memory", "VirtualSpace", 0, 0, 8, NULL },
	{ "CodeHeap", "_segmap", "VirtualSpace", 0, 0, 24, NULL },
	OF("CodeHeap", "_log2_segment_size", struct heap, shift),
	{ "VirtualSpace", "_low_boundary", "char*", 0, 0, 0, NULL },
	{ "VirtualSpace", "_high_boundary", "char*", 0, 0, 8, NULL },
	OF("CodeBlob", "_name", struct blob, name), OF("CodeBlob", "_frame_size", struct blob, frame_size),
	OF("CodeBlob", "_frame_complete_offset", struct blob, complete),
	OF("CodeBlob", "_code_begin", struct blob, code),
	OF("nmethod", "_method", struct blob, method), OF("nmethod", "_compile_id", struct blob, compile_id),
	OF("nmethod", "_orig_pc_offset", struct blob, orig_pc),
	OF("nmethod", "_deopt_handler_begin", struct blob, deopt),
	OF("nmethod", "_scopes_pcs_offset", struct blob, pcs),
	OF("nmethod", "_dependencies_offset", struct blob, dependencies),
	OF("nmethod", "_metadata_offset", struct blob, metadata),
	OF("nmethod", "_scopes_data_offset", struct blob, scopes),
	OF("Method", "_constMethod", struct method, constant),
	OF("ConstMethod", "_constants", struct const_method, pool),
	OF("ConstMethod", "_flags", struct const_method, flags),
	OF("ConstMethod", "_code_size", struct const_method, code_size),
	OF("ConstMethod", "_name_index", struct const_method, name),
	OF("ConstantPool", "_pool_holder", struct pool, holder),
	OF("ConstantPool", "_source_file_name_index", struct pool, file), OF("Klass", "_name", struct klass, name),
	OF("Symbol", "_length", struct symbol, length), OF("Symbol", "_body", struct symbol, body),
	OF("PcDesc", "_pc_offset", struct pc_desc, pc), OF("PcDesc", "_scope_decode_offset", struct pc_desc, scope),
	{ 0 }
};
static struct type types[] = {
	{ .name = "HeapBlock", .size = 16 }, { .name = "ConstMethod", .size = offsetof(struct const_method, code) },
	{ .name = "ConstantPool", .size = offsetof(struct pool, symbols) }, { .name = "PcDesc", .size = 16 }, { 0 }
};
static struct constant ints[] = { { "Method::_hidden", 8, 0 }, { 0 } };

struct field *gHotSpotVMStructs = fields;
struct type *gHotSpotVMTypes = types;
struct constant *gHotSpotVMIntConstants = ints;

/* ---- the code ---- */

/* (function, its argument, Method, bcp) */
static const uint8_t interpreted_code[] = {
	/* push %rbp; mov %rsp,%rbp; lea 16(%rbp),%rax; push %rax */
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x45, 0x10, 0x50,
	/* push 0; %rdx; 0 0 0 0; %rcx; 0 0 */
	0x6a, 0, 0x52, 0x6a, 0, 0x6a, 0, 0x6a, 0, 0x6a, 0, 0x51, 0x6a, 0, 0x6a, 0,
	/* mov %rdi,%rax; mov %rsi,%rdi; call *%rax; leave; ret */
	0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0xc9, 0xc3,
};
static const uint8_t compiled_code[] = {
	/* push %rbp; sub $64,%rsp; .. call */
	0x55, 0x48, 0x83, 0xec, 0x40, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0,
	0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3, /* add $64,%rsp; pop %rbp; ret */
};

#define SEGMENT 7
#define CACHE   (1 << 20)

/* Puts a blob at a segment of the cache, and its scopes behind the code. */
static struct blob *put(unsigned segment, const char *name, const uint8_t *code, size_t size, int words)
{
	struct blob *b = (struct blob *)(heap.low + (segment << SEGMENT) + 16);
	char *data = (char *)b + 256;
	struct pc_desc pcs[] = { { -1, 0, { 0 } }, { 13, 1, { 0 } }, { 1000, 0, { 0 } } };

	*b = (struct blob){ .name = name, .frame_size = words, .code = (uint8_t *)b + 128, .method = &method,
		.compile_id = 7,
		.pcs = 256, .dependencies = 256 + sizeof(pcs), .scopes = 384, .metadata = 448 };
	memcpy(b->code, code, size);
	memcpy(data, pcs, sizeof(pcs));
	memcpy(data + 128, "\0\0\1\1", 4); /* at 1: no sender, method 1, bci 0 */
	*(struct method **)(data + 192) = &method;
	for (unsigned i = 0; i < 8; i++)
		heap.segmap[segment + i] = (char)(i ? 1 : 0);
	return b;
}

static void step(void *arg)
{
	typedef void code(void (*f)(void *), void *arg, struct method *m, uint8_t *bcp);
	uintptr_t depth = (uintptr_t)arg;
	struct blob *b = depth & 1 ? compiled : interpreter;

	if (depth == DEPTH) {
		getppid();
		return;
	}
	((code *)(uintptr_t)b->code)(step, (void *)(depth + 1), &method, constant.code + depth);
	__asm__ volatile("" ::: "memory");
}

/* ---- lies ---- */

static int is(const char *lie, const char *name)
{
	return !strcmp(lie, name);
}

static void lie_code(const char *lie)
{
	char *scopes = (char *)compiled + 384;

	if (is(lie, "segmap-cycle"))
		memset(heap.segmap, 1, CACHE >> SEGMENT);
	if (is(lie, "segmap-far"))
		memset(heap.segmap, 254, CACHE >> SEGMENT);
	if (is(lie, "frame-huge"))
		compiled->frame_size = 1 << 28;
	if (is(lie, "frame-negative"))
		compiled->frame_size = -1;
	if (is(lie, "frame-small"))
		compiled->frame_size = 2;
	if (is(lie, "blob-name"))
		compiled->name = (const char *)8;
	if (is(lie, "scopes-cycle"))
		memcpy(scopes + 1, "\1\1\1", 3);
	if (is(lie, "scopes-far"))
		memcpy(scopes + 1, "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377", 15);
	if (is(lie, "pcs-many"))
		compiled->dependencies = 0x7fffffff;
	if (is(lie, "deopt-self"))
		compiled->deopt = (uint64_t)compiled->code + 13;
}

static void lie_data(const char *lie)
{
	if (is(lie, "pool-self"))
		constant.pool = (struct pool *)&constant.pool;
	if (is(lie, "wild-method"))
		method.constant = (struct const_method *)0x123456789000;
	if (is(lie, "wild-names"))
		klass.name = pool.symbols[1] = pool.symbols[2] = (struct symbol *)0x7ffffffff008;
	if (is(lie, "edge"))
		pool.symbols[1] = (struct symbol *)(heap.low + CACHE - 8);
	if (is(lie, "name-long"))
		method_name.length = klass_name.length = 65535;
	if (is(lie, "terminal"))
		memcpy(method_name.body, "\33[2J\r\n\t", 7);
	if (is(lie, "lines-endless"))
		memset(constant.lines, 1, sizeof(constant.lines));
	if (is(lie, "code-size"))
		constant.code_size = 1;
}

static void lie_tables(const char *lie)
{
	if (is(lie, "heaps-many"))
		heap_array.len = -1;
	if (is(lie, "wild-heaps"))
		heaps = (struct array *)0x5555;
	if (is(lie, "offsets-huge"))
		for (struct field *f = fields; f->type; f++)
			f->offset += 1ULL << 40;
	if (is(lie, "offsets-odd"))
		for (struct field *f = fields + 8; f->type; f++)
			f->offset += 3;
	if (is(lie, "tables-endless")) {
		gHotSpotVMStructs = malloc(100000 * sizeof(*fields));
		for (int i = 0; i < 100000; i++)
			gHotSpotVMStructs[i] = fields[0];
	}
	if (is(lie, "shifted")) /* names without their first character, in each process whose tables these were */
		for (struct field *f = fields; f->type; f++)
			f->offset += is(f->name, "_body");
	if (is(lie, "texts-wild"))
		for (struct field *f = fields; f->type; f++)
			f->name = (const char *)-1;
}

int main(int argc, char **argv)
{
	const char *lie = argc > 1 ? argv[1] : "truth";

	heap.low = mmap(NULL, CACHE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	heap.segmap = mmap(NULL, CACHE >> SEGMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heap.low == MAP_FAILED || heap.segmap == MAP_FAILED)
		return 1;
	heap.high = heap.low + CACHE;
	heap.shift = SEGMENT;
	memset(heap.segmap, 255, CACHE >> SEGMENT);
	compiled = put(16, "nmethod", compiled_code, sizeof(compiled_code), 10);
	interpreter = put(32, "Interpreter", interpreted_code, sizeof(interpreted_code), 0);
	lie_tables(lie);
	lie_code(lie);
	lie_data(lie);
	for (int i = 0; argc > 2 || i < CALLS; i++) {
		if (is(lie, "moving"))
			compiled->compile_id++;
		step(NULL);
		usleep(i < 2 ? 200000 : argc > 2 ? 10000 : 100); /* at first until strata has read the tables */
	}
	return 0;
}
