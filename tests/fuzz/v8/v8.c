// SPDX-License-Identifier: Apache-2.0
/* v8.c - reads any bytes as the memory of a process: functions, scripts, positions and compiled
 * code of a V8 with false data, or whose memory changed while it was read. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/unwinders.h"
#include "unwinders/v8/v8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Any address maps to a position in the bytes; the last few are not readable. */
static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct memory *m = arg;

	if (!m->size || size > m->size)
		return -EFAULT;
	addr %= m->size;
	if (size > m->size - addr)
		return -EFAULT;
	memcpy(buf, m->data + addr, size);
	return 0;
}

/* The layout of node 20, but with small numbers as types: random bytes match such an object sooner. */
static struct v8_layout layout(unsigned version, const uint8_t *sizes)
{
	return (struct v8_layout){
		.proc = { .map_type = 12, .shared_type = 0x81, .bytecode_type = 0x82, .bytecode_first = 54 },
		.version = version,
		.shared_data = 8, .shared_name = 16, .shared_script = 32,
		.script_source = 8, .script_name = 16, .script_line_ends = 56, .script_line_offset = 24,
		.script_column_offset = 32,
		.first_vars = version < V8_VERSION(12, 8) ? 3 : 5,
		.bytecode_positions = 32, .inferred_name = 8, .start_position = 16,
		.scope_type = 0x83, .script_type = 0x84, .uncompiled_first = 0x85, .uncompiled_last = 0x86,
		.code_type = 0x87, .stream_type = version < V8_VERSION(11, 0) ? 0x87 : 0x88,
		.code_deopt = 16, .code_positions = 24, .code_start = version < V8_VERSION(11, 0) ? 0 : 40,
		.code_flags = 48, .code_size = 56, .stream_first = 16, .kind_baseline = 11,
		.deopt_literals = 2, .deopt_inlined = 7, .deopt_first = 11,
		.bytecode_sizes = sizes, .bytecodes = 200,
	};
}

/* The bytes as deoptimization translations of each form, at offset 0 and at an offset that they give. */
static void translate(const uint8_t *data, size_t size)
{
	static const unsigned versions[] = { V8_VERSION(7, 8), V8_VERSION(9, 4), V8_VERSION(11, 3),
		V8_VERSION(12, 4), V8_VERSION(13, 6) };
	struct v8_virtual frames[64];

	for (size_t i = 0; size && i < sizeof(versions) / sizeof(versions[0]); i++) {
		size_t n = v8_translation_frames(versions[i], data, size, 0, frames, 64);

		if (n > 64 || v8_translation_frames(versions[i], data, size, data[size - 1], frames, 1) > 1)
			abort();
		while (n--)
			if (frames[n].offset < -1 && frames[n].function != -1)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned versions[] = { V8_VERSION(8, 4), V8_VERSION(11, 3), V8_VERSION(14, 6) };
	struct memory m = { data, size };
	uint8_t sizes[3 * 256];
	struct frame_name name;

	translate(data, size);
	memset(sizes, 2, sizeof(sizes));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct v8_layout at = layout(versions[i], sizes);
		struct v8_heap heap = { &at, read_memory, &m };
		struct v8_codes *c = v8_codes_new();
		struct v8_record r = { .frame = FRAME_JS(1, 7), .head.pid = 1 };

		if (size >= 4) {
			r.shared = ((data[0] | data[1] << 8) & ~3u) | 1;
			r.bytecode = ((data[2] | data[3] << 8) & ~3u) | 1;
		}
		v8_codes_record(c, &r, &heap);
		r.frame = FRAME_JS(2, 0);
		r.compiled = 1;
		r.pc = 8192 + (size ? data[size / 2] : 0);
		v8_codes_record(c, &r, &heap);
		for (uint64_t id = 1; id < 3; id++)
			if (v8_codes_name(c, FRAME_JS(id, id == 1 ? 7 : 0), &name) && !name.name)
				abort();
		v8_codes_free(c);
	}
	return 0;
}
