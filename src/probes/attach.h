// SPDX-License-Identifier: Apache-2.0
/* attach.h - what a provider's attach() is given. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "model/image.h"
#include "model/provider.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct perf_event_attr;
struct target;
struct ticks;

/* Owns the links: they are destroyed together. */
struct links {
	VEC(struct bpf_link *) list;
	unsigned skipped; /* places the kernel refused, reported by their providers */
	pid_t detaching;  /* the process that detaches; 0: none */
};
/* Detaching hundreds of probes takes the kernel up to minutes (tracepoints: 70 ms each): a
 * process that is forked for it closes them last. The programs still run until then. */
void links_detach(struct links *l);
/* Detaches, and waits at most 100 ms for it. */
void links_done(struct links *l);

struct loaded_probe {
	const struct image *image;
	const struct image_prog *prog;
	struct bpf_program *bpf;
	struct target *target;
	int pid; /* only this process, where the kernel can say so; or 0 */
	struct links *links;
	struct bpf_object *obj; /* the image's */
	struct ticks *ticks;    /* NULL: nobody looks after them */
};

/* The i-th place of the probe, and its attach cookie. */
const struct place *probe_place(const struct loaded_probe *p, uint32_t i);
uint64_t probe_cookie(const struct loaded_probe *p, uint32_t i);

/* Keeps the link; r: what libbpf returned (NULL: errno). 0 or -errno, reported. */
int probe_link(struct loaded_probe *p, const struct place *place, struct bpf_link *link);

/* Whether one link attaches the program to all of its places. */
bool probe_is_multi(struct target *t, const struct image *img, const struct image_prog *prog);
/* Whether the kernel runs the program attached last first. */
bool probe_is_newest_first(struct target *t, const struct image *img, const struct image_prog *prog);
/* Links n places from the one numbered `from` by link(batch, from, n). A place that the
 * kernel cannot probe refuses the whole link, so a refused range is halved until the
 * culprits are found; they are skipped and counted. 0 or -errno, reported. */
int probe_link_halved(struct loaded_probe *p, const struct place *const *places,
	struct bpf_link *(*link)(const void *batch, size_t from, size_t n), const void *batch,
	size_t from, size_t n);

/* A perf event on one CPU (or -1) with the program on its overflow. */
int probe_perf_event(struct loaded_probe *p, const struct place *place,
	struct perf_event_attr *attr, int cpu, uint64_t cookie);

/* A clock on one CPU, of that period, whose ticks come even where the kernel loses them: of a provider that
 * counts_runs. 0 or -errno, reported. */
int probe_timer(struct loaded_probe *p, uint32_t i, int cpu, uint64_t period_ns);

/* Online CPUs' numbers, ends with -1. */
const int *online_cpus(void);
