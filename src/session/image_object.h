// SPDX-License-Identifier: Apache-2.0
/* image_object.h - an image in the kernel: its maps are made or found, its programs
 * verified, attached, run, stopped. */
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
struct entries;
struct large_maps;
struct out;
struct shared;
struct target;
struct ticks;
struct unwinders;
struct walk_maps;
struct walkers;

/* The environment for loading, the same for all images of a session. */
struct load_env {
	struct target *target;
	struct shared *shared;
	struct walkers *walkers;
	int pid;                  /* -p; 0: none */
	int only_pid;             /* see who_prepare() */
	bool may_enter;           /* programs may be loaded with some languages first: see entries.h */
	struct ticks *ticks;      /* see attach.h */
	uint64_t ring_pages;      /* size of the ring buffer; 0: depends on the first image's records */
	struct walk_maps *maps; /* out: made with the first image that has the unwinder; its taker owns it. It can
	                         * be written from the start */
};

struct image_object {
	const struct image *img;
	struct bpf_object *obj;   /* NULL: dropped, or not loaded */
	struct links links;
	struct record_env env;
	const struct record_row **rows; /* by record */
	uint64_t *missed;         /* by program: events that the kernel did not give it until it was stopped;
	                           * owned; NULL: not stopped */
	pthread_t thread;         /* verifies, which takes long */
	struct walkers *walkers;
	struct entries *entries;  /* of its programs that walk stacks, if these are loaded separately; or NULL */
	struct large_maps *large; /* until the thread takes them */
	bool is_under_way;
	atomic_bool is_over;      /* the thread has finished */
	int result;
};

/* Starts loading. Returns 0 on success, -errno on failure, which it reports in the script's terms. Call
 * image_object_wait() afterwards, before obj is used, or image_object_done(). */
int image_object_start(struct image_object *o, const struct image *img, struct load_env *env);
/* Programs that walk are loaded with these languages, 1 << enum frame_lang, in addition to those of processes that were
 * read. */
void image_object_expect(struct image_object *o, uint32_t languages);
/* Call it when u has read processes: programs that are not under way yet are loaded for the processes' languages.
 * Returns whether some were started. */
bool image_object_load_walks(struct image_object *o, struct unwinders *u);
/* Returns whether the kernel is still verifying. */
bool image_object_is_loading(const struct image_object *o);
/* Waits for the load; then env->shared has the image's maps. u: NULL if the image has no stacks. Returns 0 on
 * success, -errno on failure, which it reports in the script's terms. */
int image_object_wait(struct image_object *o, struct load_env *env, struct unwinders *u);
/* Call it from time to time, and when entries_fd() is readable: stacks have more languages, if processes have. */
void image_object_grow(struct image_object *o, struct unwinders *u);

/* Returns the descriptor of its ring buffer, if the maps are made while programs are still being verified; else -1. */
int image_object_ring(const struct image_object *o);
/* Returns the program to attach for the one with that name, or NULL if there is none. */
struct bpf_program *image_object_attached(const struct image_object *o, const char *name);
/* Returns the descriptor of its n-th program, owned by the object. */
int image_object_program(const struct image_object *o, unsigned n);
/* Runs its begin, end or self probes in the kernel, now. config: of their place. Calls done() after each. */
int image_object_run(struct image_object *o, enum provider_run when, uint64_t config, void (*done)(void *arg),
	void *arg);
/* Reads its iterators to their ends. Calls done() from time to time; it returns false to stop. Returns 0 on
 * success, -errno on failure, which it reports. */
int image_object_iterate(const struct image_object *o, bool (*done)(void *arg), void *arg);
/* Returns the signals of its self probes: bits 1 << number. */
uint64_t image_signals(const struct image *img);
/* Returns whether it has other probes than begin and end, which need no waiting. */
bool image_object_has_probes(const struct image_object *o);
/* Attaches the probes until a signal comes, and counts them in *ret_places. Returns 0 on success,
 * -errno on failure, which it reports. */
int image_object_attach(struct image_object *o, const struct load_env *env, unsigned *ret_places);
/* Returns the number of begin and end probes, which are not attached. */
unsigned image_object_begin_places(const struct image_object *o);
/* From now on its programs do nothing, and all that were running have ended. */
void image_object_stop(struct image_object *o);
/* Adds the time and runs of its programs. */
void image_object_cost(const struct image_object *o, uint64_t *ns, uint64_t *runs);
/* Detaches and frees the object; img stays. */
void image_object_done(struct image_object *o);
