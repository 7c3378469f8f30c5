// SPDX-License-Identifier: Apache-2.0
/* wasm.c - names functions of WebAssembly from any memory: the input is mapped at BASE, and begins with the address of
 * the code, the instance, and the index for a name section, which is the whole input as well. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "unwinders/v8/v8.h"
#include "unwinders/v8/wasm.h"

#define BASE      0x100000ULL
#define READS_MAX 2000000
#define LENGTH_MAX (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size, reads;
};

static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct memory *m = arg;

	if (m->reads++ > READS_MAX)
		abort();
	if (addr < BASE || addr - BASE > m->size || size > m->size - (addr - BASE))
		return -1;
	memcpy(buf, m->data + (addr - BASE), size);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct v8_layout layout = {.version = V8_VERSION(14, 6), .proc.map_type = 12, .script_type = 300,
		.script_name = 16, .script_module = 80, .wasm_size = 32, .wasm_index = 56};
	struct memory memory = {data, size, 0};
	struct v8_heap heap = {&layout, read_memory, &memory};
	struct v8_record record = {.head.pid = 1};
	struct str name = {}, url = {};
	uint64_t head[3];
	struct v8_wasm *w;
	const char *text;
	size_t n;

	if (size < sizeof(head))
		return 0;
	memcpy(head, data, sizeof(head));
	record.pc = head[0];
	record.shared = head[1];
	w = v8_wasm_new();
	for (int i = 0; w && i < 2; i++) /* the second time, it is known */
		if (v8_wasm_name(w, &heap, &record, &name, &url) && (!name.len || name.len > LENGTH_MAX))
			abort();
	v8_wasm_free(w);
	text = wasm_function_name(data, size, (uint32_t)head[2], &n);
	if (text && (!n || (const uint8_t *)text < data || n > size - (size_t)((const uint8_t *)text - data)))
		abort();
	str_done(&name);
	str_done(&url);
	return 0;
}
