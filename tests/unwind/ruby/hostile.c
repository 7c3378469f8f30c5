// SPDX-License-Identifier: Apache-2.0
/* hostile.c - a process that looks like CRuby (-DVERSION="3.3.8", -DMINOR=33; 31; 99) and has false data.
 *
 *     hostile MODE     calls getppid() from its vm_exec_core() CALLS times
 *
 * It defines Ruby's symbols. Its control frames, iseqs, methods and strings have the layout of that version, and each
 * mode changes one value to one that Ruby never writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS  200
#define FRAMES 5
#define WORDS  512 /* of the thread's stack */
#define WILD   0x4141414141414140

/* ruby v3.1.2, v3.3.8: vm_core.h, iseq.h, method.h, internal/class.h, symbol.h. */
enum {
#if MINOR == 31
	FRAME_SIZE = 64, INSNS = 120, INSNS_SIZE = 136, INSNS_INDEX = 144, LOCAL = 176, LINE_SHIFT = 1, EMBED = 16,
#else
	FRAME_SIZE = 56, INSNS = 112, INSNS_SIZE = 128, INSNS_INDEX = 136, LOCAL = 168, LINE_SHIFT = 0, EMBED = 24,
#endif
	FRAME_ISEQ = 16, FRAME_EP = 32, ISEQ_BODY = 16, BODY_START = 8, BODY_PATH = 64, BODY_LABEL = 80, BODY_LINE = 88,
	METHOD_DEF = 16, METHOD_OWNER = 32, DEF_ID = 32, CLASS_ATTACHED = 128, CLASS_PATH = 152, SINGLETON = 1 << 12,
	TYPE_CLASS = 2, TYPE_STRING = 5, TYPE_ARRAY = 7, APART = 1 << 13, METHOD = 6 << 12 | 0x1a,
	FLAG_LOCAL = 2, FLAG_FINISH = 0x20, FLAG_CFRAME = 0x80, SYMBOL = 20, C_FRAME = 1, CODE_WORDS = 40,
};
#define MAGIC_METHOD 0x11110000
#define MAGIC_BLOCK  0x22220000
#define MAGIC_CFUNC  0x55550000

#define PUBLIC __attribute__((visibility("default")))
PUBLIC const char ruby_version[] = VERSION;
PUBLIC void *ruby_current_execution_context_ptr;
uint64_t global_symbols[4] __attribute__((visibility("hidden")));
void rb_id2str(uint64_t id);
__asm__(".globl rb_id2str\n.type rb_id2str,@function\nrb_id2str: .cfi_startproc\n"
	"cmp $170,%rdi\n cmp %rdi,global_symbols(%rip)\n ret\n .cfi_endproc\n.size rb_id2str,.-rb_id2str\n");

struct object { /* an object of any kind; larger than each of them */
	_Alignas(16) uint8_t bytes[256];
};

static struct object ec, iseqs[FRAMES], bodies[FRAMES], labels[FRAMES], methods[FRAMES], definition, class, class_name,
	path, function, ids, unit;
static uint64_t stack[WORDS], envs[FRAMES][3], code[FRAMES][CODE_WORDS], units[1], pairs[2 * 512];
static uint32_t entries[FRAMES][3];
static char texts[FRAMES][64];

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

static void put_string(struct object *o, const char *text)
{
	put(o, 0, TYPE_STRING | APART);
	put(o, 16, strlen(text));
	put_pointer(o, 24, text);
}

static void put_array(struct object *o, const void *items)
{
	put(o, 0, TYPE_ARRAY);
	put_pointer(o, 32, items);
}

/* The stack ends in a dummy frame. */
static uint8_t *frame(int i)
{
	return (uint8_t *)(stack + WORDS) - (FRAMES + 1 - i) * FRAME_SIZE;
}

static void put_iseq(int i)
{
	put_pointer(&iseqs[i], ISEQ_BODY, &bodies[i]);
	put(&bodies[i], 0, (uint64_t)CODE_WORDS << 32 | 1);
	put_pointer(&bodies[i], BODY_START, code[i]);
	put_pointer(&bodies[i], BODY_PATH, &path);
	put_pointer(&bodies[i], BODY_LABEL, &labels[i]);
	put(&bodies[i], BODY_LINE, (uint64_t)(10 + i) << LINE_SHIFT | LINE_SHIFT);
	put_pointer(&bodies[i], INSNS, entries[i]);
	put32(&bodies[i], INSNS_SIZE, 1);
	put_pointer(&bodies[i], LOCAL, &iseqs[i]);
	entries[i][0] = (uint32_t)(20 + i);
	snprintf(texts[i], sizeof(texts[i]), "work%d", i);
	put_string(&labels[i], texts[i]);
}

static void put_frame(int i)
{
	uint64_t flags = i == C_FRAME ? MAGIC_CFUNC | FLAG_CFRAME : MAGIC_METHOD;

	put(&methods[i], 0, METHOD);
	put_pointer(&methods[i], METHOD_DEF, &definition);
	put_pointer(&methods[i], METHOD_OWNER, &class);
	put_pointer(frame(i), 0, i == C_FRAME ? NULL : &code[i][3]);
	put_pointer(frame(i), FRAME_ISEQ, i == C_FRAME ? NULL : &iseqs[i]);
	put_pointer(frame(i), FRAME_EP, &envs[i][2]);
	put_pointer(envs[i], 0, &methods[i]);
	envs[i][2] = flags | FLAG_LOCAL | (i == FRAMES - 1 ? FLAG_FINISH : 0);
}

static void be_truthful(void)
{
	for (int i = 0; i < FRAMES; i++) {
		put_iseq(i);
		put_frame(i);
	}
	put_string(&path, "/hostile.rb");
	put_string(&function, "function");
	put_string(&class_name, "Liar");
	put(&class, 0, TYPE_CLASS);
	put(&class, CLASS_PATH - 8, 1ULL << 40);
	put_pointer(&class, CLASS_PATH, &class_name);
	put(&definition, DEF_ID, SYMBOL << 4);
	put_pointer(pairs, SYMBOL * 16, &function);
	put_array(&unit, pairs);
	put_pointer(units, 0, &unit);
	put_array(&ids, units);
	global_symbols[0] = SYMBOL;
	put_pointer(global_symbols, 16, &ids);
	put_pointer(&ec, 0, stack);
	put(&ec, 8, WORDS);
	put_pointer(&ec, 16, frame(0));
	ruby_current_execution_context_ptr = &ec;
}

static void lie_about_frames(const char *mode)
{
	if (!strcmp(mode, "wild-ec"))
		ruby_current_execution_context_ptr = (void *)WILD;
	else if (!strcmp(mode, "uneven-ec"))
		ruby_current_execution_context_ptr = ec.bytes + 1;
	else if (!strcmp(mode, "wild-frame"))
		put(&ec, 16, WILD);
	else if (!strcmp(mode, "low-frame"))
		put(&ec, 16, 8);
	else if (!strcmp(mode, "uneven-frame"))
		put_pointer(&ec, 16, frame(0) + 1);
	else if (!strcmp(mode, "empty"))
		put(&ec, 8, 0);
	else if (!strcmp(mode, "huge"))
		put(&ec, 8, UINT64_MAX / 16);
	else if (!strcmp(mode, "negative"))
		put(&ec, 8, (uint64_t)-64);
	else if (!strcmp(mode, "wild-ep"))
		put(frame(2), FRAME_EP, WILD);
	else if (!strcmp(mode, "ep-cycle")) { /* a block in itself */
		envs[2][0] = 0;
		put_pointer(envs[2], 8, &envs[2][2]);
		envs[2][2] = MAGIC_BLOCK;
	} else if (!strcmp(mode, "wild-pc"))
		put(frame(2), 0, WILD);
}

static void lie_about_code(const char *mode)
{
	if (!strcmp(mode, "wild-iseq"))
		put(frame(2), FRAME_ISEQ, WILD);
	else if (!strcmp(mode, "wild-body"))
		put(&iseqs[2], ISEQ_BODY, WILD);
	else if (!strcmp(mode, "wild-label"))
		put(&bodies[2], BODY_LABEL, WILD);
	else if (!strcmp(mode, "label-type"))
		put_pointer(&bodies[2], BODY_LABEL, &class);
	else if (!strcmp(mode, "wild-path"))
		put(&bodies[2], BODY_PATH, WILD);
	else if (!strcmp(mode, "path-type"))
		put_pointer(&bodies[2], BODY_PATH, &class);
	else if (!strcmp(mode, "path-array"))
		put_array(&path, (void *)WILD);
	else if (!strcmp(mode, "wild-lines"))
		put(&bodies[2], INSNS, WILD);
	else if (!strcmp(mode, "huge-lines"))
		put32(&bodies[2], INSNS_SIZE, UINT32_MAX);
	else if (!strcmp(mode, "wild-index")) { /* several entries */
		put32(&bodies[2], INSNS_SIZE, 2);
		put(&bodies[2], INSNS_INDEX, WILD);
	} else if (!strcmp(mode, "huge-code"))
		put32(&bodies[2], 4, UINT32_MAX);
	else if (!strcmp(mode, "wild-local"))
		put(&bodies[2], LOCAL, WILD);
}

static void lie_about_names(const char *mode)
{
	if (!strcmp(mode, "length"))
		put(&labels[2], 16, UINT64_MAX);
	else if (!strcmp(mode, "embedded"))
		put(&labels[2], 0, TYPE_STRING | 31 << 14); /* the text is the object itself */
	else if (!strcmp(mode, "wild-text"))
		put(&labels[2], 24, WILD);
	else if (!strcmp(mode, "terminal")) {
		put_string(&labels[2], "\x1b[31mred\x1b[0m\n\tname\x07");
		put_string(&class_name, "\x1b]0;title\x07");
		put_string(&path, "\x1b]0;title\x07]: 1000");
	} else if (!strcmp(mode, "wild-method"))
		envs[C_FRAME][0] = WILD;
	else if (!strcmp(mode, "method-type"))
		put(&methods[2], 0, TYPE_CLASS);
	else if (!strcmp(mode, "svar-cycle")) { /* leads to itself */
		put(&methods[2], 0, 2 << 12 | 0x1a);
		put_pointer(&methods[2], 8, &methods[2]);
	} else if (!strcmp(mode, "wild-classpath"))
		put(&class, CLASS_PATH, WILD);
	else if (!strcmp(mode, "attached-self")) {
		put(&class, 0, TYPE_CLASS | SINGLETON);
		put_pointer(&class, CLASS_ATTACHED, &class);
	} else if (!strcmp(mode, "wild-symbols"))
		global_symbols[2] = WILD;
	else if (!strcmp(mode, "serial"))
		put(&definition, DEF_ID, 0xfffffff0);
}

/* An endless supply of iseqs: each call runs another one. */
static void another_iseq(unsigned call)
{
	snprintf(texts[0], sizeof(texts[0]), "work%u", call);
	put(&bodies[0], BODY_LINE, (uint64_t)(100 + call) << LINE_SHIFT | LINE_SHIFT);
}

/* Every word of an object leads to one of our objects, or nowhere. */
static void be_random(unsigned seed)
{
	struct object *const objects[] = { &iseqs[0], &bodies[0], &labels[0], &methods[0], &definition, &class,
		&class_name, &path, &function, &ids, &unit };
	const size_t n = sizeof(objects) / sizeof(*objects);

	srandom(seed);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(struct object); k += 8)
			put(objects[i], k, random() % 4 ? (uintptr_t)objects[(size_t)random() % n] :
				(uint64_t)random() << 33 ^ (uint64_t)random());
	for (int i = 0; i < FRAMES; i++)
		envs[i][random() % 3] = (uint64_t)random();
}

/* As large as Ruby's loop. */
static __attribute__((noinline)) void vm_exec_core(const char *mode)
{
	for (unsigned i = 0; i < CALLS; i++) {
		if (!strcmp(mode, "many"))
			another_iseq(i);
		if (!strcmp(mode, "random"))
			be_random(i);
		getppid();
	}
	__asm__ volatile("jmp 1f\n .skip 9000,0x90\n 1:" ::: "memory");
}

PUBLIC __attribute__((noinline)) void rb_vm_exec(const char *mode)
{
	vm_exec_core(mode);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "truth";

	be_truthful();
	lie_about_frames(mode);
	lie_about_code(mode);
	lie_about_names(mode);
	rb_vm_exec(mode);
	return 0;
}
