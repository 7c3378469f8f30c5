// SPDX-License-Identifier: Apache-2.0
/* rustname.c - demangles any text as a name of Rust. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "target/rust_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);
	struct str out = {};

	memcpy(name, data, size);
	name[size] = '\0';
	str_add(&out, "x");
	if (rust_name(name, &out) ? out.len > 65536 : out.len != 1 || strcmp(out.data, "x") != 0)
		abort();
	rust_old_name(name);
	str_done(&out);
	free(name);
	return 0;
}
