/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* match.h - conditions with has_frame() or names of containers: src/codegen/gen_gate.c, src/session/holds.c and
 * bpf/walk/match.bpf.c.
 *
 * Userspace knows the names, and so decides. It writes its verdict about the id of a stack or cgroup to the map
 * `verdicts`, and the kernel decides about the next event with that stack or cgroup. An event without a verdict is
 * held: its records carry the numbers of the conditions on which they depend, and userspace decides. */
#pragma once
#include "bpf/lib/record.h"

/* Map `verdicts`: ARRAY of u64, written by userspace. k = id * VERDICT_MIX is a bijection. The entry of an id is in
 * slot k >> 48 or in the slot next to it, which differs in bit 0:
 *     bits 16-63  the low 48 bits of k
 *     bit  15     bit 48 of k
 *     bit  14     1
 *     bit  13     frames may be missing in the stack: other patterns may match, too
 *     bits 0-12   1 << number of a pattern that matches */
/* A cgroup has the key id | VERDICT_CGROUP, unlike stacks, whose ids have this bit clear. */
#define VERDICT_CGROUP   (1ULL << 63)
#define VERDICT_SLOTS    65536
#define VERDICT_PATTERNS 13
#define VERDICT_PARTIAL  (1ULL << VERDICT_PATTERNS)
#define VERDICT_MIX      0x9e3779b97f4a7c15ULL
#define VERDICT_KNOWN    (VERDICT_PARTIAL << 1)
#define VERDICT_SLOT(k)  ((__u32)((k) >> 48))
#define VERDICT_TAG(k)   ((k) << 16 | ((k) >> 48 & 1) << 15 | VERDICT_KNOWN)
#define VERDICT_BITS     (VERDICT_KNOWN - 1)

#define VERDICT_UNKNOWN  (VERDICT_KNOWN << 1) /* an answer of the kernel half; never in the map */

/* A condition is a truth table: bit i is its value if the has_frame() with number k is bit k of i. */
#define GATE_VARS 6
#define GATE_LEVELS 8 /* nested conditions */
#define HOLD_LEVEL  23 /* not a condition: userspace holds the record, see hold() */
#define GATE_ASKS GATE_LEVELS /* not a level: the event was counted; the record only asks for verdicts */
#define GATE_OPPOSITE 256     /* added to the level: the other branch of an event, which was counted */
struct gate_record {
	struct record head; /* id: the image's record of the condition */
	__u64 table;
	__u32 slot;  /* scratch slot of the event */
	__u32 level; /* from now on records of the slot with this level depend on the condition */
	__u64 ids[GATE_VARS]; /* cgroups, or stacks, which may be provisional; 0: not needed, or no stack */
};
ABI_SIZE(gate_record, 24 + 8 * GATE_VARS);

/* kind of a record of a script: RECORD_SCRIPT, levels of conditions on which it depends, the scratch slot, and whether
 * it is held. */
#define RECORD_KIND(kind)   ((kind) & 0xff)
#define RECORD_LEVELS(kind) ((kind) >> 8 & 0xff)
#define RECORD_SLOT(kind)   ((kind) >> 16 & 0x7fff)
#define RECORD_HELD(kind)   ((kind) >> (HOLD_LEVEL + 8))

/* Map `apply_input`: one element, with the record of an update that userspace lets a program make. */
#define APPLY_INPUT "apply_input"
#define APPLY_PROGRAM "apply_%u"
struct apply_record {
	struct record head;
	__u64 value; /* argument of the aggregation */
	__u64 key[]; /* key of the map */
};
