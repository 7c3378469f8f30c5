/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* beampid.h - the identifier of an Erlang process as text: codegen's stack.c, bpf/lang/beam.bpf.c and lib.bpf.c. */
#pragma once
#include "types.h"

/* A process as an integer; 0: none. number: below 1 << 28. */
#define BEAM_PID_SET (1U << 31)
#define BEAM_PID(number, serial) ((__u64)(serial) << 32 | BEAM_PID_SET | (__u32)(number))

#define BEAM_PID_TEXT 32 /* bytes; <0.268435455.4294967295> has 24 */
struct beam_pid_text {
	__u64 id; /* BEAM_PID(), or 0 */
	char text[BEAM_PID_TEXT]; /* zeros, which the text replaces */
};
ABI_SIZE(beam_pid_text, 8 + BEAM_PID_TEXT);
