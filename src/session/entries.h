/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - programs that walk user stacks, with only the languages that processes have.
 *
 * The verifier's time for a walk is that of its languages. So the kernel attaches an entry, a program which calls the
 * walking one through an array (bpf/walk/entry.bpf.c), and the walking program is loaded without the languages that no
 * process has mapped. When a process maps another one, a thread loads the program once more, with that language, and
 * puts it into the array. Until then the walk hands stacks with that language over to userspace, or marks them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct bpf_program;
struct entries;
struct image;
struct load_env;
struct unwinders;

/* Returns whether all programs of the image that walk stacks can have entries. */
bool entries_suit(const struct image *img);
/* Opens the entries of the image, whose object is opened and not loaded: it will not load the programs that walk, nor
 * make the maps of languages. Returns 0 on success, -errno on failure. */
int entries_open(struct entries **ret, const struct image *img, struct bpf_object *obj, const struct load_env *env);
void entries_free(struct entries *e);

/* Adds languages (1 << enum frame_lang) with which the programs that walk are loaded. */
void entries_expect(struct entries *e, uint32_t languages);

/* Reads the programs that walk from the ELF file, while the image's object is loaded: it takes a millisecond. */
void entries_open_next(struct entries *e, const struct unwinders *u);
/* Starts loading the programs that walk, if the unwinders have seen a language which those that are loaded do not have,
 * or none are loaded. Returns 1 if it started, 0 if there is nothing to do or loading is under way, -errno on
 * failure. */
int entries_grow(struct entries *e, struct unwinders *u);
/* Returns whether loading is not under way. */
bool entries_are_still(const struct entries *e);
/* Waits for the programs that are under way. From then on the entries call them. Returns 0 on success, -errno on
 * failure. */
int entries_take(struct entries *e);
/* Returns a descriptor that is readable when programs can be taken. */
int entries_fd(const struct entries *e);

/* Returns the program that is attached in the place of the one with that name, or NULL if that one has no entry. */
struct bpf_program *entries_program(const struct entries *e, const char *name);
