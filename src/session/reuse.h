// SPDX-License-Identifier: Apache-2.0
/* reuse.h - loads bpf/walk/reuse.bpf.c: the kernel forgets the mapping of a library that a process has closed when the
 * process maps something else there. */
#pragma once

struct bpf_link;
struct bpf_object;
struct shared;
struct target;

struct reuse { /* zero it first */
	struct bpf_object *obj;
	struct bpf_link *link;
};

/* Does nothing if the session has no published mappings, or if it was called before. Without the tracepoint, stacks are
 * named by mappings that are up to 0.1 s old. */
void reuse_open(struct reuse *r, struct target *t, const struct shared *shared);
void reuse_close(struct reuse *r);
