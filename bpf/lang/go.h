/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* go.h - the treaty between src/unwinders/go/ and bpf/lang/go.bpf.c: rules of Go's functions that move
 * to another stack, and what a file's table says of its runtime. Go 1.17 to 1.27. */
#pragma once
#include "bpf/walk/unwind.h"

/* Kinds of rules in Go's code, beside those of unwind.h. */
enum go_rule {
	RULE_GOBUF = RULE_OWN, /* on g0, called from where the goroutine was left, its g.sched. g is
	                 * at the thread pointer + s16 in bits 32-47, m.curg at bits 48-63; an fp
	                 * slot is gobuf.bp's offset in g: all is there, also the pc (arm64: and LR).
	                 * Without, RA is at gobuf.sp (arm64: fp below it, the frame is of 16 bytes). Thread
	                 * pointer offset 0: g is in x28 */
	RULE_CGOCALL,   /* on g0 for C; g lies at sp + bits 32-47, and the old sp's distance
	                 * from g.stack.hi (g 0: it itself) at sp + bits 48-63. RA is at old sp; with
	                 * RULE_RA_SLOT fp is at the slot from there, RA behind it */
	RULE_GO,        /* arm64, Go 1.21 on: the frame record lies below sp, at fp == sp - 8. In a
	                 * frame that runs LR decides: one row is a function, neighbours differ in
	                 * RULE_ALTERNATE. The offset is what the function's body has on the stack */
};
#define RULE_GOBUF_BP(rule)   ((rule) >> 16 & 0xffff)
#define RULE_GOBUF_TLS(rule)  RULE_BEFORE(rule)
#define RULE_GOBUF_CURG(rule) ((rule) >> 48)
#define RULE_CGOCALL_G(rule)  ((rule) >> 32 & 0xffff)
#define RULE_CGOCALL_SP(rule) ((rule) >> 48)
_Static_assert(RULE_GO < 16, "4 bits of a rule");

/* struct table_header's own[]: where the number of a goroutine is. */
struct go_table {
	__s32 tls;        /* of the thread's g, from the thread pointer; 0: not known; arm64: in Go's
	                   * code g is in x28 */
	__u16 curg, goid; /* in struct m, in struct g; 0: not known */
};
ABI_SIZE(go_table, 8);
