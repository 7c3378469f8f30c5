// SPDX-License-Identifier: Apache-2.0
/* llvm.c - implements ir.h with LLVM's C API (18 to 21). Maps, constants and the output are in llvm_out.c.
 *
 * BPF has three conditions: every function, including externs, has a debug-info subprogram (which becomes BTF, by
 * which bpf_linker joins functions); every function is nounwind (else LLVM writes .eh_frame, which the linker
 * refuses); every parameter is named and preserved (else the verifier refuses the BTF of programs that call
 * bpf_loop). */
#include "llvm.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "late.h"

/* ---- the module --------------------------------------------------------- */

static void add_flag(struct ir_builder *ir, const char *name, uint64_t v)
{
	LLVMAddModuleFlag(ir->m, LLVMModuleFlagBehaviorWarning, name, strlen(name),
		LLVMValueAsMetadata(LLVMConstInt(ir->i32, v, 0)));
}

static LLVMMetadataRef di_basic(struct ir_builder *ir, const char *name, unsigned bits, unsigned enc)
{
	return LLVMDIBuilderCreateBasicType(ir->di, name, strlen(name), bits, enc,
		LLVMDIFlagZero);
}

static void init_types(struct ir_builder *ir)
{
	enum { DW_ATE_signed = 5, DW_ATE_unsigned = 7 };

	ir->i8 = LLVMInt8TypeInContext(ir->c);
	ir->i16 = LLVMInt16TypeInContext(ir->c);
	ir->i32 = LLVMInt32TypeInContext(ir->c);
	ir->i64 = LLVMInt64TypeInContext(ir->c);
	ir->ptr = LLVMPointerTypeInContext(ir->c, 0);
	ir->di_int = di_basic(ir, "int", 32, DW_ATE_signed);
	ir->di_u32 = di_basic(ir, "unsigned int", 32, DW_ATE_unsigned);
	ir->di_u64 = di_basic(ir, "unsigned long long", 64, DW_ATE_unsigned);
	ir->di_ptr = LLVMDIBuilderCreatePointerType(ir->di, NULL, 64, 0, 0, "", 0);
}

/* Without a handler, LLVM ends the process if a function needs too much stack. Its message: "FILE:LINE:COL:
 * in function NAME TYPE: Looks like the BPF stack limit is exceeded". */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
	static const char before[] = "in function ";
	struct ir_builder *ir = arg;
	char *text, *name;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || ir->refused)
		return;
	text = LLVMGetDiagInfoDescription(info);
	name = strstr(text, before);
	name = name ? name + strlen(before) : text;
	ir->refused = strndup(name, strcspn(name, " "));
	LLVMDisposeMessage(text);
}

/* Without a handler, LLVM calls abort(). Scripts that are known to cause this are refused earlier; this
 * handler is for the others. */
static void on_fatal_error(const char *why)
{
	if (strstr(why, "out of memory"))
		out_of_memory();
	fprintf(stderr, "error: LLVM cannot compile this script: %s\n"
			"hint: please report this, with the script\n", why);
	exit(1);
}

/* C++ and LLVM call these handlers if an allocation fails; by default they call abort(). LLVM's C interface
 * lacks both. */
extern void (*set_new_handler(void (*)(void)))(void) __asm__("_ZSt15set_new_handlerPFvvE");
extern void install_bad_alloc_error_handler(void (*)(void *, const char *, bool), void *)
	__asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void on_bad_alloc(void *arg, const char *why, bool diagnoses)
{
	out_of_memory();
}

/* LLVM must not reorder blocks: the head of a loop must stay before its body, since Linux 6.1 refuses a loop whose
 * body falls through into its head (the loops of tests/kernel run there). Folding of branches removes "goto +0" at the
 * end of blocks, each of which the kernel removes by moving all code after it; merging of equal ends of blocks would
 * reorder. LLVM must not reorder instructions either, since the time of the usual scheduler grows with the square of a
 * block's length. */
static void init_library(void)
{
	static const char *const options[] = { "strata", "-disable-block-placement", "-enable-tail-merge=0",
		"-pre-RA-sched=source" };

	LLVMParseCommandLineOptions(ARRAY_SIZE(options), options, NULL);
	LLVMInstallFatalErrorHandler(on_fatal_error);
	set_new_handler(out_of_memory);
	install_bad_alloc_error_handler(on_bad_alloc, NULL);
}

/* The machine serves all modules, since making it takes as long as the passes over a short script. */
static LLVMTargetMachineRef target_machine(void)
{
	static LLVMTargetMachineRef machine;
	LLVMTargetRef target;
	char *why = NULL;

	if (machine)
		return machine;
	init_library();
	LLVMInitializeBPFTargetInfo();
	LLVMInitializeBPFTarget();
	LLVMInitializeBPFTargetMC();
	LLVMInitializeBPFAsmPrinter();
	LLVMInitializeBPFAsmParser();
	if (LLVMGetTargetFromTriple("bpfel", &target, &why)) {
		fprintf(stderr, "strata: LLVM has no BPF target: %s\n", why);
		LLVMDisposeMessage(why);
		return NULL;
	}
	machine = LLVMCreateTargetMachine(target, "bpfel", "v3", "",
		LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
	return machine;
}

struct ir_builder *ir_new(const char *source_name)
{
	struct ir_builder *ir = calloc(1, sizeof(*ir));
	LLVMTargetDataRef layout;

	assert(ir);
	late_run();
	ir->c = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(ir->c, on_diagnostic, ir);
	ir->m = LLVMModuleCreateWithNameInContext(source_name, ir->c);
	ir->b = LLVMCreateBuilderInContext(ir->c);
	ir->di = LLVMCreateDIBuilder(ir->m);
	ir->machine = target_machine();
	if (!ir->machine) {
		ir_free(ir);
		return NULL;
	}
	LLVMSetTarget(ir->m, "bpfel");
	layout = LLVMCreateTargetDataLayout(ir->machine);
	LLVMSetModuleDataLayout(ir->m, layout);
	LLVMDisposeTargetData(layout);
	ir->file = LLVMDIBuilderCreateFile(ir->di, source_name, strlen(source_name), ".", 1);
	ir->unit = LLVMDIBuilderCreateCompileUnit(ir->di, LLVMDWARFSourceLanguageC99, ir->file,
		"strata", 6, 1, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, 0, 0, "", 0, "", 0);
	init_types(ir);
	add_flag(ir, "Debug Info Version", LLVMDebugMetadataVersion());
	add_flag(ir, "Dwarf Version", 5);
	return ir;
}

void ir_free(struct ir_builder *ir)
{
	if (!ir)
		return;
	for (unsigned i = 0; i < ir->nlibrary; i++)
		free(ir->library[i].name);
	for (size_t i = 0; i < ir->maps.len; i++)
		free(ir->maps.data[i].name);
	vec_done(&ir->maps);
	vec_done(&ir->map_types);
	free(ir->refused);
	if (ir->di)
		LLVMDisposeDIBuilder(ir->di);
	LLVMDisposeBuilder(ir->b);
	LLVMDisposeModule(ir->m);
	LLVMContextDispose(ir->c);
	free(ir);
}

/* ---- functions ---------------------------------------------------------- */

static void set_nounwind(struct ir_builder *ir, LLVMValueRef fn)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);

	LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(ir->c, kind, 0));
}

enum subprogram_kind { SUBPROGRAM_GLOBAL, SUBPROGRAM_STATIC, SUBPROGRAM_DECLARED };

static LLVMMetadataRef subprogram(struct ir_builder *ir, const char *name, LLVMMetadataRef *types,
	unsigned n, enum subprogram_kind kind, unsigned line)
{
	bool local = kind == SUBPROGRAM_STATIC, definition = kind != SUBPROGRAM_DECLARED;
	LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(ir->di, ir->file, types, n,
		LLVMDIFlagZero);
	LLVMMetadataRef sp = LLVMDIBuilderCreateFunction(ir->di, ir->file, name, strlen(name),
		name, strlen(name), ir->file, line, type, local, definition, line,
		LLVMDIFlagPrototyped, 1);

	if (!definition)
		LLVMDIBuilderFinalizeSubprogram(ir->di, sp);
	return sp;
}

/* BTF's FUNC_PROTO only has the parameter's name if its variable is always preserved. */
static void name_param(struct ir_builder *ir, LLVMMetadataRef sp, const char *name, unsigned i,
	unsigned line, LLVMMetadataRef type)
{
	LLVMDIBuilderCreateParameterVariable(ir->di, sp, name, strlen(name), i, ir->file, line,
		type, 1, LLVMDIFlagZero);
}

void ir_prog_begin(struct ir_builder *ir, const char *name, const char *section, unsigned line)
{
	LLVMTypeRef type = LLVMFunctionType(ir->i32, &ir->ptr, 1, 0);
	LLVMMetadataRef types[] = {ir->di_int, ir->di_ptr};

	ir->fn = LLVMAddFunction(ir->m, name, type);
	LLVMSetSection(ir->fn, section);
	set_nounwind(ir, ir->fn);
	ir->fn_scope = subprogram(ir, name, types, 2, SUBPROGRAM_GLOBAL, line);
	LLVMSetSubprogram(ir->fn, ir->fn_scope);
	name_param(ir, ir->fn_scope, "ctx", 1, line, ir->di_ptr);
	ir->entry = LLVMAppendBasicBlockInContext(ir->c, ir->fn, "entry");
	LLVMPositionBuilderAtEnd(ir->b, LLVMAppendBasicBlockInContext(ir->c, ir->fn, "start"));
	ir_line(ir, line, 1);
}

struct ir *ir_param(struct ir_builder *ir, unsigned i)
{
	return IR(LLVMGetParam(ir->fn, i));
}

void ir_prog_end(struct ir_builder *ir)
{
	assert(ir_ended(ir));
	LLVMPositionBuilderAtEnd(ir->b, ir->entry);
	LLVMBuildBr(ir->b, LLVMGetNextBasicBlock(ir->entry));
	ir->fn = NULL;
}

/* ---- callbacks ---------------------------------------------------------- */

enum { CALLBACK_PARAMS = 4 };

/* Makes a static function whose parameters are integers or pointers. */
static LLVMValueRef callback(struct ir_builder *ir, const char *name, const char *const *params,
	LLVMTypeRef first, unsigned n, LLVMMetadataRef *ret_scope)
{
	LLVMMetadataRef di[CALLBACK_PARAMS + 1] = {ir->di_int};
	LLVMTypeRef types[CALLBACK_PARAMS];
	LLVMValueRef fn;

	for (unsigned i = 0; i < n; i++) {
		types[i] = i ? ir->ptr : first;
		di[i + 1] = types[i] == ir->ptr ? ir->di_ptr : ir->di_u64;
	}
	fn = LLVMAddFunction(ir->m, name, LLVMFunctionType(ir->i32, types, n, 0));
	LLVMSetLinkage(fn, LLVMInternalLinkage);
	LLVMSetSection(fn, ".text");
	set_nounwind(ir, fn);
	*ret_scope = subprogram(ir, name, di, n + 1, SUBPROGRAM_STATIC, 1);
	LLVMSetSubprogram(fn, *ret_scope);
	for (unsigned i = 0; i < n; i++)
		name_param(ir, *ret_scope, params[i], i + 1, 1, di[i + 1]);
	return fn;
}

struct ir *ir_callback_zero(struct ir_builder *ir)
{
	static const char *const names[] = {"map", "key", "value", "ctx"};
	LLVMBasicBlockRef here = LLVMGetInsertBlock(ir->b);
	LLVMMetadataRef scope;

	if (ir->zero_callback)
		return IR(ir->zero_callback);
	ir->zero_callback = callback(ir, "count_element", names, ir->ptr, 4, &scope);
	LLVMSetCurrentDebugLocation2(ir->b, NULL);
	LLVMPositionBuilderAtEnd(ir->b,
		LLVMAppendBasicBlockInContext(ir->c, ir->zero_callback, "entry"));
	LLVMBuildRet(ir->b, LLVMConstInt(ir->i32, 0, 0));
	LLVMPositionBuilderAtEnd(ir->b, here);
	return IR(ir->zero_callback);
}

struct ir_outer {
	LLVMValueRef fn;
	LLVMMetadataRef fn_scope, location;
	LLVMBasicBlockRef entry, here;
};

static struct ir_outer *callback_begin(struct ir_builder *ir, const char *name,
	const char *const *names, unsigned n, LLVMTypeRef first)
{
	struct ir_outer *outer = malloc(sizeof(*outer));

	if (!outer)
		out_of_memory();
	*outer = (struct ir_outer){ir->fn, ir->fn_scope, LLVMGetCurrentDebugLocation2(ir->b),
		ir->entry, LLVMGetInsertBlock(ir->b)};
	ir->fn = callback(ir, name, names, first, n, &ir->fn_scope);
	ir->entry = LLVMAppendBasicBlockInContext(ir->c, ir->fn, "entry");
	LLVMPositionBuilderAtEnd(ir->b, LLVMAppendBasicBlockInContext(ir->c, ir->fn, "start"));
	ir_line(ir, LLVMDISubprogramGetLine(outer->fn_scope), 1);
	return outer;
}

struct ir_outer *ir_body_begin(struct ir_builder *ir, const char *name)
{
	static const char *const names[] = {"round", "frame"};

	return callback_begin(ir, name, names, 2, ir->i64);
}

struct ir_outer *ir_each_begin(struct ir_builder *ir, const char *name)
{
	static const char *const names[] = {"map", "key", "value", "frame"};

	return callback_begin(ir, name, names, 4, ir->ptr);
}

struct ir *ir_body_end(struct ir_builder *ir, struct ir_outer *outer)
{
	LLVMValueRef body = ir->fn;

	ir_prog_end(ir);
	ir->fn = outer->fn;
	ir->fn_scope = outer->fn_scope;
	ir->entry = outer->entry;
	LLVMPositionBuilderAtEnd(ir->b, outer->here);
	LLVMSetCurrentDebugLocation2(ir->b, outer->location);
	free(outer);
	return IR(body);
}

void ir_line(struct ir_builder *ir, unsigned line, unsigned col)
{
	LLVMSetCurrentDebugLocation2(ir->b,
		LLVMDIBuilderCreateDebugLocation(ir->c, line, col, ir->fn_scope, NULL));
}

/* ---- blocks ------------------------------------------------------------- */

struct ir_block *ir_block(struct ir_builder *ir, const char *name)
{
	return (struct ir_block *)LLVMAppendBasicBlockInContext(ir->c, ir->fn, name);
}

void ir_at(struct ir_builder *ir, struct ir_block *b)
{
	LLVMMoveBasicBlockAfter(BB(b), LLVMGetLastBasicBlock(ir->fn));
	LLVMPositionBuilderAtEnd(ir->b, BB(b));
}

bool ir_ended(struct ir_builder *ir)
{
	return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(ir->b)) != NULL;
}

void ir_jump(struct ir_builder *ir, struct ir_block *to)
{
	if (!ir_ended(ir))
		LLVMBuildBr(ir->b, BB(to));
}

void ir_branch(struct ir_builder *ir, struct ir *cond, struct ir_block *yes, struct ir_block *no)
{
	LLVMValueRef zero = LLVMConstInt(ir->i64, 0, 0);

	LLVMBuildCondBr(ir->b, LLVMBuildICmp(ir->b, LLVMIntNE, V(cond), zero, ""), BB(yes),
		BB(no));
}

void ir_return(struct ir_builder *ir, struct ir *value)
{
	LLVMBuildRet(ir->b, LLVMBuildTrunc(ir->b, V(value), ir->i32, ""));
}

/* ---- values ------------------------------------------------------------- */

struct ir *ir_int(struct ir_builder *ir, uint64_t v)
{
	return IR(LLVMConstInt(ir->i64, v, 0));
}

struct ir *ir_binary(struct ir_builder *ir, enum ir_op op, struct ir *a, struct ir *b)
{
	static const LLVMOpcode ops[] = {
		[IR_ADD] = LLVMAdd, [IR_SUB] = LLVMSub, [IR_MUL] = LLVMMul,
		[IR_UDIV] = LLVMUDiv, [IR_SDIV] = LLVMSDiv, [IR_UMOD] = LLVMURem,
		[IR_SMOD] = LLVMSRem, [IR_AND] = LLVMAnd, [IR_OR] = LLVMOr,
		[IR_XOR] = LLVMXor, [IR_SHL] = LLVMShl, [IR_LSHR] = LLVMLShr,
		[IR_ASHR] = LLVMAShr,
	};

	return IR(LLVMBuildBinOp(ir->b, ops[op], V(a), V(b), ""));
}

struct ir *ir_compare(struct ir_builder *ir, enum ir_cmp op, struct ir *a, struct ir *b)
{
	static const LLVMIntPredicate ops[] = {
		[IR_EQ] = LLVMIntEQ, [IR_NE] = LLVMIntNE, [IR_ULT] = LLVMIntULT,
		[IR_ULE] = LLVMIntULE, [IR_UGT] = LLVMIntUGT, [IR_UGE] = LLVMIntUGE,
		[IR_SLT] = LLVMIntSLT, [IR_SLE] = LLVMIntSLE, [IR_SGT] = LLVMIntSGT,
		[IR_SGE] = LLVMIntSGE,
	};

	return IR(LLVMBuildZExt(ir->b, LLVMBuildICmp(ir->b, ops[op], V(a), V(b), ""), ir->i64,
		""));
}

bool ir_is_const(struct ir *v, int64_t *ret)
{
	if (!LLVMIsAConstantInt(V(v)))
		return false;
	*ret = LLVMConstIntGetSExtValue(V(v));
	return true;
}

struct ir *ir_address(struct ir_builder *ir, struct ir *ptr)
{
	return IR(LLVMBuildPtrToInt(ir->b, V(ptr), ir->i64, ""));
}

struct ir *ir_is_null(struct ir_builder *ir, struct ir *ptr)
{
	return IR(LLVMBuildZExt(ir->b, LLVMBuildIsNull(ir->b, V(ptr), ""), ir->i64, ""));
}

struct ir *ir_select(struct ir_builder *ir, struct ir *cond, struct ir *yes, struct ir *no)
{
	LLVMValueRef zero = LLVMConstInt(ir->i64, 0, 0);

	return IR(LLVMBuildSelect(ir->b, LLVMBuildICmp(ir->b, LLVMIntNE, V(cond), zero, ""),
		V(yes), V(no), ""));
}

static LLVMTypeRef int_of(struct ir_builder *ir, uint32_t size)
{
	switch (size) {
	case 1:
		return ir->i8;
	case 2:
		return ir->i16;
	case 4:
		return ir->i32;
	case 8:
		return ir->i64;
	}
	assert(!"integer size");
	return NULL;
}

static LLVMValueRef extend(struct ir_builder *ir, LLVMValueRef v, bool is_signed)
{
	return is_signed ? LLVMBuildSExt(ir->b, v, ir->i64, "") :
			   LLVMBuildZExt(ir->b, v, ir->i64, "");
}

struct ir_block *ir_here(struct ir_builder *ir)
{
	return (struct ir_block *)LLVMGetInsertBlock(ir->b);
}

struct ir *ir_phi(struct ir_builder *ir, struct ir *a, struct ir_block *from_a, struct ir *b,
	struct ir_block *from_b)
{
	LLVMValueRef values[] = {V(a), V(b)}, phi = LLVMBuildPhi(ir->b, LLVMTypeOf(V(a)), "");
	LLVMBasicBlockRef blocks[] = {BB(from_a), BB(from_b)};

	LLVMAddIncoming(phi, values, blocks, 2);
	return IR(phi);
}

struct ir *ir_opaque(struct ir_builder *ir, struct ir *v)
{
	LLVMValueRef value = V(v), nothing;
	LLVMTypeRef type = LLVMFunctionType(ir->i64, &ir->i64, 1, 0);

	nothing = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
	return IR(LLVMBuildCall2(ir->b, type, nothing, &value, 1, ""));
}

struct ir *ir_resize(struct ir_builder *ir, struct ir *v, uint32_t size, bool is_signed)
{
	if (size == 8)
		return v;
	return IR(extend(ir, LLVMBuildTrunc(ir->b, V(v), int_of(ir, size), ""), is_signed));
}

/* ---- memory ------------------------------------------------------------- */

static struct ir *alloca_of(struct ir_builder *ir, LLVMTypeRef type)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(ir->b);
	LLVMValueRef v;

	LLVMPositionBuilderAtEnd(ir->b, ir->entry);
	v = LLVMBuildAlloca(ir->b, type, "");
	LLVMSetAlignment(v, 8);
	LLVMPositionBuilderAtEnd(ir->b, here);
	return IR(v);
}

struct ir *ir_alloca(struct ir_builder *ir, uint32_t size)
{
	return alloca_of(ir, LLVMArrayType(ir->i64, (size + 7) / 8));
}

struct ir *ir_alloca_ptr(struct ir_builder *ir)
{
	return alloca_of(ir, ir->ptr);
}

struct ir *ir_get_ptr(struct ir_builder *ir, struct ir *slot)
{
	return IR(LLVMBuildLoad2(ir->b, ir->ptr, V(slot), ""));
}

void ir_set_ptr(struct ir_builder *ir, struct ir *slot, struct ir *ptr)
{
	LLVMBuildStore(ir->b, V(ptr), V(slot));
}

struct ir *ir_index(struct ir_builder *ir, struct ir *base, struct ir *offset)
{
	LLVMValueRef at = V(offset);

	return IR(LLVMBuildGEP2(ir->b, ir->i8, V(base), &at, 1, ""));
}

struct ir *ir_offset(struct ir_builder *ir, struct ir *base, uint64_t offset)
{
	return offset ? ir_index(ir, base, ir_int(ir, offset)) : base;
}

struct ir *ir_load(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	bool is_signed)
{
	LLVMValueRef v = LLVMBuildLoad2(ir->b, int_of(ir, size), V(ir_offset(ir, base, offset)),
		"");

	/* Volatile, since the verifier may refuse an access to the context or to a map's value that LLVM
	 * has narrowed, merged or speculated. */
	if (!LLVMIsAAllocaInst(V(base)))
		LLVMSetVolatile(v, 1);
	LLVMSetAlignment(v, size);
	return size == 8 ? IR(v) : IR(extend(ir, v, is_signed));
}

/* An assembler text, since the verifier only allows loads from the unchanged context pointer plus a
 * constant. For ordinary loads, LLVM computes a common address, or merges two loads. */
struct ir *ir_load_ctx(struct ir_builder *ir, struct ir *ctx, uint32_t offset, uint32_t size,
	bool is_signed)
{
	LLVMValueRef value = V(ctx), load;
	LLVMTypeRef from = LLVMTypeOf(value), type = LLVMFunctionType(ir->i64, &from, 1, 0);
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "$0 = *(u%u *)($1 + %u)", 8 * size, offset);
	load = LLVMGetInlineAsm(type, text, len, "=r,r", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
	load = LLVMBuildCall2(ir->b, type, load, &value, 1, "");
	return ir_resize(ir, IR(load), size, is_signed);
}

struct ir *ir_hole(struct ir_builder *ir, uint64_t marked)
{
	LLVMTypeRef type = LLVMFunctionType(ir->i64, NULL, 0, 0);
	char text[48];
	int len = snprintf(text, sizeof(text), "$0 = %" PRId64 " ll", (int64_t)marked);
	LLVMValueRef load = LLVMGetInlineAsm(type, text, len, "=r", 2, 0, 0, LLVMInlineAsmDialectATT, 0);

	return IR(LLVMBuildCall2(ir->b, type, load, NULL, 0, ""));
}

void ir_store(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	struct ir *value)
{
	LLVMValueRef v = V(value);

	if (size != 8)
		v = LLVMBuildTrunc(ir->b, v, int_of(ir, size), "");
	v = LLVMBuildStore(ir->b, v, V(ir_offset(ir, base, offset)));
	LLVMSetAlignment(v, size);
}

void ir_atomic_add(struct ir_builder *ir, struct ir *ptr, struct ir *v)
{
	LLVMBuildAtomicRMW(ir->b, LLVMAtomicRMWBinOpAdd, V(ptr), V(v),
		LLVMAtomicOrderingMonotonic, 0);
}

/* ---- calls -------------------------------------------------------------- */

enum { ARGS_MAX = 8 };

static LLVMValueRef call_helper(struct ir_builder *ir, LLVMTypeRef ret, unsigned helper,
	struct ir *const *args, unsigned n)
{
	LLVMTypeRef types[ARGS_MAX];
	LLVMValueRef values[ARGS_MAX];
	LLVMValueRef fn = LLVMConstIntToPtr(LLVMConstInt(ir->i64, helper, 0), ir->ptr);

	assert(n <= ARGS_MAX);
	for (unsigned i = 0; i < n; i++) {
		values[i] = V(args[i]);
		types[i] = LLVMTypeOf(values[i]);
	}
	return LLVMBuildCall2(ir->b, LLVMFunctionType(ret, types, n, 0), fn, values, n, "");
}

struct ir *ir_helper(struct ir_builder *ir, unsigned helper, struct ir *const *args, unsigned n)
{
	return IR(call_helper(ir, ir->i64, helper, args, n));
}

struct ir *ir_helper_ptr(struct ir_builder *ir, unsigned helper, struct ir *const *args, unsigned n)
{
	return IR(call_helper(ir, ir->ptr, helper, args, n));
}

/* Returns the type of a parameter, as in the library's C source. A struct only has a name and a size, which
 * is enough for the linker to match the BTF of declaration and definition. */
static LLVMMetadataRef di_param(struct ir_builder *ir, const char *param, uint32_t size)
{
	LLVMMetadataRef st;

	if (!strcmp(param, "int"))
		return ir->di_int;
	if (!strcmp(param, "u64"))
		return ir->di_u64;
	st = LLVMDIBuilderCreateStructType(ir->di, ir->file, param, strlen(param), ir->file, 1,
		(uint64_t)size * 8, 64, LLVMDIFlagZero, NULL, NULL, 0, 0, NULL, "", 0);
	return LLVMDIBuilderCreatePointerType(ir->di, st, 64, 0, 0, "", 0);
}

/* Declares a function that returns an int or a u64. */
static struct named *library_function(struct ir_builder *ir, const char *name,
	const char *const *params, const uint32_t *sizes, unsigned n, bool is_u64)
{
	LLVMTypeRef types[ARGS_MAX];
	LLVMMetadataRef di[ARGS_MAX + 1] = {is_u64 ? ir->di_u64 : ir->di_int};
	struct named *f;

	for (unsigned i = 0; i < ir->nlibrary; i++)
		if (!strcmp(ir->library[i].name, name))
			return &ir->library[i];
	assert(ir->nlibrary < LIBRARY_MAX && n <= ARGS_MAX);
	f = &ir->library[ir->nlibrary++];
	for (unsigned i = 0; i < n; i++) {
		di[i + 1] = di_param(ir, params[i], sizes ? sizes[i] : 0);
		types[i] = !strcmp(params[i], "int") ? ir->i32 :
			   !strcmp(params[i], "u64") ? ir->i64 : ir->ptr;
	}
	f->name = strdup(name);
	f->type = LLVMFunctionType(is_u64 ? ir->i64 : ir->i32, types, n, 0);
	f->value = LLVMAddFunction(ir->m, name, f->type);
	set_nounwind(ir, f->value);
	LLVMSetSubprogram(f->value, subprogram(ir, name, di, n + 1, SUBPROGRAM_DECLARED, 1));
	return f;
}

struct ir *ir_library(struct ir_builder *ir, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n)
{
	struct named *f = library_function(ir, name, params, sizes, n, false);
	LLVMValueRef values[ARGS_MAX];

	for (unsigned i = 0; i < n; i++) {
		values[i] = V(args[i]);
		if (!strcmp(params[i], "int"))
			values[i] = LLVMBuildTrunc(ir->b, values[i], ir->i32, "");
	}
	return IR(extend(ir, LLVMBuildCall2(ir->b, f->type, f->value, values, n, ""), true));
}

struct ir *ir_extern(struct ir_builder *ir, const char *name, struct ir *const *args, unsigned n)
{
	static const char *const params[ARGS_MAX] = {"u64", "u64", "u64", "u64", "u64", "u64", "u64", "u64"};
	struct named *f = library_function(ir, name, params, NULL, n, true);
	LLVMValueRef values[ARGS_MAX];

	for (unsigned i = 0; i < n; i++) {
		values[i] = V(args[i]);
		if (LLVMGetTypeKind(LLVMTypeOf(values[i])) == LLVMPointerTypeKind)
			values[i] = LLVMBuildPtrToInt(ir->b, values[i], ir->i64, "");
	}
	return IR(LLVMBuildCall2(ir->b, f->type, f->value, values, n, ""));
}

struct ir *ir_library_u64(struct ir_builder *ir, const char *name)
{
	struct named *f = library_function(ir, name, NULL, NULL, 0, true);

	return IR(LLVMBuildCall2(ir->b, f->type, f->value, NULL, 0, ""));
}

static void set_noinline(struct ir_builder *ir, LLVMValueRef fn)
{
	unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", 8);

	LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ir->c, noinline, 0));
}

struct ir *ir_call_body(struct ir_builder *ir, struct ir *body, struct ir *frame)
{
	LLVMTypeRef types[] = {ir->i64, ir->ptr};
	LLVMValueRef args[] = {LLVMConstInt(ir->i64, 0, 0), V(frame)};

	set_noinline(ir, V(body));
	return IR(extend(ir, LLVMBuildCall2(ir->b, LLVMFunctionType(ir->i32, types, 2, 0), V(body), args, 2, ""),
		true));
}

/* The called program returns to the caller of this function, instead of this function. */
static LLVMValueRef hand_over_function(struct ir_builder *ir, const char *name, struct ir *map)
{
	static const char *const params[] = {"ctx"};
	LLVMBasicBlockRef here = LLVMGetInsertBlock(ir->b);
	LLVMMetadataRef scope, location = LLVMGetCurrentDebugLocation2(ir->b);
	LLVMValueRef fn = callback(ir, name, params, ir->ptr, 1, &scope);
	struct ir *args[] = {IR(LLVMGetParam(fn, 0)), map, ir_int(ir, 0)};

	set_noinline(ir, fn);
	LLVMSetCurrentDebugLocation2(ir->b, LLVMDIBuilderCreateDebugLocation(ir->c, 1, 1, scope, NULL));
	LLVMPositionBuilderAtEnd(ir->b, LLVMAppendBasicBlockInContext(ir->c, fn, "entry"));
	ir_return(ir, ir_helper(ir, BPF_FUNC_tail_call, args, 3));
	LLVMPositionBuilderAtEnd(ir->b, here);
	LLVMSetCurrentDebugLocation2(ir->b, location);
	return fn;
}

void ir_hand_over(struct ir_builder *ir, const char *name, struct ir *ctx, struct ir *map)
{
	LLVMValueRef fn = LLVMGetNamedFunction(ir->m, name), arg = V(ctx);
	LLVMTypeRef type = LLVMFunctionType(ir->i32, &ir->ptr, 1, 0);

	if (!fn)
		fn = hand_over_function(ir, name, map);
	LLVMBuildCall2(ir->b, type, fn, &arg, 1, "");
}

/* The type is the same as in C, since the linker compares the types: [const] volatile __u32. */
static LLVMMetadataRef di_value(struct ir_builder *ir, uint32_t size, bool is_const)
{
	enum { DW_TAG_const_type = 0x26, DW_TAG_volatile_type = 0x35 };
	LLVMMetadataRef t = LLVMDIBuilderCreateTypedef(ir->di, size == 8 ? ir->di_u64 : ir->di_u32,
		size == 8 ? "__u64" : "__u32", 5, ir->file, 1, ir->unit, 0);

	t = LLVMDIBuilderCreateQualifiedType(ir->di, DW_TAG_volatile_type, t);
	return is_const ? LLVMDIBuilderCreateQualifiedType(ir->di, DW_TAG_const_type, t) : t;
}

struct ir *ir_library_value(struct ir_builder *ir, const char *name, uint32_t size, const char *section)
{
	LLVMValueRef load, v = LLVMGetNamedGlobal(ir->m, name);
	LLVMTypeRef type = size == 8 ? ir->i64 : ir->i32;
	LLVMMetadataRef gv;

	if (!v) {
		v = LLVMAddGlobal(ir->m, type, name);
		LLVMSetSection(v, section);
		LLVMSetAlignment(v, size);
		gv = LLVMDIBuilderCreateGlobalVariableExpression(ir->di, ir->unit, name, strlen(name), "", 0,
			ir->file, 1, di_value(ir, size, !strcmp(section, ".rodata")), 0,
			LLVMDIBuilderCreateExpression(ir->di, NULL, 0), NULL, 0);
		LLVMGlobalSetMetadata(v, LLVMGetMDKindIDInContext(ir->c, "dbg", 3), gv);
	}
	load = LLVMBuildLoad2(ir->b, type, v, "");
	LLVMSetVolatile(load, 1);
	return IR(LLVMBuildZExt(ir->b, load, ir->i64, ""));
}
