// SPDX-License-Identifier: Apache-2.0
/* follow.h - events of the machine's processes, from the kernel's side band: new executable mappings, fork,
 * exec, exit (perf's software dummy event, one per CPU). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct follow;
struct unwinders;

/* pids: only these processes and their descendants; n is 0: all. Returns 0 on success, -errno on failure, which it
 * reports. */
int follow_open(struct unwinders *u, const int *pids, size_t n, struct follow **ret);
void follow_close(struct follow *f);
/* Returns a descriptor to poll: it is ready if events have arrived, or it is time to read them. */
int follow_fd(const struct follow *f);
/* Call this when all was read: sets when follow_fd() is ready again. Events in quick succession are read
 * together, because most processes of a build end soon. */
void follow_rest(struct follow *f);
/* Reads events into memory, so that the kernel's buffers do not overflow, and passes none on. */
void follow_gather(struct follow *f);
/* Passes the events until then (CLOCK_MONOTONIC ns) to the unwinders, in the order of time. FOLLOW_NOW: all. */
#define FOLLOW_NOW UINT64_MAX
void follow_drain(struct follow *f, uint64_t until);
