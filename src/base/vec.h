// SPDX-License-Identifier: Apache-2.0
/* vec.h - an array that grows: `struct { T *data; size_t len, cap; } v = {}`. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

#define VEC(T)                                                                           \
	struct {                                                                         \
		T *data;                                                                 \
		size_t len, cap;                                                         \
	}

/* Makes room for one more element; running out of memory ends the program. */
static inline void *vec_grow(void *data, size_t *cap, size_t len, size_t size)
{
	if (len < *cap)
		return data;
	*cap = *cap ? *cap * 2 : 8;
	data = reallocarray(data, *cap, size);
	if (!data)
		out_of_memory();
	return data;
}

/* Makes room for n elements in all, of an empty array. */
static inline void *vec_room(size_t *cap, size_t n, size_t size)
{
	void *data = reallocarray(NULL, n, size);

	if (!data)
		out_of_memory();
	*cap = n;
	return data;
}

#define vec_reserve(v, n) ((v)->data = vec_room(&(v)->cap, (n), sizeof(*(v)->data)))

#define vec_push(v, ...)                                                                 \
	do {                                                                             \
		(v)->data = vec_grow((v)->data, &(v)->cap, (v)->len, sizeof(*(v)->data)); \
		(v)->data[(v)->len++] = (__VA_ARGS__);                                   \
	} while (0)

/* Frees the room that is not used. */
static inline void *vec_shrink(void *data, size_t *cap, size_t len, size_t size)
{
	void *less = len ? reallocarray(data, len, size) : NULL;

	*cap = less ? len : *cap;
	return less ? less : data;
}

#define vec_fit(v) ((v)->data = vec_shrink((v)->data, &(v)->cap, (v)->len, sizeof(*(v)->data)))

#define vec_done(v)                                                                      \
	do {                                                                             \
		free((v)->data);                                                         \
		(v)->data = NULL;                                                        \
		(v)->len = (v)->cap = 0;                                                 \
	} while (0)
