// SPDX-License-Identifier: Apache-2.0
/* follow.h - what the machine's processes do, from the kernel's side band: new
 * executable mappings, fork, exec, exit (perf's software dummy event, one a CPU). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct follow;
struct unwinders;

/* pid: only this process and what it forks; 0: all. 0 or -errno, reported. */
int follow_open(struct unwinders *u, int pid, struct follow **ret);
void follow_close(struct follow *f);
/* To be polled: events have come, or it is time to read them. */
int follow_fd(const struct follow *f);
/* All was read: sets when follow_fd() is ready again. Events that come in quick succession are read together:
 * most processes of a build are over by then. */
void follow_rest(struct follow *f);
/* What has happened is kept in memory, so that the kernel's buffers do not overflow; nothing is handed on. */
void follow_gather(struct follow *f);
/* Hands what has happened until then (CLOCK_MONOTONIC ns) to the unwinders, in the order
 * of time. FOLLOW_NOW: all. */
#define FOLLOW_NOW UINT64_MAX
void follow_drain(struct follow *f, uint64_t until);
