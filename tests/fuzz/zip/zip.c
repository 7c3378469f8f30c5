// SPDX-License-Identifier: Apache-2.0
/* zip.c - looks for a member in any bytes as a zip archive. */
#include <stdint.h>
#include <stdlib.h>

#include "target/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at, length;

	if (zip_member(data, size, "lib/x.so", &at, &length) == ZIP_STORED &&
		(at > size || length > size - at))
		abort();
	return 0;
}
