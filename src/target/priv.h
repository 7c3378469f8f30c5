// SPDX-License-Identifier: Apache-2.0
/* priv.h - what the files of src/target share. */
#pragma once
#include "base/arena.h"
#include "target/target.h"

struct kfuncs;
struct ksyms;

struct target {
	struct arena *arena;
	char *root;      /* real path, "" for "/" */
	int root_fd;
	int cache_fd;    /* -1: unknown so far; else an fd or -errno - 1 */
	char *ld_cache;  /* the text of ld.so.cache, "" when there is none; NULL: not read yet */
	size_t ld_cache_size;
	const char *tracefs; /* NULL: not looked for yet */
	int no_tracefs;      /* why there is none: -errno */
	struct pid_ns pid_ns;
	bool pid_ns_asked;
	struct ksyms *ksyms;
	struct kfuncs *functions, *traceable; /* once read */
	bool no_traceable;
	struct btf *btf; /* parsed when something is not in the cache */
	bool no_btf;
	struct btf_cache *btf_cache;
	struct module_btf *modules;
	struct container_name *containers; /* those that were asked for */
	unsigned kernel_version; /* 6 << 16 | 6 << 8; 0: not asked yet */
	uint32_t features;       /* bits of enum feature, once asked.. */
	uint32_t asked, disabled;
};

struct strings { /* a NULL-terminated list being made */
	char **list;
	size_t len, cap;
};
/* Adds the names of a directory that match and are of a kind (DT_DIR..), hidden ones left out. */
void target_list(struct target *t, const char *dir, unsigned char kind, const char *pattern,
	struct strings *found);
void strings_add(struct target *t, struct strings *s, const char *text);
bool strings_have(const struct strings *s, const char *text);
void strings_sort(struct strings *s);
/* A copy of the list in the target's arena; s is empty afterwards. */
const char *const *strings_done(struct target *t, struct strings *s);

bool target_is_live(const struct target *t); /* root is "/" */
/* Opens a path within the root, which no symbolic link leads out of. An fd or -errno. */
int target_openat(const struct target *t, const char *path, int flags);
/* The path with all links resolved, within the target; NULL when not there. */
const char *target_realpath(struct target *t, const char *path);
/* A whole file, NUL-terminated, at most max bytes; NULL and errno. free() it. */
char *target_read(const struct target *t, const char *path, size_t max, size_t *ret_size);
char *read_fd(int fd, size_t max, size_t *ret_size);

void ksyms_free(struct ksyms *k);
void kfuncs_free(struct kfuncs *k);
void btf_done(struct target *t);
