// SPDX-License-Identifier: Apache-2.0
/* priv.h - shared by the files of src/target. */
#pragma once
#include "base/arena.h"
#include "target/target.h"

struct kfuncs;
struct ksyms;

enum { CONTAINER_LISTS = 1024 };

struct target {
	struct arena *arena;
	char *root;      /* real path, "" for "/" */
	int root_fd;
	int cache_fd;    /* -1: not opened yet; else an fd, or -errno - 1 */
	char *ld_cache;  /* the text of ld.so.cache, "" if there is none; NULL before it was read */
	size_t ld_cache_size;
	const char *tracefs; /* NULL before the first search */
	int no_tracefs;      /* -errno: why there is no tracefs */
	struct pid_ns pid_ns;
	bool pid_ns_asked;
	struct ksyms *ksyms;
	struct kfuncs *functions, *traceable; /* NULL before they were read */
	bool no_traceable;
	struct btf *btf; /* parsed at the first question that the cache cannot answer */
	bool no_btf;
	struct btf_cache *btf_cache;
	struct module_btf *modules;
	struct container_name *containers[CONTAINER_LISTS]; /* those whose names were needed, by list_of() */
	unsigned kernel_version; /* 6 << 16 | 6 << 8; 0 before the first use */
	uint32_t features;       /* bits of enum feature, once checked.. */
	uint32_t asked, disabled;
};

struct strings { /* a growing list, which will end with NULL */
	char **list;
	size_t len, cap;
};
/* Adds the names in a directory that match and are of a kind (DT_DIR..), without hidden ones. */
void target_list(struct target *t, const char *dir, unsigned char kind, const char *pattern,
	struct strings *found);
void strings_add(struct target *t, struct strings *s, const char *text);
bool strings_have(const struct strings *s, const char *text);
void strings_sort(struct strings *s);
/* Returns a copy of the list in the target's arena, and empties s. */
const char *const *strings_done(struct target *t, struct strings *s);

bool target_is_live(const struct target *t); /* whether the root is "/" */
/* Opens a path within the root; symbolic links cannot lead out of it. Returns an fd or -errno. */
int target_openat(const struct target *t, const char *path, int flags);
/* Returns the path within the target with all links resolved, or NULL if it does not exist. */
const char *target_realpath(struct target *t, const char *path);
/* Reads a whole file of at most max bytes, and adds a NUL. The caller frees the text. Returns NULL and sets
 * errno on failure. */
char *target_read(const struct target *t, const char *path, size_t max, size_t *ret_size);
char *read_fd(int fd, size_t max, size_t *ret_size);

void ksyms_free(struct ksyms *k);
void kfuncs_free(struct kfuncs *k);
void btf_done(struct target *t);
