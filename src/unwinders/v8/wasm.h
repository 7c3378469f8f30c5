// SPDX-License-Identifier: Apache-2.0
/* wasm.h - functions of WebAssembly that V8 has compiled, by the addresses of their code. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str;
struct v8_heap;
struct v8_record;
struct v8_wasm;

/* Returns NULL if there is no memory. */
struct v8_wasm *v8_wasm_new(void);
void v8_wasm_free(struct v8_wasm *w);
/* Appends the name of the function whose code has the record's pc, and the URL of its module, which may be "". Returns
 * false if the function is not found. */
bool v8_wasm_name(struct v8_wasm *w, const struct v8_heap *h, const struct v8_record *r, struct str *name,
	struct str *url);

/* Finds the name of a function in the contents of a module's name section. The name is part of the section, and not
 * terminated. Returns NULL if it has no name. */
const char *wasm_function_name(const uint8_t *section, size_t size, uint32_t index, size_t *ret_len);
