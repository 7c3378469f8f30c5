// SPDX-License-Identifier: Apache-2.0
/* hotspot.h - the userspace half of bpf/lang/hotspot.bpf.c: the layout of a Java virtual machine, from its own tables
 * (tables.c); methods of the code positions that the kernel half sent (code.c), with their lines (method.c) and the
 * methods that were inlined there (scopes.c). All data of a process is untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/hotspot.h"

struct code;
struct elf;
struct frame_name;
struct hotspot_codes;
struct str;

/* Memory of a process, or of a core. */
struct hotspot_memory {
	/* Reads all of size bytes at addr. Returns 0 on success, -errno on failure. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t size);
	void *arg;
};

/* Offsets of fields in bytes, ABSENT if this version has no such field. */
#define ABSENT (-1)
struct hotspot_fields {
	int32_t array_len, array_data;
	int32_t heap_memory, heap_segmap, heap_shift, space_low, space_high;
	int32_t blob_name, blob_frame_size, blob_complete, code_begin, code_offset, code_end;
	int32_t mutable_data, relocation_size, data_offset;
	int32_t method, compile_id, orig_pc;
	int32_t deopt_begin, deopt_mh_begin, deopt_offset, deopt_mh_offset;
	int32_t scopes_begin, scopes_offset, pcs_offset, dependencies_offset, immutable_data, metadata_offset;
	int32_t method_const, method_flags;
	int32_t const_pool, const_flags, const_flags_32, const_code_size, const_name;
	int32_t pool_holder, pool_file, klass_name, klass_file;
	int32_t symbol_length, symbol_length_high, symbol_body;
	int32_t pc_offset, pc_scope;
	/* Sizes of types. */
	int32_t block_size, const_size, pool_size, pc_size;
	int32_t hidden; /* mask in a Method's flags */
	bool complete_is_16, metadata_is_16;
};

struct hotspot_layout {
	struct hotspot_proc proc; /* heaps: vaddr */
	struct hotspot_fields at;
	uint32_t major;           /* of the JDK; 8 for all older ones */
	uint32_t machine;         /* EM_X86_64 or EM_AARCH64 */
};

/* Vaddrs of variables with the addresses of the tables. */
struct hotspot_variables {
	uint64_t structs, types, ints;
};

/* Finds the variables in the file of a Java virtual machine. Returns 0 on success, -ENOENT if they are missing. */
int hotspot_variables(struct elf *e, void *variables);
/* Reads the tables of a process that has mapped the file with that bias. Sets each byte of the layout. Returns 0 on
 * success, -EAGAIN if the process has not filled them yet, -ENOTSUP if fields are missing. */
int hotspot_read_tables(struct elf *e, uint64_t bias, const struct hotspot_memory *m,
	const struct hotspot_variables *v, struct hotspot_layout *l);

/* ---- methods ---- */

struct hotspot_vm {
	struct hotspot_memory memory;
	const struct hotspot_layout *layout;
	struct code *code; /* NULL: instructions cannot be decoded */
};

/* Reads a word, or 32 bits, at an offset of an object; false: it is not readable. */
bool hotspot_word(const struct hotspot_vm *vm, uint64_t object, int64_t offset, uint64_t *ret);
bool hotspot_int(const struct hotspot_vm *vm, uint64_t object, int64_t offset, uint32_t *ret);

struct hotspot_method {
	struct str *klass, *name, *file; /* of the caller; texts are appended */
	uint64_t constant, pool;
	uint32_t code_size, flags;
	bool hidden; /* Java's own stacks omit it */
};
/* Reads a Method. Returns false if it is not one. */
bool hotspot_method(const struct hotspot_vm *vm, uint64_t method, struct hotspot_method *ret);
/* Returns the line of a position in the bytecode, or 0 if it is unknown. */
uint32_t hotspot_line(const struct hotspot_vm *vm, const struct hotspot_method *m, uint32_t bci);
/* Appends the text of a name in a record. */
void hotspot_append(const struct hotspot_text *t, struct str *out);

/* Reads a number of UNSIGNED5 from left bytes. Returns the number of bytes, or 0 if they do not suffice. */
size_t hotspot_unsigned5(const uint8_t *p, size_t left, uint8_t base, uint32_t *ret);
static inline uint8_t hotspot_base(const struct hotspot_layout *l)
{
	return l->major >= 20;
}

/* ---- inlined methods ---- */

struct hotspot_scope {
	uint64_t method;
	int32_t bci; /* -1: before the first bytecode */
};
/* Lists the methods at a pc of compiled code, innermost first. exact: the thread was interrupted there; else it is a
 * return address. Returns their number. */
size_t hotspot_scopes(const struct hotspot_vm *vm, uint64_t blob, uint64_t pc, bool exact, struct hotspot_scope *ret,
	size_t max);

/* ---- names ---- */

struct hotspot_codes *hotspot_codes_new(void);
void hotspot_codes_free(struct hotspot_codes *c);
/* vm NULL: the process has ended. */
void hotspot_codes_record(struct hotspot_codes *c, const struct hotspot_record *r, const struct hotspot_vm *vm);
bool hotspot_codes_name(const struct hotspot_codes *c, uint64_t frame, struct frame_name *ret);
