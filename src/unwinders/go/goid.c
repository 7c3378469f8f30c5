// SPDX-License-Identifier: Apache-2.0
/* goid.c - see goid.h.
 *
 * x86_64: runtime.systemstack loads g and compares it with m.curg. arm64: runtime.load_g loads g if cgo is
 * used. runtime.goroutineheader, which is in every program, prints "goroutine ", then g.goid: the argument of
 * its first call of printint or printuint is followed back to its load. */
#include "goid.h"

#include <elf.h>
#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "target/pclntab.h"

#define CODE_MAX  4096 /* bytes of a function that are searched */
#define INSNS_MAX 512
#define GOID_MAX  1024

struct code_bytes {
	const uint8_t *p;
	size_t size;
	uint64_t vaddr;
};

static struct code_bytes code_of(struct elf *e, const struct pcln_function *f)
{
	size_t size = f->end - f->start < CODE_MAX ? (size_t)(f->end - f->start) : CODE_MAX;
	const uint8_t *p = elf_at(e, f->start, size);

	return (struct code_bytes){ p, p ? size : 0, f->start };
}

static uint32_t get32(struct code_bytes c, size_t at)
{
	uint32_t v = 0;

	if (at <= c.size && c.size - at >= sizeof(v))
		memcpy(&v, c.p + at, sizeof(v));
	return v;
}

/* Returns the offset of the bytes; c.size: not found. */
static size_t find(struct code_bytes c, const void *bytes, size_t n)
{
	const uint8_t *found = c.size ? memmem(c.p, c.size, bytes, n) : NULL;

	return found ? (size_t)(found - c.p) : c.size;
}

/* ---- g and m.curg ---- */

/* mov %fs:disp32,%rax, or mov $imm32,%reg; mov %fs:(%reg),%rax */
static int32_t tls_x86(struct code_bytes c)
{
	size_t at = find(c, "\x64\x48\x8b\x04\x25", 5);

	if (at < c.size)
		return (int32_t)get32(c, at + 5);
	at = find(c, "\x64\x48\x8b", 3);
	if (at >= c.size || at < 7 || c.p[at - 7] != 0x48 || c.p[at - 6] != 0xc7 || c.p[at - 5] >> 3 != 0xc0 >> 3)
		return 0;
	return (int32_t)get32(c, at - 4);
}

/* cmp disp32(%rbx),%rax, with either order of operands */
static uint16_t curg_x86(struct code_bytes c)
{
	size_t at = find(c, "\x48\x3b\x83", 3);
	uint32_t v;

	if (at >= c.size)
		at = find(c, "\x48\x39\x83", 3);
	v = get32(c, at + 3);
	return at < c.size && v <= INT16_MAX ? (uint16_t)v : 0;
}

/* mrs x0, tpidr_el0; mov x27, #offset; ldr x28, [x0, x27] */
static int32_t tls_arm64(struct code_bytes c)
{
	for (size_t at = 0; at + 12 <= c.size; at += 4) {
		uint32_t mov = get32(c, at + 4);

		if (get32(c, at) == 0xd53bd040 && (mov & 0xffe0001f) == 0xd280001b && get32(c, at + 8) == 0xf87b681c)
			return (int32_t)(mov >> 5 & 0xffff);
	}
	return 0;
}

/* ---- g.goid ---- */

enum move {
	OTHER, /* may change its first operand */
	LOAD,
	STORE,
	COPY,
	CALL,
};

struct step {
	enum move move;
	uint8_t reg;         /* LOAD, COPY: set; STORE: stored; OTHER: changed, or none */
	uint8_t from;        /* COPY: register; LOAD, STORE: base */
	int64_t at;          /* LOAD, STORE: displacement; CALL: its target */
};

#define REG_SP(machine) ((machine) == EM_AARCH64 ? 31 : 4)

static struct step step_of(const struct code_insn *i, bool arm64)
{
	const struct code_operand *a = &i->operand[0], *b = &i->operand[1];
	bool moves = arm64 ? !strcmp(i->mnemonic, "ldr") || !strcmp(i->mnemonic, "str") || !strcmp(i->mnemonic, "mov") :
		!strcmp(i->mnemonic, "mov");
	struct step s = { .reg = CODE_REG_NONE };

	if (i->flow == CODE_CALL || i->flow == CODE_CALL_INDIRECT)
		return (struct step){ .move = CALL, .reg = CODE_REG_NONE, .at = (int64_t)i->target };
	if (i->noperands && a->kind == CODE_REG)
		s.reg = a->reg;
	if (!moves || i->noperands != 2)
		return s;
	if (arm64 && i->mnemonic[0] == 's' && b->kind == CODE_MEM)
		return (struct step){ STORE, a->reg, b->reg, b->value };
	if (a->kind == CODE_MEM && b->kind == CODE_REG)
		return (struct step){ STORE, b->reg, a->reg, a->value };
	if (a->kind == CODE_REG && b->kind == CODE_MEM && a->size == 8)
		return (struct step){ LOAD, a->reg, b->reg, b->value };
	if (a->kind == CODE_REG && b->kind == CODE_REG && a->size == 8)
		return (struct step){ COPY, a->reg, b->reg, 0 };
	return s;
}

/* Returns the offset from a pointer at which the first argument (rax, x0) of the call after the last step was
 * loaded, maybe by way of a slot of the stack, or 0 if it is unknown. */
static uint16_t follow_back(const struct step *s, size_t n, uint8_t sp)
{
	uint8_t reg = 0;
	bool in_slot = false;
	int64_t slot = 0;

	while (n--) {
		if (in_slot) {
			if (s[n].move != STORE || s[n].from != sp || s[n].at != slot)
				continue;
			in_slot = false;
			reg = s[n].reg;
		} else if (s[n].move == CALL || (s[n].move == OTHER && s[n].reg == reg)) {
			return 0;
		} else if (s[n].move == COPY && s[n].reg == reg) {
			reg = s[n].from;
		} else if (s[n].move == LOAD && s[n].reg == reg && s[n].from == sp) {
			in_slot = true;
			slot = s[n].at;
		} else if (s[n].move == LOAD && s[n].reg == reg) {
			return s[n].at > 0 && s[n].at < GOID_MAX && !(s[n].at & 7) ? (uint16_t)s[n].at : 0;
		}
	}
	return 0;
}

/* prints: addresses of printint and printuint, or 0 if they are missing. */
static uint16_t goid_of_code(struct elf *e, struct code_bytes c, const uint64_t prints[2])
{
	bool arm64 = elf_machine(e) == EM_AARCH64;
	_cleanup_(code_closep) struct code *code = NULL;
	struct step steps[INSNS_MAX];
	struct code_insn i;
	size_t at = 0, n = 0;

	if (code_open(elf_machine(e), true, &code))
		return 0;
	while (at < c.size && n < INSNS_MAX && code_decode(code, c.p + at, c.size - at, c.vaddr + at, &i)) {
		steps[n] = step_of(&i, arm64);
		if (steps[n].move == CALL && i.target && (i.target == prints[0] || i.target == prints[1]))
			return follow_back(steps, n, REG_SP(elf_machine(e)));
		n++;
		at += i.size;
	}
	return 0;
}

/* Offsets of runtime/runtime2.go, if there is no disassembler, or the compiler has changed. */
static uint16_t goid_of_version(unsigned version)
{
	if (!version)
		return 0;
	return version == 123 || version == 124 ? 160 : 152;
}

/* ---- all offsets ---- */

struct goid goid_find(struct elf *e, const struct pclntab *t)
{
	bool arm64 = elf_machine(e) == EM_AARCH64;
	struct code_bytes header = {}, loads = {};
	unsigned version = pclntab_version(t);
	struct goid ret = {};
	struct pcln_function f;
	uint64_t prints[2] = {};

	for (size_t i = 0; i < pclntab_functions(t); i++) {
		if (!pclntab_function(t, i, &f) || strncmp(f.name, "runtime.", 8) != 0)
			continue;
		if (!strcmp(f.name, "runtime.printint"))
			prints[0] = f.start;
		else if (!strcmp(f.name, "runtime.printuint"))
			prints[1] = f.start;
		else if (!strcmp(f.name, "runtime.goroutineheader"))
			header = code_of(e, &f);
		else if (!strcmp(f.name, arm64 ? "runtime.load_g" : "runtime.systemstack"))
			loads = code_of(e, &f);
	}
	ret.tls = arm64 ? tls_arm64(loads) : tls_x86(loads);
	ret.curg = arm64 ? (version && version < 125 ? 192 : 184) : curg_x86(loads);
	ret.goid = goid_of_code(e, header, prints);
	if (!ret.goid)
		ret.goid = goid_of_version(version);
	return ret;
}

/* ---- labels ---- */

#define LABELS_MIN 256 /* g.labels is one of the last members */

/* runtime/pprof.runtime_setProfLabel stores its argument in g.labels of the goroutine. */
static uint16_t labels_of_code(struct elf *e, struct code_bytes c)
{
	bool arm64 = elf_machine(e) == EM_AARCH64;
	_cleanup_(code_closep) struct code *code = NULL;
	struct code_insn i;
	size_t at = 0;

	if (code_open(elf_machine(e), true, &code))
		return 0;
	while (at < c.size && code_decode(code, c.p + at, c.size - at, c.vaddr + at, &i)) {
		struct step s = step_of(&i, arm64);

		if (s.move == STORE && !s.reg && s.at >= LABELS_MIN && s.at < GOID_MAX && !(s.at & 7))
			return (uint16_t)s.at;
		at += i.size;
	}
	return 0;
}

bool go_labels_find(struct elf *e, struct go_labels *ret)
{
	_cleanup_(pclntab_closep) struct pclntab *t = NULL;
	struct pcln_function f;
	uint16_t labels = 0;
	struct goid where;

	if (pclntab_open(e, &t))
		return false;
	for (size_t i = 0; i < pclntab_functions(t) && !labels; i++)
		if (pclntab_function(t, i, &f) && !strcmp(f.name, "runtime/pprof.runtime_setProfLabel"))
			labels = labels_of_code(e, code_of(e, &f));
	where = labels ? goid_find(e, t) : (struct goid){};
	*ret = (struct go_labels){where.tls, where.curg, labels, pclntab_version(t) && pclntab_version(t) < 124};
	return labels && where.curg;
}
