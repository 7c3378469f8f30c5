// SPDX-License-Identifier: Apache-2.0
/* tables.c - the layout of a Java virtual machine, from the tables that it has for debuggers.
 *
 * libjvm exports gHotSpotVMStructs and others: arrays of fields, types and constants, by name. The file has the
 * arrays, but most offsets in them are set when the library is loaded, so they are read in a process.
 * (src/hotspot/share/runtime/vmStructs.hpp of JDK 8.0 to 26.0: struct VMStructEntry, VMTypeEntry, VMIntConstantEntry;
 * the names are in vmStructs.cpp) */
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "hotspot.h"
#include "target/elf.h"

#define ENTRIES_MAX 8192
#define TEXT_MAX    256
#define OFFSET_MAX  4096

struct struct_entry {
	uint64_t type, field, kind; /* addresses of texts */
	int32_t is_static, pad;
	uint64_t offset, address;
};

struct type_entry {
	uint64_t type, super;
	int32_t is_oop, is_integer, is_unsigned, pad;
	uint64_t size;
};

struct int_entry {
	uint64_t name;
	int32_t value, pad;
};

/* Names of versions for one field; the first one that a version has counts. */
struct wanted_field {
	const char *type, *field;
	size_t at;
};
#define AT(member) offsetof(struct hotspot_fields, member)
static const struct wanted_field fields[] = {
	{ "GenericGrowableArray", "_len", AT(array_len) },
	{ "GrowableArrayBase", "_len", AT(array_len) },
	{ "GrowableArray<int>", "_data", AT(array_data) },
	{ "CodeHeap", "_memory", AT(heap_memory) },
	{ "CodeHeap", "_segmap", AT(heap_segmap) },
	{ "CodeHeap", "_log2_segment_size", AT(heap_shift) },
	{ "VirtualSpace", "_low_boundary", AT(space_low) },
	{ "VirtualSpace", "_high_boundary", AT(space_high) },
	{ "CodeBlob", "_name", AT(blob_name) },
	{ "CodeBlob", "_frame_size", AT(blob_frame_size) },
	{ "CodeBlob", "_frame_complete_offset", AT(blob_complete) },
	{ "CodeBlob", "_code_begin", AT(code_begin) },
	{ "CodeBlob", "_code_end", AT(code_end) },
	{ "CodeBlob", "_code_offset", AT(code_offset) },
	{ "CodeBlob", "_data_offset", AT(data_offset) },
	{ "CodeBlob", "_mutable_data", AT(mutable_data) },
	{ "CodeBlob", "_relocation_size", AT(relocation_size) },
	{ "CompiledMethod", "_method", AT(method) },
	{ "nmethod", "_method", AT(method) },
	{ "nmethod", "_compile_id", AT(compile_id) },
	{ "nmethod", "_orig_pc_offset", AT(orig_pc) },
	{ "CompiledMethod", "_deopt_handler_begin", AT(deopt_begin) },
	{ "nmethod", "_deopt_handler_begin", AT(deopt_begin) },
	{ "CompiledMethod", "_deopt_mh_handler_begin", AT(deopt_mh_begin) },
	{ "nmethod", "_deopt_mh_handler_begin", AT(deopt_mh_begin) },
	{ "nmethod", "_deoptimize_offset", AT(deopt_offset) },
	{ "nmethod", "_deopt_handler_offset", AT(deopt_offset) },
	{ "nmethod", "_deopt_handler_entry_offset", AT(deopt_offset) },
	{ "nmethod", "_deoptimize_mh_offset", AT(deopt_mh_offset) },
	{ "nmethod", "_deopt_mh_handler_offset", AT(deopt_mh_offset) },
	{ "CompiledMethod", "_scopes_data_begin", AT(scopes_begin) },
	{ "nmethod", "_scopes_data_offset", AT(scopes_offset) },
	{ "nmethod", "_scopes_pcs_offset", AT(pcs_offset) },
	{ "nmethod", "_dependencies_offset", AT(dependencies_offset) },
	{ "nmethod", "_immutable_data", AT(immutable_data) },
	{ "nmethod", "_metadata_offset", AT(metadata_offset) },
	{ "Method", "_constMethod", AT(method_const) },
	{ "Method", "_flags", AT(method_flags) },
	{ "ConstMethod", "_constants", AT(const_pool) },
	{ "ConstMethod", "_flags", AT(const_flags) },
	{ "ConstMethod", "_flags._flags", AT(const_flags_32) },
	{ "ConstMethod", "_code_size", AT(const_code_size) },
	{ "ConstMethod", "_name_index", AT(const_name) },
	{ "ConstantPool", "_pool_holder", AT(pool_holder) },
	{ "ConstantPool", "_source_file_name_index", AT(pool_file) },
	{ "InstanceKlass", "_source_file_name_index", AT(klass_file) },
	{ "Klass", "_name", AT(klass_name) },
	{ "Symbol", "_length", AT(symbol_length) },
	{ "Symbol", "_length_and_refcount", AT(symbol_length_high) },
	{ "Symbol", "_body", AT(symbol_body) },
	{ "Symbol", "_body[0]", AT(symbol_body) },
	{ "PcDesc", "_pc_offset", AT(pc_offset) },
	{ "PcDesc", "_scope_decode_offset", AT(pc_scope) },
};

static const struct {
	const char *type;
	size_t at;
} sizes[] = {
	{ "HeapBlock", AT(block_size) },
	{ "ConstMethod", AT(const_size) },
	{ "ConstantPool", AT(pool_size) },
	{ "PcDesc", AT(pc_size) },
};

struct tables {
	struct elf *e;
	uint64_t bias;
	const struct hotspot_memory *memory;
	struct hotspot_layout *layout;
	uint64_t heaps, heap, major; /* static variables */
};

/* Returns a text of the file, or NULL. */
static const char *text_at(const struct tables *t, uint64_t addr)
{
	for (size_t size = TEXT_MAX; size >= 16; size /= 2) {
		const uint8_t *p = elf_at(t->e, addr - t->bias, size);

		if (p)
			return memchr(p, 0, size) ? (const char *)p : NULL;
	}
	return NULL;
}

static int32_t *member(struct hotspot_fields *f, size_t at)
{
	return (int32_t *)((char *)f + at);
}

static void take_static(struct tables *t, const struct struct_entry *s, const char *type, const char *field)
{
	if (!strcmp(type, "CodeCache") && !strcmp(field, "_heaps"))
		t->heaps = s->address;
	else if (!strcmp(type, "CodeCache") && !strcmp(field, "_heap"))
		t->heap = s->address;
	else if (!strcmp(type, "Abstract_VM_Version") && !strcmp(field, "_vm_major_version"))
		t->major = s->address;
}

static void take_field(struct tables *t, const struct struct_entry *s, const char *type, const char *field)
{
	struct hotspot_fields *f = &t->layout->at;
	const char *kind = text_at(t, s->kind);
	bool is_16 = kind && (!strcmp(kind, "u2") || !strcmp(kind, "int16_t"));

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].field, field) || strcmp(fields[i].type, type) || s->offset >= OFFSET_MAX)
			continue;
		*member(f, fields[i].at) = (int32_t)s->offset;
		if (fields[i].at == AT(blob_complete))
			f->complete_is_16 = is_16;
		if (fields[i].at == AT(metadata_offset))
			f->metadata_is_16 = is_16;
	}
}

/* Entries that are read at once; near the end of the memory, one by one. */
struct entries {
	uint64_t data[sizeof(struct struct_entry) / 8 * 64];
	size_t first, n;
};

static bool read_entries(const struct hotspot_memory *m, uint64_t table, size_t first, size_t size, struct entries *e)
{
	e->first = first;
	e->n = sizeof(e->data) / size;
	if (!m->read(m->arg, table + first * size, e->data, e->n * size))
		return true;
	e->n = 1;
	return !m->read(m->arg, table + first * size, e->data, size);
}

/* Calls f with each entry until one has no name. Returns 0, or -EAGAIN if there is none. */
static int each_entry(struct tables *t, uint64_t variable, size_t size, void (*f)(struct tables *t, const void *entry))
{
	const struct hotspot_memory *m = t->memory;
	struct entries e = {};
	uint64_t table, name;

	if (m->read(m->arg, t->bias + variable, &table, sizeof(table)) || !table)
		return -EAGAIN;
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		const char *entry;

		if (i >= e.first + e.n && !read_entries(m, table, i, size, &e))
			return -EAGAIN;
		entry = (const char *)e.data + (i - e.first) * size;
		memcpy(&name, entry, sizeof(name));
		if (!name)
			return i ? 0 : -EAGAIN;
		f(t, entry);
	}
	return 0;
}

static void struct_entry(struct tables *t, const void *entry)
{
	const struct struct_entry *s = entry;
	const char *type = text_at(t, s->type), *field = text_at(t, s->field);

	if (!type || !field)
		return;
	if (s->is_static)
		take_static(t, s, type, field);
	else
		take_field(t, s, type, field);
}

static void type_entry(struct tables *t, const void *entry)
{
	const struct type_entry *s = entry;
	const char *type = text_at(t, s->type);

	for (size_t i = 0; type && i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(sizes[i].type, type) && s->size < OFFSET_MAX)
			*member(&t->layout->at, sizes[i].at) = (int32_t)s->size;
}

static void int_entry(struct tables *t, const void *entry)
{
	const struct int_entry *s = entry;
	const char *name = text_at(t, s->name);

	if (name && !strcmp(name, "Method::_hidden"))
		t->layout->at.hidden = s->value;
}

int hotspot_variables(struct elf *e, void *variables)
{
	struct hotspot_variables *v = variables;
	struct elf_symbol structs, types, ints;

	if (!elf_symbol_named(e, "gHotSpotVMStructs", &structs) || !elf_symbol_named(e, "gHotSpotVMTypes", &types) ||
		!elf_symbol_named(e, "gHotSpotVMIntConstants", &ints))
		return -ENOENT;
	*v = (struct hotspot_variables){ .structs = structs.vaddr, .types = types.vaddr, .ints = ints.vaddr };
	return 0;
}

static bool present(int32_t offset, uint16_t *ret)
{
	*ret = offset < 0 ? 0 : (uint16_t)offset;
	return offset >= 0;
}

static bool set_heaps(const struct tables *t, const struct hotspot_fields *f, struct hotspot_proc *p)
{
	p->one_heap = !t->heaps;
	p->heaps = (t->heaps ? t->heaps : t->heap) - t->bias;
	p->heap_low = (uint16_t)(f->heap_memory + f->space_low);
	p->heap_high = (uint16_t)(f->heap_memory + f->space_high);
	p->heap_segmap = (uint16_t)(f->heap_segmap + f->space_low);
	return (t->heaps || t->heap) && f->heap_memory >= 0 && f->heap_segmap >= 0 && f->space_low >= 0 &&
	       f->space_high >= 0 && present(f->heap_shift, &p->heap_shift) &&
	       present(f->block_size, &p->block_size) && (!t->heaps || (present(f->array_len, &p->array_len) &&
	       present(f->array_data, &p->array_data)));
}

static bool set_blob(const struct hotspot_fields *f, struct hotspot_proc *p)
{
	p->code_is_offset = f->code_begin < 0;
	p->deopt_is_offset = f->deopt_begin < 0;
	p->complete_bytes = f->complete_is_16 ? 2 : 4;
	present(f->deopt_begin < 0 ? f->deopt_mh_offset : f->deopt_mh_begin, &p->deopt_mh);
	return present(f->blob_name, &p->blob_name) && present(f->blob_frame_size, &p->blob_frame_size) &&
	       present(f->blob_complete, &p->blob_complete) &&
	       present(p->code_is_offset ? f->code_offset : f->code_begin, &p->blob_code) &&
	       present(f->method, &p->method) && present(f->compile_id, &p->compile_id) &&
	       present(f->orig_pc, &p->orig_pc) &&
	       present(p->deopt_is_offset ? f->deopt_offset : f->deopt_begin, &p->deopt);
}

static bool set_method(const struct hotspot_fields *f, struct hotspot_proc *p)
{
	int32_t length = f->symbol_length >= 0 ? f->symbol_length :
		f->symbol_length_high >= 0 ? f->symbol_length_high + 2 : ABSENT;

	present(f->pool_file, &p->pool_file);
	present(f->klass_file, &p->klass_file);
	return present(f->method_const, &p->method_const) && present(f->const_pool, &p->const_pool) &&
	       present(f->const_code_size, &p->const_code_size) && present(f->const_name, &p->const_name) &&
	       present(f->const_size, &p->const_size) && present(f->pool_size, &p->pool_size) &&
	       present(f->pool_holder, &p->pool_holder) && present(f->klass_name, &p->klass_name) &&
	       (f->pool_file >= 0 || f->klass_file >= 0) &&
	       present(length, &p->symbol_length) && present(f->symbol_body, &p->symbol_body);
}

/* Words between the frame pointer and the bcp in an interpreted frame: interpreter_frame_bcp_offset in
 * src/hotspot/cpu/x86/frame_x86.hpp of JDK 8 and 9 on, and aarch64/frame_aarch64.hpp of 8, 9, and 20 on. No table has
 * them. Some updates of 17 on arm64 use the slot of 20, so the kernel half tries both slots there. */
static int16_t bcp_slot(const struct tables *t)
{
	uint32_t major = t->layout->major;

	if (major < 9)
		return -56;
	return elf_machine(t->e) == 183 && major >= 20 ? -72 : -64;
}

/* Returns whether the library has set its fields, which are 0 before. Only few fields are at the start of an object. */
static bool is_filled(const struct hotspot_fields *f)
{
	const int32_t set[] = {
		f->array_data, f->heap_segmap, f->heap_shift, f->space_high, f->blob_frame_size,
		f->blob_complete, f->code_offset, f->data_offset, f->relocation_size, f->method, f->compile_id,
		f->orig_pc, f->deopt_begin, f->deopt_offset, f->scopes_begin, f->scopes_offset, f->pcs_offset,
		f->dependencies_offset, f->immutable_data, f->metadata_offset, f->method_const,
		f->method_flags, f->const_pool, f->const_flags, f->const_flags_32, f->const_code_size,
		f->const_name, f->pool_holder, f->pool_file, f->klass_name, f->klass_file, f->symbol_body,
		f->pc_scope,
	};

	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		if (!set[i])
			return false;
	return true;
}

int hotspot_read_tables(struct elf *e, uint64_t bias, const struct hotspot_memory *m,
	const struct hotspot_variables *v, struct hotspot_layout *l)
{
	struct tables t = { .e = e, .bias = bias, .memory = m, .layout = l };
	int32_t major = 0;
	int err;

	memset(l, 0, sizeof(*l));
	memset(&l->at, 0xff, sizeof(l->at));
	l->at.complete_is_16 = l->at.metadata_is_16 = false;
	l->at.hidden = 0;
	err = each_entry(&t, v->structs, sizeof(struct struct_entry), struct_entry);
	err = err ? err : each_entry(&t, v->types, sizeof(struct type_entry), type_entry);
	err = err ? err : each_entry(&t, v->ints, sizeof(struct int_entry), int_entry);
	if (err)
		return err;
	if (!is_filled(&l->at))
		return -EAGAIN;
	if (t.major && t.heaps)
		m->read(m->arg, t.major, &major, sizeof(major));
	l->major = major > 8 ? (uint32_t)major : 8;
	l->machine = elf_machine(e);
	if (!set_heaps(&t, &l->at, &l->proc) || !set_blob(&l->at, &l->proc) || !set_method(&l->at, &l->proc))
		return -ENOTSUP;
	l->proc.frame_bcp = bcp_slot(&t);
	l->proc.arm64 = l->machine == 183;
	return 0;
}
