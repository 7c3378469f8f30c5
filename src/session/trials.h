/* SPDX-License-Identifier: Apache-2.0 */
/* trials.h - runs a script's test: and bench: probes, one after another, and reports their results. */
#pragma once

struct image_object;
struct session;

/* drain: reads the output of a program. Returns 0, or -errno after a message; s->code is 1 if a test failed. */
int trials_run(struct session *s, struct image_object *o, void (*drain)(void *arg));
