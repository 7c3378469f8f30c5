// SPDX-License-Identifier: Apache-2.0
/* image_object.h - an image in the kernel: its maps are made or found, its programs verified,
 * attached, run, stopped. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"
#include "model/provider.h"
#include "probes/attach.h"
#include "records.h"

struct bpf_object;
struct out;
struct shared;
struct target;
struct ticks;
struct walk_maps;
struct walkers;

/* What loading needs, the same for all images of a session. */
struct load_env {
	struct target *target;
	struct shared *shared;
	struct walkers *walkers;
	int pid;                  /* -p; 0: none.. */
	int only_pid;             /* ..see who_prepare() */
	struct ticks *ticks;      /* see attach.h */
	uint64_t ring_pages;      /* of the ring buffer; 0: by what the first image sends */
	struct walk_maps *maps; /* out: made with the first image that has the unwinder; owned by
				   * whoever takes it. Writes from the start */
};

struct image_object {
	const struct image *img;
	struct bpf_object *obj;   /* NULL: it was dropped, or not loaded */
	struct links links;
	struct record_env env;
	const struct record_row **rows; /* by record */
	uint64_t *missed;         /* by program: events that the kernel kept from it until it was stopped; owned;
				   * NULL: it was not stopped */
	pthread_t thread;         /* verifies, which takes long */
	struct walkers *walkers;
	bool is_under_way;
	atomic_bool is_over;      /* the thread's work */
	int result;
};

/* 0 or -errno, reported in the script's terms. After it image_object_wait() must be called, before obj
 * is used, or image_object_done(). */
int image_object_start(struct image_object *o, const struct image *img, struct load_env *env);
/* Its maps are in env->shared then. 0 or -errno, reported in the script's terms. */
int image_object_wait(struct image_object *o, struct load_env *env);

/* The descriptor of its n-th program; it stays the object's. */
int image_object_program(const struct image_object *o, unsigned n);
/* Its begin, end or self probes: the kernel runs them here and now. config: of their place. done is called
 * after each. */
int image_object_run(struct image_object *o, enum provider_run when, uint64_t config, void (*done)(void *arg),
	void *arg);
/* Reads its iterators to their ends. done is called from time to time; false: no more is wanted. 0 or
 * -errno, reported. */
int image_object_iterate(const struct image_object *o, bool (*done)(void *arg), void *arg);
/* The signals that its self probes wait for: bits 1 << number. */
uint64_t image_signals(const struct image *img);
/* Of begin and end alone there is nothing to wait for. */
bool image_object_has_probes(const struct image_object *o);
/* Probes, counted in *ret_places; until a signal comes. 0 or -errno, reported. */
int image_object_attach(struct image_object *o, const struct load_env *env, unsigned *ret_places);
/* Those of begin and end, which are attached nowhere. */
unsigned image_object_begin_places(const struct image_object *o);
/* Programs that begin from now on do nothing, and those that had begun have ended. */
void image_object_stop(struct image_object *o);
/* Adds what its programs have cost. */
void image_object_cost(const struct image_object *o, uint64_t *ns, uint64_t *runs);
/* Detaches and frees; img stays. */
void image_object_done(struct image_object *o);
