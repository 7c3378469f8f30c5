// SPDX-License-Identifier: Apache-2.0
/* why.h - what the kernel's refusals mean to a user. */
#pragma once

/* The reason for -errno in words, as part of a sentence. */
const char *why_errno(int r);
/* The same of a file that could not be made or written. */
const char *why_write(int r);
/* Prints a hint where there is something to do about it. */
void why_hint(int r);
/* The one message when BPF cannot be used at all: what is missing and how to get it. */
void why_no_bpf(int r);
