/* SPDX-License-Identifier: Apache-2.0 */
/* trials.h - runs a script's test: and bench: probes, one after another, and reports how they went. */
#pragma once

struct image_object;
struct session;

/* drain: reads what a program has printed. 0, or -errno after a message; s->code says whether a test failed. */
int trials_run(struct session *s, struct image_object *o, void (*drain)(void *arg));
