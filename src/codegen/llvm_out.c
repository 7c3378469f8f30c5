// SPDX-License-Identifier: Apache-2.0
/* llvm_out.c - defines maps and constants, and writes the module as an ELF file. */
#include "llvm.h"

#include <errno.h>
#include <llvm-c/Analysis.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "passes.h"

/* ---- maps --------------------------------------------------------------- */

/* libbpf reads a map's definition from BTF: struct { int (*type)[T]; int (*max_entries)[N]; ... } in
 * section .maps. */
static LLVMMetadataRef di_uint_member(struct ir_builder *ir, const char *name, uint32_t v, unsigned i)
{
	LLVMMetadataRef range = LLVMDIBuilderGetOrCreateSubrange(ir->di, 0, v);
	LLVMMetadataRef array = LLVMDIBuilderCreateArrayType(ir->di, (uint64_t)v * 32, 0,
		ir->di_int, &range, 1);
	LLVMMetadataRef ptr = LLVMDIBuilderCreatePointerType(ir->di, array, 64, 0, 0, "", 0);

	return LLVMDIBuilderCreateMemberType(ir->di, ir->file, name, strlen(name), ir->file, 1,
		64, 0, (uint64_t)i * 64, LLVMDIFlagZero, ptr);
}

static LLVMMetadataRef di_map(struct ir_builder *ir, const struct ir_map *m, unsigned *ret_n)
{
	const struct {
		const char *name;
		uint32_t v;
	} all[] = {
		{"type", m->type}, {"key_size", m->key_size}, {"value_size", m->value_size},
		{"max_entries", m->max_entries}, {"map_flags", m->flags},
	};
	LLVMMetadataRef members[ARRAY_SIZE(all)];
	unsigned n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].v) {
			members[n] = di_uint_member(ir, all[i].name, all[i].v, n);
			n++;
		}
	*ret_n = n;
	return LLVMDIBuilderCreateStructType(ir->di, ir->file, "", 0, ir->file, 1,
		(uint64_t)n * 64, 0, LLVMDIFlagZero, NULL, members, n, 0, NULL, "", 0);
}

static bool same_shape(const struct ir_map *a, const struct ir_map *b)
{
	return a->type == b->type && a->key_size == b->key_size && a->value_size == b->value_size &&
	       a->max_entries == b->max_entries && a->flags == b->flags;
}

static const struct map_type *map_type(struct ir_builder *ir, const struct ir_map *m)
{
	struct map_type new = {.shape = *m};

	for (size_t i = 0; i < ir->map_types.len; i++)
		if (same_shape(&ir->map_types.data[i].shape, m))
			return &ir->map_types.data[i];
	new.type = di_map(ir, m, &new.n);
	vec_push(&ir->map_types, new);
	return &ir->map_types.data[ir->map_types.len - 1];
}

static struct ir *add_map(struct ir_builder *ir, const struct ir_map *m, bool defined)
{
	const struct map_type *type;
	LLVMMetadataRef gv;
	LLVMTypeRef t;
	LLVMValueRef v;

	for (size_t i = 0; i < ir->maps.len; i++)
		if (!strcmp(ir->maps.data[i].name, m->name))
			return IR(ir->maps.data[i].value);
	type = map_type(ir, m);
	t = LLVMArrayType(ir->ptr, type->n);
	v = LLVMAddGlobal(ir->m, t, m->name);
	if (defined)
		LLVMSetInitializer(v, LLVMConstNull(t));
	LLVMSetSection(v, ".maps");
	LLVMSetAlignment(v, 8);
	gv = LLVMDIBuilderCreateGlobalVariableExpression(ir->di, ir->unit, m->name,
		strlen(m->name), "", 0, ir->file, 1, type->type, 0,
		LLVMDIBuilderCreateExpression(ir->di, NULL, 0), NULL, 0);
	LLVMGlobalSetMetadata(v, LLVMGetMDKindIDInContext(ir->c, "dbg", 3), gv);
	vec_push(&ir->maps, (struct named){.name = strdup(m->name), .value = v});
	return IR(v);
}

struct ir *ir_map(struct ir_builder *ir, const struct ir_map *m)
{
	return add_map(ir, m, true);
}

struct ir *ir_map_extern(struct ir_builder *ir, const struct ir_map *m)
{
	return add_map(ir, m, false);
}

/* ---- constants ------------------------------------------------------------ */

static struct ir *add_constant(struct ir_builder *ir, const char *name, LLVMValueRef value)
{
	LLVMValueRef v = LLVMAddGlobal(ir->m, LLVMTypeOf(value), name);

	LLVMSetInitializer(v, value);
	LLVMSetGlobalConstant(v, 1);
	LLVMSetLinkage(v, LLVMInternalLinkage);
	LLVMSetSection(v, ".rodata");
	LLVMSetAlignment(v, 8);
	return IR(v);
}

struct ir *ir_zeros(struct ir_builder *ir, uint32_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "zeros_%u", ir->nzeros++);
	return add_constant(ir, name, LLVMConstNull(LLVMArrayType(ir->i8, (size + 7) & ~7u)));
}

struct ir *ir_bytes(struct ir_builder *ir, const char *name, const uint8_t *bytes, uint32_t size)
{
	LLVMValueRef v = LLVMGetNamedGlobal(ir->m, name);

	return v ? IR(v) : add_constant(ir, name, LLVMConstStringInContext(ir->c, (const char *)bytes, size, 1));
}

/* ---- output -------------------------------------------------------------- */

static int complain(const char *stage, char *why)
{
	fprintf(stderr, "strata: internal error: %s: %s\n", stage, why ? why : "");
	LLVMDisposeMessage(why);
	return -EINVAL;
}

int ir_optimize(struct ir_builder *ir)
{
	char *why = NULL;

	LLVMDIBuilderFinalize(ir->di);
	if (getenv("STRATA_VERIFY_IR") && LLVMVerifyModule(ir->m, LLVMReturnStatusAction, &why))
		return complain("LLVM refuses the module", why);
	LLVMDisposeMessage(why); /* it is "" in this case */
	ir_run_passes(ir->m, ir->machine);
	return 0;
}

/* Loading an address, or a number of more than 32 bits, takes an instruction of double size. */
static unsigned constant_size(LLVMValueRef v)
{
	if (!LLVMIsAConstant(v))
		return 0;
	if (LLVMIsAConstantInt(v))
		return LLVMConstIntGetSExtValue(v) == (int32_t)LLVMConstIntGetSExtValue(v) ? 1 : 2;
	return 2;
}

static unsigned instruction_size(LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	unsigned size = 0;

	if (op == LLVMAlloca)
		return 0;
	if (op == LLVMBr)
		return LLVMGetNumSuccessors(i);
	for (int k = LLVMGetNumOperands(i); k-- > 0;) {
		LLVMValueRef v = LLVMGetOperand(i, k);

		size += op == LLVMCall ? !LLVMIsAConstant(v) + constant_size(v) : constant_size(v);
	}
	if (op == LLVMSelect || op == LLVMSExt || op == LLVMPHI)
		return size + 2;
	return size + 1;
}

unsigned ir_function_size(struct ir_builder *ir, const char *name)
{
	LLVMValueRef fn = LLVMGetNamedFunction(ir->m, name);
	unsigned size = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			size += instruction_size(i);
	return size - size / 6; /* measured on all kinds of scripts: the estimate is 1.3 to 2 times the result */
}

int ir_finish(struct ir_builder *ir, void **ret_elf, size_t *ret_size)
{
	LLVMMemoryBufferRef buf;
	char *why = NULL;

	if (LLVMTargetMachineEmitToMemoryBuffer(ir->machine, ir->m, LLVMObjectFile, &why, &buf))
		return complain("LLVM's code generation", why);
	if (ir->refused) {
		LLVMDisposeMemoryBuffer(buf);
		return -E2BIG;
	}
	*ret_size = LLVMGetBufferSize(buf);
	*ret_elf = malloc(*ret_size);
	if (!*ret_elf)
		out_of_memory();
	memcpy(*ret_elf, LLVMGetBufferStart(buf), *ret_size);
	LLVMDisposeMemoryBuffer(buf);
	return 0;
}

const char *ir_refused(const struct ir_builder *ir)
{
	return ir->refused;
}

void ir_dump(struct ir_builder *ir, FILE *out)
{
	char *text = LLVMPrintModuleToString(ir->m);

	fputs(text, out);
	LLVMDisposeMessage(text);
}
