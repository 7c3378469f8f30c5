// SPDX-License-Identifier: Apache-2.0
/* search.c - search trees that Debian 13's libelf.a (elfutils 0.192) uses but lacks: lib/eu-search.c
 * of elfutils. A tree begins with its root. The lock after it is not used: only one thread at a time
 * calls libelf here. */
#include <search.h>
#include <stddef.h>

struct tree {
	void *root;
};

void *eu_tsearch(const void *key, struct tree *t, int (*compare)(const void *, const void *));
void *eu_tfind(const void *key, struct tree *t, int (*compare)(const void *, const void *));
void *eu_tdelete(const void *key, struct tree *t, int (*compare)(const void *, const void *));
void eu_search_tree_init(struct tree *t);
void eu_search_tree_fini(struct tree *t, void (*free_node)(void *));

void *eu_tsearch(const void *key, struct tree *t, int (*compare)(const void *, const void *))
{
	return tsearch(key, &t->root, compare);
}

void *eu_tfind(const void *key, struct tree *t, int (*compare)(const void *, const void *))
{
	return tfind(key, &t->root, compare);
}

void *eu_tdelete(const void *key, struct tree *t, int (*compare)(const void *, const void *))
{
	return tdelete(key, &t->root, compare);
}

void eu_search_tree_init(struct tree *t)
{
	t->root = NULL;
}

void eu_search_tree_fini(struct tree *t, void (*free_node)(void *))
{
	tdestroy(t->root, free_node);
}
