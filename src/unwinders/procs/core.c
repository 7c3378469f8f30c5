// SPDX-License-Identifier: Apache-2.0
/* core.c - see core.h. Notes follow linux/elfcore.h and the kernel's fs/binfmt_elf.c: NT_PRSTATUS begins a
 * thread; an NT_ARM_TLS and NT_ARM_PAC_MASK after it belong to that thread. */
#include "core.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "target/elf.h"
#include "target/target.h"

#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif
#ifndef NT_ARM_PAC_MASK
#define NT_ARM_PAC_MASK 0x406
#endif

/* struct elf_prstatus: both machines have the same layout before the registers. */
#define PRSTATUS_SIGNAL 12 /* pr_cursig, 2 bytes */
#define PRSTATUS_PID  32
#define PRSTATUS_REGS 112

/* struct elf_prpsinfo, 64 bits. */
#define PSINFO_PID  24
#define PSINFO_NAME 40
#define PSINFO_ARGS 56
#define PSINFO_SIZE 136

/* siginfo_t, 64 bits: si_code; then si_addr, or si_pid in its low half. */
#define SIGINFO_CODE  8
#define SIGINFO_UNION 16

#define THREADS_MAX 65536
#define MAPS_MAX    65536

struct thread {
	int tid;
	struct host_regs regs;
};

struct core {
	struct host_memory memory;
	struct elf *elf;
	VEC(struct thread) threads;
	VEC(struct proc_map) maps;
	uint64_t headers; /* address of the program headers */
	struct core_facts facts;
};

struct bytes {
	const uint8_t *p;
	size_t size;
};

static uint64_t word(struct bytes b, size_t at)
{
	uint64_t v = 0;

	if (at <= b.size && b.size - at >= sizeof(v))
		memcpy(&v, b.p + at, sizeof(v));
	return v;
}

/* ---- notes ---- */

/* user_regs_struct, by words: r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss fs_base. */
static struct host_regs regs_x86(struct bytes b)
{
	return (struct host_regs){
		.pc = word(b, 8 * 16), .sp = word(b, 8 * 19), .fp = word(b, 8 * 4),
		.tp = word(b, 8 * 21), .has_other = 1, .machine = EM_X86_64,
		.other = {
			[RULE_REG_R15] = word(b, 0), [RULE_REG_R14] = word(b, 8),
			[RULE_REG_R13] = word(b, 16), [RULE_REG_R12] = word(b, 24),
			[RULE_REG_RBX] = word(b, 40), [RULE_REG_R11] = word(b, 48),
			[RULE_REG_R10] = word(b, 56), [RULE_REG_R9] = word(b, 64),
			[RULE_REG_R8] = word(b, 72), [RULE_REG_RAX] = word(b, 80),
			[RULE_REG_RCX] = word(b, 88), [RULE_REG_RDX] = word(b, 96),
			[RULE_REG_RSI] = word(b, 104), [RULE_REG_RDI] = word(b, 112),
		},
	};
}

static struct host_regs regs_arm64(struct bytes b)
{
	return (struct host_regs){
		.pc = word(b, 8 * 32), .sp = word(b, 8 * 31), .fp = word(b, 8 * 29),
		.lr = word(b, 8 * 30), .has_other = 1, .machine = EM_AARCH64,
		.other = {
			[RULE_REG_X0] = word(b, 0), [RULE_REG_X1] = word(b, 8),
			[RULE_REG_X12] = word(b, 8 * 12), [RULE_REG_R13] = word(b, 8 * 13),
			[RULE_REG_X19] = word(b, 8 * 19), [RULE_REG_X20] = word(b, 8 * 20),
			[RULE_REG_X22] = word(b, 8 * 22), [RULE_REG_X28] = word(b, 8 * 28),
		},
	};
}

static void read_thread(struct core *c, struct bytes b)
{
	struct thread t = { .tid = (int)(uint32_t)word(b, PRSTATUS_PID) };

	if (b.size < PRSTATUS_REGS + 22 * 8 || c->threads.len >= THREADS_MAX)
		return;
	if (!c->threads.len)
		c->facts.signal = (int)(uint16_t)word(b, PRSTATUS_SIGNAL);
	b = (struct bytes){ b.p + PRSTATUS_REGS, b.size - PRSTATUS_REGS };
	t.regs = elf_machine(c->elf) == EM_AARCH64 ? regs_arm64(b) : regs_x86(b);
	t.regs.tid = (uint32_t)t.tid;
	vec_push(&c->threads, t);
}

/* The note has count, page size; start, end, offset in pages of each mapping; then their names. */
static void read_files(struct core *c, struct bytes b)
{
	uint64_t n = word(b, 0), page = word(b, 8);
	const char *name;
	size_t left;

	if (n > MAPS_MAX || b.size < 16 || n > (b.size - 16) / 24)
		return;
	name = (const char *)b.p + 16 + n * 24;
	left = b.size - 16 - n * 24;
	for (uint64_t i = 0; i < n; i++) {
		size_t at = 16 + i * 24, len = strnlen(name, left);
		struct proc_map m = { .start = word(b, at), .end = word(b, at + 8),
			.offset = word(b, at + 16) * page, .path = name };

		if (len == left)
			return;
		if (m.start < m.end)
			vec_push(&c->maps, m);
		name += len + 1;
		left -= len + 1;
	}
}

static void read_auxv(struct core *c, struct bytes b)
{
	for (size_t at = 0; at + 16 <= b.size; at += 16)
		if (word(b, at) == AT_PHDR)
			c->headers = word(b, at + 8);
}

static void read_psinfo(struct core *c, struct bytes b)
{
	struct core_facts *f = &c->facts;

	if (b.size < PSINFO_SIZE)
		return;
	f->pid = (int)(uint32_t)word(b, PSINFO_PID);
	memcpy(f->name, b.p + PSINFO_NAME, sizeof(f->name) - 1);
	memcpy(f->args, b.p + PSINFO_ARGS, sizeof(f->args) - 1);
	for (size_t n = strlen(f->args); n && f->args[n - 1] == ' '; n--) /* the kernel ends the last one, too */
		f->args[n - 1] = 0;
}

/* Only the note after the first thread's registers is about the signal that ended the process. */
static void read_siginfo(struct core *c, struct bytes b)
{
	struct core_facts *f = &c->facts;

	if (b.size < SIGINFO_UNION + 8 || f->has_info || c->threads.len > 1)
		return;
	f->has_info = true;
	f->code = (int)(uint32_t)word(b, SIGINFO_CODE);
	f->address = f->code > 0 ? word(b, SIGINFO_UNION) : 0;
	f->sender = f->code <= 0 ? (int)(uint32_t)word(b, SIGINFO_UNION) : 0;
}

static void read_note(struct core *c, uint32_t type, struct bytes b)
{
	struct thread *t = c->threads.len ? &c->threads.data[c->threads.len - 1] : NULL;

	switch (type) {
	case NT_PRSTATUS:
		read_thread(c, b);
		break;
	case NT_FILE:
		read_files(c, b);
		break;
	case NT_PRPSINFO:
		read_psinfo(c, b);
		break;
	case NT_SIGINFO:
		read_siginfo(c, b);
		break;
	case NT_AUXV:
		read_auxv(c, b);
		break;
	case NT_ARM_TLS:
		if (t && t->regs.machine == EM_AARCH64)
			t->regs.tp = word(b, 0);
		break;
	}
}

static void read_notes(struct core *c)
{
	struct elf_section notes;
	uint64_t at = 0;
	const uint8_t *data;
	size_t size;

	if (!elf_phdr(c->elf, PT_NOTE, &notes))
		return;
	data = elf_data(c->elf, &size);
	if (notes.offset > size || notes.size > size - notes.offset)
		return;
	while (at + sizeof(Elf64_Nhdr) <= notes.size) {
		uint64_t name, desc;
		Elf64_Nhdr h;

		memcpy(&h, data + notes.offset + at, sizeof(h));
		name = at + sizeof(h);
		desc = name + ((h.n_namesz + 3ull) & ~3ull);
		if (desc > notes.size || h.n_descsz > notes.size - desc)
			return;
		read_note(c, h.n_type, (struct bytes){ data + notes.offset + desc, h.n_descsz });
		at = desc + ((h.n_descsz + 3ull) & ~3ull);
	}
}

/* ---- memory ---- */

static bool is_mapped_file(const struct core *c, size_t nfiles, uint64_t addr)
{
	for (size_t i = 0; i < nfiles; i++)
		if (addr >= c->maps.data[i].start && addr < c->maps.data[i].end)
			return true;
	return false;
}

static void add_anonymous(struct core *c)
{
	const struct elf_segment *s;
	size_t n = elf_segments(c->elf, &s), files = c->maps.len;

	for (size_t i = 0; i < n && c->maps.len < MAPS_MAX; i++) {
		struct proc_map m = { .start = s[i].vaddr, .end = s[i].vaddr + s[i].memsz,
			.exec = true, .path = "" };

		if (s[i].exec && m.start < m.end && !is_mapped_file(c, files, m.start))
			vec_push(&c->maps, m);
	}
}

/* Reads in pieces: the range may go beyond a segment's end into the next segment. */
static int read_core(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	struct core *c = (struct core *)m;
	uint8_t *to = buf;

	while (size) {
		size_t page = 4096 - (size_t)(addr & 4095), n = size < page ? size : page;
		const uint8_t *p = elf_at(c->elf, addr, n);

		if (!p)
			return -EFAULT;
		memcpy(to, p, n);
		to += n;
		addr += n;
		size -= n;
	}
	return 0;
}

/* ---- the core ---- */

int core_open(struct elf *e, struct core **ret)
{
	struct core *c = calloc(1, sizeof(*c));

	if (!c) {
		elf_close(e);
		return -ENOMEM;
	}
	c->elf = e;
	c->memory.read = read_core;
	read_notes(c);
	add_anonymous(c);
	if (!c->threads.len) {
		core_close(c);
		return -ENOEXEC;
	}
	*ret = c;
	return 0;
}

void core_close(struct core *c)
{
	if (!c)
		return;
	vec_done(&c->threads);
	vec_done(&c->maps);
	elf_close(c->elf);
	free(c);
}

struct host_memory *core_memory(struct core *c)
{
	return &c->memory;
}

size_t core_threads(const struct core *c)
{
	return c->threads.len;
}

int core_tid(const struct core *c, size_t i)
{
	return c->threads.data[i].tid;
}

const struct host_regs *core_regs(const struct core *c, size_t i)
{
	return &c->threads.data[i].regs;
}

size_t core_maps(const struct core *c, const struct proc_map **ret)
{
	*ret = c->maps.data;
	return c->maps.len;
}

const struct core_facts *core_facts(const struct core *c)
{
	return &c->facts;
}

const char *core_exe(const struct core *c)
{
	for (size_t i = 0; i < c->maps.len; i++)
		if (c->headers >= c->maps.data[i].start && c->headers < c->maps.data[i].end)
			return c->maps.data[i].path;
	return NULL;
}
