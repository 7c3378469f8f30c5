// SPDX-License-Identifier: Apache-2.0
/* why.h - explains errors of the kernel to a user. */
#pragma once

/* Returns the reason for -errno in words, as part of a sentence. */
const char *why_errno(int r);
/* Returns the reason why a file could not be created or written. */
const char *why_write(int r);
/* Prints a hint if the user can do something about the error. */
void why_hint(int r);
/* Prints the one message for a system without usable BPF, with the missing part and how to get it. */
void why_no_bpf(int r);
