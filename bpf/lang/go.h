/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* go.h - the interface between src/unwinders/go/ and bpf/lang/go.bpf.c: rules of Go's functions that move to
 * another stack, and a table's data about Go's runtime. Go 1.17 to 1.27. */
#pragma once
#include "bpf/walk/unwind.h"

/* Kinds of rules in Go's code, in addition to those of unwind.h. */
enum go_rule {
	RULE_GOBUF = RULE_OWN, /* the function runs on g0, and the goroutine's registers are in g.sched. g is at
	                        * the thread pointer + s16 in bits 32-47, m.curg at bits 48-63. An fp slot is
	                        * gobuf.bp's offset in g: then all registers are there, also the pc (arm64: and
	                        * LR). Without a slot, RA is at gobuf.sp (arm64: fp is below it, and the frame has
	                        * 16 bytes). Thread pointer offset 0: g is in x28 */
	RULE_CGOCALL,   /* the function runs on g0 to call C. g is at sp + bits 32-47, and the old sp's distance
	                 * from g.stack.hi (if g is 0: the old sp itself) at sp + bits 48-63. RA is at the old sp;
	                 * with RULE_RA_SLOT, fp is at the slot from there, and RA after it */
	RULE_GO,        /* arm64, Go 1.21 on: the frame record is below sp, at fp == sp - 8. In a running frame LR
	                 * decides: one row is a function, and neighbours differ in RULE_ALTERNATE. The offset is
	                 * the size of the function's body on the stack */
};
#define RULE_GOBUF_BP(rule)   ((rule) >> 16 & 0xffff)
#define RULE_GOBUF_TLS(rule)  RULE_BEFORE(rule)
#define RULE_GOBUF_CURG(rule) ((rule) >> 48)
#define RULE_CGOCALL_G(rule)  ((rule) >> 32 & 0xffff)
#define RULE_CGOCALL_SP(rule) ((rule) >> 48)
_Static_assert(RULE_GO < 16, "4 bits of a rule");

/* struct table_header's own[]: the offsets that lead to a goroutine's number. */
struct go_table {
	__s32 tls;        /* the thread's g, from the thread pointer; 0: unknown; arm64: in Go's code g is in x28 */
	__u16 curg, goid; /* offsets in struct m and in struct g; 0: unknown */
};
ABI_SIZE(go_table, 8);
