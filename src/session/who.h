// SPDX-License-Identifier: Apache-2.0
/* who.h - the processes whose events the programs handle: userspace's half of bpf/lib/who.bpf.c. */
#pragma once

struct bpf_object;
struct target;

/* Call it before the object is loaded. only_pid: -p's process; 0: all except strata itself. */
void who_prepare(struct target *t, struct bpf_object *obj, int only_pid);
/* From now on programs do nothing, and all that were running have ended. */
void who_stop(struct bpf_object *obj);
