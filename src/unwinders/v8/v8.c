// SPDX-License-Identifier: Apache-2.0
/* v8.c - a file's constants about its V8.
 *
 * V8 puts constants for debuggers into every build, v8dbg_*: offsets, instance types, kinds of frames. Other
 * values are in rows.c (src/objects/, tools/gen-postmortem-metadata.py at 7.8.279 to 14.6.202). The builtins,
 * which are compiled ahead and embedded, have no .eh_frame; they keep frame pointers. */
#include "v8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "target/elf.h"
#include "unwinders/lang.h"
#include "unwinders/native/cfi.h"
#include "unwinders/native/ehframe.h"

#define SYMBOLS_MAX 2048
#define PREFIX      "v8dbg_"
#define BYTECODES_MAX 256

/* ---- the builtins ---- */

/* All are found in one pass, because a file has hundreds of thousands of symbols. */
const char *const v8_symbols[] = { PREFIX, "v8_Default_embedded_blob_",
	"_ZN2v88internal7Version6m", "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE",
	"_ZN2v88internal12_GLOBAL__N_112global_epochE",
	"_ZN2v88internal12_GLOBAL__N_115isolate_counterE", NULL };

struct constants {
	struct elf *e;
	struct elf_symbol *sym;
	size_t n;
};

static int constants_open(struct elf *e, struct constants *c)
{
	*c = (struct constants){ e, calloc(SYMBOLS_MAX, sizeof(*c->sym)), 0 };
	if (!c->sym)
		return -ENOMEM;
	c->n = elf_symbols_starting(e, v8_symbols, ARRAY_SIZE(v8_symbols) - 1, c->sym, SYMBOLS_MAX);
	return 0;
}

static const struct elf_symbol *named(const struct constants *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->sym[i].name, name))
			return &c->sym[i];
	return NULL;
}

/* Names in V8 10, 11 and 8 (where one blob holds code and data). */
static bool builtins(const struct constants *c, uint64_t *start, uint32_t *size)
{
	static const char *const names[][2] = {
		{ "v8_Default_embedded_blob_code_data_", "v8_Default_embedded_blob_code_size_" },
		{ "v8_Default_embedded_blob_code_", "v8_Default_embedded_blob_code_size_" },
		{ "v8_Default_embedded_blob_data_", "v8_Default_embedded_blob_size_" },
	};
	const struct elf_symbol *code, *bytes;
	const uint8_t *p;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		code = named(c, names[i][0]);
		bytes = named(c, names[i][1]);
		p = code && bytes ? elf_at(c->e, bytes->vaddr, sizeof(*size)) : NULL;
		if (!p)
			continue;
		memcpy(size, p, sizeof(*size));
		*start = code->vaddr;
		return elf_at(c->e, *start, *size) && *size;
	}
	return false;
}

/* In a stripped file, the builtins are a part that no FDE covers and that is larger than gaps from
 * hand-written code. (1.1 to 2.2 MB; others have some 10 KB.) */
#define GAP_MIN (512u << 10)
#define GAP_MAX (16u << 20)

#define V8_RODATA_MIN (4u << 20)

static bool in_one_segment(const struct elf *e, uint64_t start, uint64_t end)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	for (size_t i = 0; i < n; i++)
		if (s[i].exec && start >= s[i].vaddr && end <= s[i].vaddr + s[i].filesz)
			return true;
	return false;
}

/* Without any call frame information, all code is treated as builtins: it keeps frame pointers, or
 * else nothing could walk it. */
static bool all_code(const struct elf *e, uint64_t *start, uint32_t *size)
{
	struct elf_section s;

	if (!elf_section(e, ".text", &s) || s.size > UINT32_MAX)
		return false;
	*start = s.vaddr;
	*size = (uint32_t)s.size;
	return s.size && in_one_segment(e, s.vaddr, s.vaddr + s.size);
}

static bool builtins_by_gap(struct elf *e, uint64_t *start, uint32_t *size)
{
	struct eh_ranges r;
	uint64_t end = 0;

	*size = 0;
	if (ehframe_ranges(e, &r))
		return false;
	if (!r.len) {
		eh_ranges_done(&r);
		return all_code(e, start, size);
	}
	for (size_t i = 0; i < r.len; i++) {
		uint64_t gap = end && r.data[i].start > end ? r.data[i].start - end : 0;

		if (gap >= GAP_MIN && gap <= GAP_MAX && gap > *size && in_one_segment(e, end, r.data[i].start)) {
			*start = end;
			*size = (uint32_t)gap;
		}
		end = r.data[i].end > end ? r.data[i].end : end;
	}
	eh_ranges_done(&r);
	return *size;
}

static bool find_builtins(const struct constants *c, uint64_t *start, uint32_t *size)
{
	return builtins(c, start, size) || builtins_by_gap(c->e, start, size);
}

/* A stripped file still has the names of builtins, in the order of their numbers. */
static bool has_builtins_names(const struct elf *e)
{
	static const char name[] = "\0InterpreterEntryTrampoline";
	struct elf_section s;

	return elf_section(e, ".rodata", &s) && elf_find(e, &s, name, sizeof(name));
}

/* Node's V8 has constants for debuggers; others, such as Deno's, do not even have symbols. A file with V8
 * has at least several MB. */
static bool has_v8(struct elf *e)
{
	static const char *const names[] = { PREFIX "frametype_EntryFrame", "v8_Default_embedded_blob_size_",
		"v8_Default_embedded_blob_code_size_" };
	struct elf_symbol sym;
	struct elf_section s;
	uint64_t start;
	uint32_t size;

	if (elf_symbols_starting(e, names, ARRAY_SIZE(names), &sym, 1))
		return true;
	return elf_section(e, ".rodata", &s) && s.size >= V8_RODATA_MIN && has_builtins_names(e) &&
		builtins_by_gap(e, &start, &size);
}

int v8_rules(struct elf *e, struct eh_rows *rows)
{
	struct eh_rows of_builtins = {};
	struct constants c;
	uint64_t start;
	uint32_t size;
	bool found;

	if (!has_v8(e) || constants_open(e, &c))
		return -ENOENT;
	found = find_builtins(&c, &start, &size);
	free(c.sym);
	if (!found)
		return -ENOENT;
	if (size > GAP_MAX) { /* all_code() */
		eh_rows_fill(rows, start, start + size, RULE(RULE_LANG, 0, 0, 0, 0));
		return 0;
	}
	v8_builtin_rows(e, start, size, &of_builtins);
	eh_rows_replace(rows, &of_builtins);
	eh_rows_done(&of_builtins);
	return 0;
}

int v8_table(struct elf *e, struct table_header *hdr)
{
	if (!has_v8(e))
		return -ENOENT;
	hdr->flags |= TABLE_LANG(FRAME_LANG_JS);
	return 0;
}

/* ---- the constants ---- */

/* A value that does not fit in 16 bits is not an offset, type or index, and is ignored. */
static bool constant(const struct constants *c, const char *name, int32_t *ret)
{
	const uint8_t *p;
	int32_t v;

	for (size_t i = 0; i < c->n; i++) {
		if (strncmp(c->sym[i].name, PREFIX, sizeof(PREFIX) - 1) ||
			strcmp(c->sym[i].name + sizeof(PREFIX) - 1, name))
			continue;
		p = elf_at(c->e, c->sym[i].vaddr, sizeof(*ret));
		if (!p)
			return false;
		memcpy(&v, p, sizeof(v));
		if (v != (int16_t)v)
			return false;
		*ret = v;
		return true;
	}
	return false;
}

/* Returns the value of the first of these version-specific names that exists. */
static int32_t any_of(const struct constants *c, const char *const *names, int32_t otherwise)
{
	int32_t v = otherwise;

	while (*names && !constant(c, *names, &v))
		names++;
	return v;
}

#define ANY(otherwise, ...) any_of(c, (const char *const[]){ __VA_ARGS__, NULL }, otherwise)

static uint32_t version_of(const struct constants *c)
{
	static const char *const names[] = { "_ZN2v88internal7Version6major_E",
		"_ZN2v88internal7Version6minor_E" };
	uint32_t v[2] = {};
	const struct elf_symbol *sym;
	const uint8_t *p;

	for (int i = 0; i < 2; i++) {
		sym = named(c, names[i]);
		p = sym ? elf_at(c->e, sym->vaddr, 4) : NULL;
		if (p)
			memcpy(&v[i], p, 4);
	}
	return V8_VERSION(v[0], v[1] & 255);
}

static void set_proc(const struct constants *c, const struct v8_row *row, struct v8_proc *p)
{
	int32_t shift = row->bytecode_shift;
	int32_t function = ANY(0, "type_JSFunction__JS_FUNCTION_TYPE");

	p->frame_context = (int16_t)ANY(-8, "off_fp_context");
	p->frame_function = (int16_t)ANY(-16, "off_fp_function");
	p->frame_bytecode = (int16_t)ANY(-32 + shift, "off_fp_bytecode_array");
	p->frame_offset = (int16_t)ANY(-40 + shift, "off_fp_bytecode_offset");
	p->map_type = (uint16_t)ANY(12, "class_Map__instance_type__uint16_t");
	p->function_first = (uint16_t)ANY(function, "FirstJSFunctionType");
	p->function_last = (uint16_t)ANY(function + row->function_types, "LastJSFunctionType");
	p->shared_type = (uint16_t)ANY(0, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE");
	p->bytecode_type = (uint16_t)ANY(0, "type_BytecodeArray__BYTECODE_ARRAY_TYPE");
	p->function_shared = (uint16_t)ANY(24, "class_JSFunction__shared__SharedFunctionInfo");
	p->bytecode_first = (uint16_t)ANY(54, "class_BytecodeArray__data__uintptr_t");
	p->entry_record = row->entry_record;
	p->entry_size = row->entry_size;
	p->entry = (uint16_t)ANY(1, "frametype_EntryFrame");
	p->builtin_exit = (uint16_t)ANY(0, "frametype_BuiltinExitFrame");
	p->wasm = (uint16_t)ANY(0, "frametype_WasmFrame");
	p->to_wasm = (uint16_t)ANY(0, "frametype_JsToWasmFrame");
	p->from_wasm = (uint16_t)ANY(0, "frametype_WasmToJsFrame");
	p->construct_entry = (uint16_t)ANY(2, "frametype_ConstructEntryFrame");
}

static void set_objects(const struct constants *c, const struct v8_row *row, struct v8_layout *l)
{
	int32_t first, last;

	l->shared_data = ANY(8, "class_SharedFunctionInfo__function_data__Object");
	l->shared_name = ANY(16, "class_SharedFunctionInfo__name_or_scope_info__Object",
		"class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
		"class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_");
	l->shared_script = ANY(32, "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
		"class_SharedFunctionInfo__script_or_debug_info__Object",
		"class_SharedFunctionInfo__script__Tagged_HeapObject_",
		"class_SharedFunctionInfo__script__Object");
	l->shared_flags = ANY(48, "class_SharedFunctionInfo__flags__int");
	l->proc.shared_flags = (uint16_t)l->shared_flags; /* followed by function_literal_id */
	l->proc.shared_data = (uint16_t)l->shared_data;
	l->script_source = ANY(8, "class_Script__source__Object");
	l->script_name = ANY(16, "class_Script__name__Object");
	l->script_line_ends = ANY(56, "class_Script__line_ends__Object");
	l->proc.shared_name = (uint16_t)l->shared_name;
	l->proc.shared_script = (uint16_t)l->shared_script;
	l->proc.script_name = (uint16_t)l->script_name;
	l->script_line_offset = ANY(24, "class_Script__line_offset__SMI");
	l->script_module = ANY(0, "class_Script__wasm_managed_native_module__Object",
		"class_Script__wasm_managed_native_module__Tagged_Object_");
	l->wasm_size = row->wasm_size;
	l->wasm_index = row->wasm_index;
	l->script_map_url = ANY(row->script_map_url, "class_Script__source_mapping_url__Object");
	l->script_column_offset = ANY(32, "class_Script__column_offset__SMI");
	l->first_vars = ANY(3, "scopeinfo_idx_first_vars");
	l->bytecode_positions = row->bytecode_positions;
	l->inferred_name = ANY(8, "class_UncompiledData__inferred_name__String");
	l->start_position = ANY(16, "class_UncompiledData__start_position__int32_t");
	l->scope_type = ANY(-2, "type_ScopeInfo__SCOPE_INFO_TYPE");
	l->scope_slots = row->scope_slots;
	l->proc.scope_type = (uint16_t)l->scope_type;
	l->proc.scope_count = (uint16_t)(l->scope_slots + 16);
	l->proc.scope_locals = (uint16_t)(l->scope_slots + 8 * l->first_vars);
	l->proc.shared_unique = row->has_unique ? (uint16_t)(l->shared_flags + 8) : 0;
	l->proc.script_id = (uint16_t)ANY(64, "class_Script__id__SMI");
	l->script_type = ANY(-2, "type_Script__SCRIPT_TYPE");
	l->proc.script_type = (uint16_t)l->script_type;
	first = ANY(-2, "type_UncompiledDataWithPreparseData__UNCOMPILED_DATA_WITH_PREPARSE_DATA_TYPE");
	last = ANY(first, "type_UncompiledDataWithoutPreparseDataWithJob__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_WITH_JOB_TYPE",
		"type_UncompiledDataWithoutPreparseData__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_TYPE");
	l->uncompiled_first = first < last ? first : last;
	l->uncompiled_last = first < last ? last : first;
}

static void set_kinds(const struct v8_row *row, struct v8_layout *l)
{
	l->proc.code_flags = (uint16_t)l->code_flags;
	l->proc.code_apart = l->code_start != 0;
	l->proc.code_mask = row->code_mask;
	l->proc.code_first = row->one_optimised ? 0 : (uint16_t)(l->kind_baseline + 1);
	l->proc.code_last = row->one_optimised ? 0 : 15;
}

static void set_code(const struct constants *c, const struct v8_row *row, struct v8_layout *l)
{
	bool inner = row->code_is_stream;

	l->code_type = ANY(-2, "type_Code__CODE_TYPE");
	l->stream_type = inner ? l->code_type :
		ANY(-2, "type_InstructionStream__INSTRUCTION_STREAM_TYPE");
	l->proc.stream_type = (uint16_t)l->stream_type;
	l->code_deopt = row->code_deopt;
	l->code_positions = row->code_positions;
	l->code_start = inner ? 0 : ANY(row->code_start, "class_Code__instruction_start__Address");
	l->code_flags = ANY(row->code_flags, "class_Code__flags__uint32_t");
	l->code_size = ANY(row->code_size, "class_Code__instruction_size__int");
	l->stream_first = inner ? ANY(row->stream_first, "class_Code__instruction_start__uintptr_t") : row->stream_first;
	l->kind_baseline = ANY(11, "CodeKindBaseline");
	set_kinds(row, l);
	l->deopt_literals = ANY(2, "DeoptimizationDataLiteralArrayIndex");
	l->deopt_inlined = ANY(7, "DeoptimizationDataInliningPositionsIndex");
	l->code_safepoints = row->code_safepoints;
	/* After the inlining positions follow the start of the exits that undo the code, and their
	 * numbers; from 8 and 9 on. */
	l->deopt_first = l->deopt_inlined + row->deopt_first;
}

/* Finds the sizes of bytecodes: a row for each operand scale, 1, 2, and 4. Without a symbol, the rows are
 * found by their first bytes in 10 to 14: the prefixes, five for debuggers, then the first ones. */
static void set_bytecode_sizes(const struct constants *c, struct v8_layout *l)
{
	static const uint8_t begins[3][14] = {
		{ 1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 6, 2, 1, 2 },
		{ 1, 1, 1, 1, 1, 3, 5, 7, 9, 7, 9, 3, 1, 3 },
		{ 1, 1, 1, 1, 1, 5, 9, 13, 17, 11, 15, 5, 1, 5 },
	};
	const struct elf_symbol *sym = named(c, "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE");
	const uint8_t *p, *next, *end;
	struct elf_section s;

	if (sym && sym->size / 3 <= BYTECODES_MAX) {
		l->bytecodes = (uint32_t)sym->size / 3;
		l->sizes_at = sym->vaddr;
	}
	if (sym || !elf_section(c->e, ".rodata", &s) || !s.data)
		return;
	end = s.data + s.size;
	for (p = s.data; (p = memmem(p, (size_t)(end - p), begins[0], sizeof(begins[0]))); p++) {
		size_t left = (size_t)(end - p), n;

		next = memmem(p, left < 2 * BYTECODES_MAX ? left : 2 * BYTECODES_MAX, begins[1], sizeof(begins[1]));
		n = next ? (size_t)(next - p) : 0;
		if (!n || n > BYTECODES_MAX || 3 * n > left || memcmp(p + 2 * n, begins[2], sizeof(begins[2])))
			continue;
		l->bytecodes = (uint32_t)n;
		l->sizes_at = s.vaddr + (uint64_t)(p - s.data);
		return;
	}
}

static int read_layout(struct elf *e, void *layout)
{
	struct v8_layout *ret = layout;
	const struct elf_symbol *epoch, *isolates;
	const struct v8_row *row;
	struct constants all, *c = &all;
	uint64_t start;

	if (constants_open(e, c))
		return -ENOMEM;
	*ret = (struct v8_layout){ .version = version_of(c) };
	row = v8_row(ret->version);
	/* If the version is unknown, take the last row: frames have not changed since 8.9. */
	set_proc(c, v8_row(ret->version ? ret->version : UINT32_MAX), &ret->proc);
	if (c->n) {
		set_objects(c, row, ret);
		set_code(c, row, ret);
	}
	if (find_builtins(c, &start, &ret->proc.builtins_size))
		ret->proc.builtins = start;
	set_bytecode_sizes(c, ret);
	ret->compressed = ANY(32, "SmiValueShift") == 31;
	epoch = named(c, "_ZN2v88internal12_GLOBAL__N_112global_epochE");
	isolates = named(c, "_ZN2v88internal12_GLOBAL__N_115isolate_counterE");
	if (epoch)
		ret->epoch = epoch->vaddr;
	if (epoch && isolates && (int64_t)(isolates->vaddr - epoch->vaddr) == (int32_t)(isolates->vaddr - epoch->vaddr))
		ret->proc.isolates = (int32_t)(isolates->vaddr - epoch->vaddr);
	ret->proc.page_flags = row->page_flags;
	ret->proc.page_marking = row->page_marking;
	free(c->sym);
	ret->proc.opaque = ret->compressed || !ret->proc.function_first || !ret->proc.shared_type;
	return 0;
}

int v8_layout(const struct lang_file *f, struct v8_layout *ret)
{
	int err = lang_note(f, &lang_v8, read_layout, ret, sizeof(*ret));

	if (err)
		return err;
	ret->bytecode_sizes = ret->sizes_at ? elf_at(f->elf, ret->sizes_at, 3ull * ret->bytecodes) : NULL;
	return 0;
}
