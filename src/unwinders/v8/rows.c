// SPDX-License-Identifier: Apache-2.0
/* rows.c - differences between versions of V8 that no constant in the file shows.
 *
 * The objects that are read, from a frame to a line:
 *
 *     frame          fp-8 context | fp-16 JSFunction | .. BytecodeArray, offset in it
 *     JSFunction     -> SharedFunctionInfo -> name, or ScopeInfo, which has it
 *                                          -> Script -> name, source, line ends, source map's URL
 *                                          -> function data: BytecodeArray, a builtin's number, or
 *                                             UncompiledData (inferred name, start)
 *     BytecodeArray  -> table of positions: offset in the bytecode -> position in the source
 *     compiled code  InstructionStream -> Code -> kind, table of positions, deoptimisation data,
 *                    safepoint table: pc -> inlined functions and their places
 *
 *     node   V8      differences, in addition to offsets that its constants give
 *     12     7.8     one kind of optimised code; a frame has no argument count
 *     14     8.4     positions count from -1
 *     15     8.6     a Code's kind has four bits
 *     16     9.4     kinds of code; ScopeInfo is not a FixedArray
 *     18     10.2    safepoint tables are packed
 *     20     11.3    code is outside of its Code (InstructionStream); Maglev
 *     21     11.8    relocation data is stored with code
 *     22     12.4    Code and BytecodeArray are trusted objects; SharedFunctionInfo has an id
 *     23     12.9    operations of translations (deopt.c); a WasmCode's index
 *     24     13.6    dispatch handles; a safepoint table begins with the frame's slots; WasmCode
 *     26     14.6    positions with two bits for their kind
 *
 * From V8's sources at the tags of those nodes (7.8.279, 8.4.371, 8.6.395, 9.4.146, 10.2.154, 11.3.244,
 * 11.8.172, 12.4.254, 13.6.233, 14.6.202; a row between them begins with the version in which upstream
 * changed it): src/execution/frame-constants.h and src/execution/arm64/frame-constants-arm64.h (frames),
 * src/objects/shared-function-info.tq, script.tq, scope-info.tq, code.h, instruction-stream.h,
 * deoptimization-data.h, instance-type.h, src/heap/memory-chunk.h, src/codegen/safepoint-table.h,
 * src/codegen/source-position-table.cc, src/wasm/wasm-code-manager.h (wasm.c). */
#include "base/owner.h"
#include "v8.h"

static const struct v8_row rows[] = {
	{ .since = 0, .bytecode_shift = 8, .function_types = 0, .entry_record = 88, .entry_size = 168,
		.script_map_url = 112, .bytecode_positions = 32, .scope_slots = 16, .code_mask = 0x3e,
		.one_optimised = true, .code_deopt = 16, .code_positions = 24, .code_flags = 44, .code_size = 40,
		.code_is_stream = true, .stream_first = 96, .code_safepoints = 48, .deopt_first = 2,
		.strings = 64, .position_start = 0 },
#define V8_8_0                                                                           \
	.function_types = 0, .entry_record = 88, .entry_size = 168, .script_map_url = 112, \
	.bytecode_positions = 32, .scope_slots = 16, .one_optimised = true, .code_deopt = 16, \
	.code_positions = 24, .code_flags = 44, .code_size = 40,                         \
	.code_is_stream = true, .stream_first = 96, .code_safepoints = 48, .deopt_first = 3, \
	.strings = 64, .position_start = -1
	{ .since = V8_VERSION(8, 0), .bytecode_shift = 8, .code_mask = 0x3e, V8_8_0 },
	{ .since = V8_VERSION(8, 6), .bytecode_shift = 8, .code_mask = 0x1e, V8_8_0 },
	{ .since = V8_VERSION(8, 9), .code_mask = 0x1e, V8_8_0 },
#define V8_9_0                                                                           \
	.function_types = 15, .entry_size = 160, .script_map_url = 112, .bytecode_positions = 32, \
	.code_mask = 15, .code_deopt = 16, .code_positions = 24, .code_flags = 48, .code_size = 40, \
	.code_is_stream = true, .stream_first = 96, .deopt_first = 4, .position_start = -1
	{ .since = V8_VERSION(9, 0), V8_9_0, .scope_slots = 16, .strings = 64 },
	{ .since = V8_VERSION(9, 1), V8_9_0, .scope_slots = 8, .strings = 64 },
	{ .since = V8_VERSION(9, 6), V8_9_0, .scope_slots = 8, .strings = 128 },
	{ .since = V8_VERSION(10, 0), V8_9_0, .scope_slots = 8, .strings = 128, .packed_safepoints = true },
#define V8_WASM_11 .wasm_size = 24, .wasm_index = 44
#define V8_WASM_13 .wasm_size = 32, .wasm_index = 56
#define V8_11_0                                                                          \
	.function_types = 15, .entry_size = 160, .script_map_url = 120, .scope_slots = 8, \
	.code_mask = 15, .deopt_first = 4, .strings = 128, .position_start = -1,         \
	.packed_safepoints = true
#define V8_11_3                                                                          \
	V8_11_0, .bytecode_positions = 32, .code_deopt = 16, .code_positions = 24,       \
	.code_start = 40, .code_flags = 48, .code_size = 56, .stream_first = 16, V8_WASM_11
#define V8_11_4                                                                          \
	V8_11_0, .bytecode_positions = 32, .code_deopt = 8, .code_positions = 16,        \
	.code_start = 32, .code_flags = 40, .code_size = 44, .stream_first = 32, V8_WASM_11
/* A page's flag INCREMENTAL_MARKING: seen in the nodes above, and not taken for granted in other versions. */
#define V8_PAGE_11 .page_flags = 8, .page_marking = 0x20
#define V8_PAGE_12 .page_flags = 0, .page_marking = 0x20
	{ .since = V8_VERSION(11, 0), V8_11_3 },
	{ .since = V8_VERSION(11, 3), V8_11_3, V8_PAGE_11 },
	{ .since = V8_VERSION(11, 4), V8_11_4, V8_PAGE_11 },
	{ .since = V8_VERSION(11, 9), V8_11_4 },
#define V8_12_4                                                                          \
	V8_11_0, .bytecode_positions = 24, .has_unique = true, .code_deopt = 8, .code_positions = 16, \
	.code_start = 40, .code_size = 52, .stream_first = 32
	{ .since = V8_VERSION(12, 4), V8_12_4, .code_flags = 48, V8_WASM_11, V8_PAGE_12 },
	{ .since = V8_VERSION(12, 9), V8_12_4, .code_flags = 48, .wasm_size = 24, .wasm_index = 48, V8_PAGE_12 },
	{ .since = V8_VERSION(13, 0), V8_12_4, .code_flags = 52, .safepoint_skip = 4, V8_WASM_13, V8_PAGE_12 },
#define V8_14_1 V8_12_4, .code_flags = 52, .safepoint_skip = 4, .position_bits = true, V8_WASM_13
	{ .since = V8_VERSION(14, 1), V8_14_1, V8_PAGE_12 },
	{ .since = V8_VERSION(14, 7), V8_14_1 },
};

const struct v8_row *v8_row(uint32_t version)
{
	size_t i = ARRAY_SIZE(rows) - 1;

	while (i && version < rows[i].since)
		i--;
	return &rows[i];
}
