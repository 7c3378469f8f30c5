// SPDX-License-Identifier: Apache-2.0
/* pyoffsets.c - any bytes as _Py_DebugOffsets: the kernel half can read all offsets that are
 * accepted. The Python version is the one that the bytes state. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/python/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct python_layout *at)
{
	/* WINDOW's FRAME_BYTES and the scratch's code and str of bpf/lang/python.bpf.c */
	if (at->frame_previous > 120 || at->frame_code > 120 || at->frame_instr > 120 ||
		at->frame_boundary > 127 || at->frame_tlbc > 124)
		abort();
	if (at->code_filename > 248 || at->code_name > 248 || at->code_linetable > 248 ||
		at->code_firstlineno > 252 || at->code_size < at->code_linetable + 8)
		abort();
	if (at->cookie + 8 * at->cookie_words > at->code_size + 64)
		abort();
	if (at->str_size > 64 || at->str_state + 4 > at->str_size ||
		at->str_length + 8 > 64 || at->bytes_size + 8 > at->str_size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned versions[] = {0x030c, 0x030d, 0x030e, 0x030f, 0x0314, 0x0400};
	uint8_t *copy = malloc(size ? size : 1); /* exact size: the sanitizer reports reads after it */

	memcpy(copy, data, size);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct python_layout at = {.str_kind_shift = 2};

		if (python_offsets(copy, size, versions[i], &at) >= 0)
			check(&at);
	}
	free(copy);
	return 0;
}
