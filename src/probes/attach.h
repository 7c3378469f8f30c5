// SPDX-License-Identifier: Apache-2.0
/* attach.h - the arguments of a provider's attach(). */
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
	unsigned skipped; /* number of places that the kernel refused, reported by their providers */
	pid_t detaching;  /* the process that detaches; 0: none */
	uint64_t detached_by; /* links_done() waits until then (CLOCK_MONOTONIC, ns) */
};
/* The kernel needs up to minutes to detach hundreds of probes (tracepoints: 70 ms each): a process that is
 * forked for that closes them last. The programs still run until then. */
void links_detach(struct links *l);
/* Detaches, and waits until at most 20 ms after the beginning. */
void links_done(struct links *l);

struct loaded_probe {
	const struct image *image;
	const struct image_prog *prog;
	struct bpf_program *bpf;
	struct target *target;
	int pid; /* only this process, if the kernel supports that; or 0 */
	struct links *links;
	struct bpf_object *obj; /* the image's */
	struct ticks *ticks;    /* NULL: lost ticks are not replaced */
};

/* Returns the i-th place of the probe, and its attach cookie. */
const struct place *probe_place(const struct loaded_probe *p, uint32_t i);
uint64_t probe_cookie(const struct loaded_probe *p, uint32_t i);

/* Keeps the link; link: libbpf's result (NULL: errno). Returns 0 on success, -errno on failure, which it reports. */
int probe_link(struct loaded_probe *p, const struct place *place, struct bpf_link *link);

/* Returns whether one link attaches the program to all of its places. */
bool probe_is_multi(struct target *t, const struct image *img, const struct image_prog *prog);
/* Returns whether the kernel first runs the program that was attached last. */
bool probe_is_newest_first(struct target *t, const struct image *img, const struct image_prog *prog);
/* Links n places from the one numbered `from` by link(batch, from, n). A place that the kernel cannot probe
 * makes it refuse the whole link, so a refused range is halved until the bad places are found; they are
 * skipped and counted. Returns 0 on success, -errno on failure, which it reports. */
int probe_link_halved(struct loaded_probe *p, const struct place *const *places,
	struct bpf_link *(*link)(const void *batch, size_t from, size_t n), const void *batch,
	size_t from, size_t n);

/* Opens a perf event on one CPU (or -1) with the program on its overflow. */
int probe_perf_event(struct loaded_probe *p, const struct place *place,
	struct perf_event_attr *attr, int cpu, uint64_t cookie);

/* Opens a clock with this period on one CPU, whose ticks come even if the kernel loses them: for a provider
 * that counts_runs. Returns 0 on success, -errno on failure, which it reports. */
int probe_timer(struct loaded_probe *p, uint32_t i, int cpu, uint64_t period_ns);

/* Returns the numbers of online CPUs, ended by -1. */
const int *online_cpus(void);
