// SPDX-License-Identifier: Apache-2.0
/* maps.h - the script's maps: read, printed, cleared. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bpf_object;
struct image_map;
struct show;
struct str;

struct map_print {
	int64_t top; /* at most so many, the largest; 0: all */
	int64_t div; /* values are divided; 0: by 1 */
	bool unset;  /* a scalar that was never set, too */
	bool shares; /* of a map of stacks: what each is of the total; for a person */
};

/* A key whose stacks are another key's by the mode that they are shown in. */
struct map_alike {
	struct map_alike *next;
	uint8_t key[];
};

struct map_entry {
	uint8_t *key;
	uint8_t *value;          /* of all CPUs, and of all alike */
	struct map_alike *alike; /* NULL: none but key */
};

/* Prints one map in bpftrace's order: ascending by value, equal ones by key. How many
 * elements it had, or -errno. */
int map_print(const struct show *s, struct bpf_object *obj, const struct image_map *m,
	const struct map_print *how, FILE *out);
/* Whether it is printed as a flame graph's input: a line a stack, and nothing else. */
bool map_is_folded(const struct image_map *m);
/* Each stack's id that is in a key or a value. */
void map_each_stack(struct bpf_object *obj, const struct image_map *m,
	void (*f)(void *arg, uint64_t id), void *arg);
int map_clear(struct bpf_object *obj, const struct image_map *m);
int map_zero(struct bpf_object *obj, const struct image_map *m);

/* output/text.c: an entry as it is printed, with its "\n". share: of the total, in percent, or
 * negative: not shown. */
void show_entry(const struct show *s, const struct image_map *m, const struct map_entry *e,
	const struct map_print *how, double share, struct str *out);
/* All stacks of an entry's key as one list: a kernel's is called from the user's. To be
 * frames_done(). */
struct frame_list;
void show_entry_frames(const struct show *s, const struct image_map *m, const struct map_entry *e,
	struct frame_list *ret);
