// SPDX-License-Identifier: Apache-2.0
/* losses.h - losses counted in the maps `lost` and `lost_at`, and events that the kernel did not give to programs. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct image_object;
struct out;
struct shared;

/* Returns the number of events, updates of maps and stacks lost so far. */
uint64_t losses_total(const struct shared *shared);
/* Returns the number of events so far; 0 if the images do not count them. */
uint64_t losses_events(const struct shared *shared);
/* At the end, gives the output an event for each kind of loss; that of the script's events has the number for
 * each probe and CPU. Also reports events that the n objects' programs did not get because their CPU was inside
 * another program, or changed a map: the kernel counts these for tracepoints and kprobes since Linux 6.7. */
void losses_report(struct out *o, const struct shared *shared, struct image_object *const *objects, size_t n);
