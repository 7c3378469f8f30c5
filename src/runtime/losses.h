// SPDX-License-Identifier: Apache-2.0
/* losses.h - what was lost, as the maps `lost` and `lost_at` count it. */
#pragma once

struct out;
struct shared;

/* At the end: an event of the output for each kind of loss; that of the script's events with how many
 * each probe lost on each CPU. */
void losses_report(struct out *o, const struct shared *shared);
