// SPDX-License-Identifier: Apache-2.0
/* who.h - whose events the programs look at: userspace's half of bpf/lib/who.bpf.c. */
#pragma once

struct bpf_object;
struct target;

/* Before the object is loaded. only_pid: -p's process; 0: all but strata itself. */
void who_prepare(struct target *t, struct bpf_object *obj, int only_pid);
/* Programs that begin from now on do nothing, and those that had begun have ended. */
void who_stop(struct bpf_object *obj);
