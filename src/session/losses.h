// SPDX-License-Identifier: Apache-2.0
/* losses.h - what was lost, as the maps `lost` and `lost_at` count it, and what the kernel kept from programs. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct image_object;
struct out;
struct shared;

/* Events, updates of maps and stacks that were lost so far. */
uint64_t losses_total(const struct shared *shared);
/* Events that were counted so far; 0 where the images do not count them. */
uint64_t losses_events(const struct shared *shared);
/* At the end: an event of the output for each kind of loss; that of the script's events with how many
 * each probe lost on each CPU. And what the kernel kept from the programs of the n objects because their CPU
 * was inside another one, or changed a map: of tracepoints and kprobes it counts that since Linux 6.7. */
void losses_report(struct out *o, const struct shared *shared, struct image_object *const *objects, size_t n);
