// SPDX-License-Identifier: Apache-2.0
/* arena.h - memory that lives exactly as long as one compilation. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
/* Returns the bytes of its blocks. */
size_t arena_size(const struct arena *a);

/* Returns zeroed memory, aligned to 16 bytes. Never returns NULL: the program ends when memory runs out.
 * Objects are freed together with the arena, not one by one. */
void *arena_alloc(struct arena *a, size_t size);
#define arena_new_obj(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_new_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (n)))

char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);
