/* SPDX-License-Identifier: Apache-2.0 */
/* script_maps.h - the sizes of a script's maps, and large ones, which take the kernel as long as the verifier. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct image;
struct large_maps;
struct load_env;
struct shared;

/* Returns whether the script's maps fit into half of the memory; if not, it reports that. obj: the image's, opened. */
bool script_maps_fit(const struct image *img, struct bpf_object *obj);
/* Sets the sizes of the script's maps before the load. Returns 0 on success, -errno on failure. */
int script_maps_size(const struct image *img, const struct load_env *env, struct bpf_object *obj);

/* Begins to make the ring buffer in a thread, if it is large. ring: bytes; 0: none. Returns NULL if memory is short. */
struct large_maps *large_maps_begin(uint32_t ring);
/* Begins to make the script's large maps in another thread, once their sizes are set. */
void large_maps_add(struct large_maps *l, const struct image *img, struct bpf_object *obj, const struct shared *s);
/* Waits for them, and frees l, which may be NULL. The object, which is not loaded yet, uses them; NULL: they are given
 * back. Returns 0 on success, -errno on failure; if the kernel did not make them, the load will try again. */
int large_maps_use(struct large_maps *l, struct bpf_object *obj);
