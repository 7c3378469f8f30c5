// SPDX-License-Identifier: Apache-2.0
/* llvm.c - emit.h by LLVM's C API (18 to 21). Maps, and what comes after the last program, are in
 * llvm_out.c; no other file knows LLVM.
 *
 * Three conditions of BPF on what is made here: every function, externs too, has a
 * debug-info subprogram (hence BTF: bpf_linker joins by it); every function is
 * nounwind (else LLVM writes .eh_frame, which the linker refuses); every parameter
 * is named and preserved (else the verifier refuses the BTF of bpf_loop's users). */
#include "llvm.h"

#include <assert.h>
#include <errno.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"

/* ---- the module --------------------------------------------------------- */

static void add_flag(struct emit *e, const char *name, uint64_t v)
{
	LLVMAddModuleFlag(e->m, LLVMModuleFlagBehaviorWarning, name, strlen(name),
		LLVMValueAsMetadata(LLVMConstInt(e->i32, v, 0)));
}

static LLVMMetadataRef di_basic(struct emit *e, const char *name, unsigned bits, unsigned enc)
{
	return LLVMDIBuilderCreateBasicType(e->di, name, strlen(name), bits, enc,
		LLVMDIFlagZero);
}

static void init_types(struct emit *e)
{
	enum { DW_ATE_signed = 5, DW_ATE_unsigned = 7 };

	e->i8 = LLVMInt8TypeInContext(e->c);
	e->i16 = LLVMInt16TypeInContext(e->c);
	e->i32 = LLVMInt32TypeInContext(e->c);
	e->i64 = LLVMInt64TypeInContext(e->c);
	e->ptr = LLVMPointerTypeInContext(e->c, 0);
	e->di_int = di_basic(e, "int", 32, DW_ATE_signed);
	e->di_u32 = di_basic(e, "unsigned int", 32, DW_ATE_unsigned);
	e->di_u64 = di_basic(e, "unsigned long long", 64, DW_ATE_unsigned);
	e->di_ptr = LLVMDIBuilderCreatePointerType(e->di, NULL, 64, 0, 0, "", 0);
}

/* LLVM would end the process where a function needs too much stack. Its words for that:
 * "FILE:LINE:COL: in function NAME TYPE: Looks like the BPF stack limit is exceeded". */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
	static const char before[] = "in function ";
	struct emit *e = arg;
	char *text, *name;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || e->refused)
		return;
	text = LLVMGetDiagInfoDescription(info);
	name = strstr(text, before);
	name = name ? name + strlen(before) : text;
	e->refused = strndup(name, strcspn(name, " "));
	LLVMDisposeMessage(text);
}

/* LLVM would abort(). What a script can bring about is refused before: this is the net. */
static void on_fatal_error(const char *why)
{
	fprintf(stderr, "error: LLVM cannot compile this script: %s\n"
			"hint: please report this, with the script\n", why);
	exit(1);
}

/* Blocks stay in the order they are made in, a loop's head before what it repeats: Linux 6.1
 * refuses a loop that is closed by running on into its head, not by a jump. Instructions, too:
 * the usual scheduler's time grows with the square of a block's length. */
static void init_library(void)
{
	static const char *const options[] = { "strata", "-disable-block-placement", "-disable-branch-fold",
		"-pre-RA-sched=source" };
	static bool done;

	if (done)
		return;
	LLVMParseCommandLineOptions(ARRAY_SIZE(options), options, NULL);
	LLVMInstallFatalErrorHandler(on_fatal_error);
	done = true;
}

static bool init_machine(struct emit *e)
{
	LLVMTargetRef target;
	char *why = NULL;

	init_library();
	LLVMInitializeBPFTargetInfo();
	LLVMInitializeBPFTarget();
	LLVMInitializeBPFTargetMC();
	LLVMInitializeBPFAsmPrinter();
	LLVMInitializeBPFAsmParser();
	if (LLVMGetTargetFromTriple("bpfel", &target, &why)) {
		fprintf(stderr, "strata: LLVM has no BPF target: %s\n", why);
		LLVMDisposeMessage(why);
		return false;
	}
	e->machine = LLVMCreateTargetMachine(target, "bpfel", "v3", "",
		LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
	return e->machine != NULL;
}

struct emit *emit_new(const char *source_name)
{
	struct emit *e = calloc(1, sizeof(*e));
	LLVMTargetDataRef layout;

	assert(e);
	e->c = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(e->c, on_diagnostic, e);
	e->m = LLVMModuleCreateWithNameInContext(source_name, e->c);
	e->b = LLVMCreateBuilderInContext(e->c);
	e->di = LLVMCreateDIBuilder(e->m);
	if (!init_machine(e)) {
		emit_free(e);
		return NULL;
	}
	LLVMSetTarget(e->m, "bpfel");
	layout = LLVMCreateTargetDataLayout(e->machine);
	LLVMSetModuleDataLayout(e->m, layout);
	LLVMDisposeTargetData(layout);
	e->file = LLVMDIBuilderCreateFile(e->di, source_name, strlen(source_name), ".", 1);
	e->unit = LLVMDIBuilderCreateCompileUnit(e->di, LLVMDWARFSourceLanguageC99, e->file,
		"strata", 6, 1, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, 0, 0, "", 0, "", 0);
	init_types(e);
	add_flag(e, "Debug Info Version", LLVMDebugMetadataVersion());
	add_flag(e, "Dwarf Version", 5);
	return e;
}

void emit_free(struct emit *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < e->nlibrary; i++)
		free(e->library[i].name);
	for (size_t i = 0; i < e->maps.len; i++)
		free(e->maps.data[i].name);
	vec_done(&e->maps);
	vec_done(&e->map_types);
	free(e->refused);
	if (e->di)
		LLVMDisposeDIBuilder(e->di);
	LLVMDisposeBuilder(e->b);
	LLVMDisposeModule(e->m);
	if (e->machine)
		LLVMDisposeTargetMachine(e->machine);
	LLVMContextDispose(e->c);
	free(e);
}

/* ---- functions ---------------------------------------------------------- */

static void set_nounwind(struct emit *e, LLVMValueRef fn)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);

	LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(e->c, kind, 0));
}

static LLVMMetadataRef subprogram(struct emit *e, const char *name, LLVMMetadataRef *types,
	unsigned n, bool local, bool definition, unsigned line)
{
	LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(e->di, e->file, types, n,
		LLVMDIFlagZero);
	LLVMMetadataRef sp = LLVMDIBuilderCreateFunction(e->di, e->file, name, strlen(name),
		name, strlen(name), e->file, line, type, local, definition, line,
		LLVMDIFlagPrototyped, 1);

	if (!definition)
		LLVMDIBuilderFinalizeSubprogram(e->di, sp);
	return sp;
}

/* An always-preserved variable is what names the FUNC_PROTO's parameter in BTF. */
static void name_param(struct emit *e, LLVMMetadataRef sp, const char *name, unsigned i,
	unsigned line, LLVMMetadataRef type)
{
	LLVMDIBuilderCreateParameterVariable(e->di, sp, name, strlen(name), i, e->file, line,
		type, 1, LLVMDIFlagZero);
}

void emit_prog_begin(struct emit *e, const char *name, const char *section, unsigned line)
{
	LLVMTypeRef type = LLVMFunctionType(e->i32, &e->ptr, 1, 0);
	LLVMMetadataRef types[] = {e->di_int, e->di_ptr};

	e->fn = LLVMAddFunction(e->m, name, type);
	LLVMSetSection(e->fn, section);
	set_nounwind(e, e->fn);
	e->fn_scope = subprogram(e, name, types, 2, false, true, line);
	LLVMSetSubprogram(e->fn, e->fn_scope);
	name_param(e, e->fn_scope, "ctx", 1, line, e->di_ptr);
	e->entry = LLVMAppendBasicBlockInContext(e->c, e->fn, "entry");
	LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->c, e->fn, "start"));
	emit_line(e, line, 1);
}

struct ir *emit_param(struct emit *e, unsigned i)
{
	return IR(LLVMGetParam(e->fn, i));
}

void emit_prog_end(struct emit *e)
{
	assert(emit_ended(e));
	LLVMPositionBuilderAtEnd(e->b, e->entry);
	LLVMBuildBr(e->b, LLVMGetNextBasicBlock(e->entry));
	e->fn = NULL;
}

/* ---- callbacks ---------------------------------------------------------- */

enum { CALLBACK_PARAMS = 4 };

/* A static function of the program's file, whose parameters are numbers or pointers. */
static LLVMValueRef callback(struct emit *e, const char *name, const char *const *params,
	LLVMTypeRef first, unsigned n, LLVMMetadataRef *ret_scope)
{
	LLVMMetadataRef di[CALLBACK_PARAMS + 1] = {e->di_int};
	LLVMTypeRef types[CALLBACK_PARAMS];
	LLVMValueRef fn;

	for (unsigned i = 0; i < n; i++) {
		types[i] = i ? e->ptr : first;
		di[i + 1] = types[i] == e->ptr ? e->di_ptr : e->di_u64;
	}
	fn = LLVMAddFunction(e->m, name, LLVMFunctionType(e->i32, types, n, 0));
	LLVMSetLinkage(fn, LLVMInternalLinkage);
	LLVMSetSection(fn, ".text");
	set_nounwind(e, fn);
	*ret_scope = subprogram(e, name, di, n + 1, true, true, 1);
	LLVMSetSubprogram(fn, *ret_scope);
	for (unsigned i = 0; i < n; i++)
		name_param(e, *ret_scope, params[i], i + 1, 1, di[i + 1]);
	return fn;
}

struct ir *emit_callback_zero(struct emit *e)
{
	static const char *const names[] = {"map", "key", "value", "ctx"};
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
	LLVMMetadataRef scope;

	if (e->zero_callback)
		return IR(e->zero_callback);
	e->zero_callback = callback(e, "count_element", names, e->ptr, 4, &scope);
	LLVMSetCurrentDebugLocation2(e->b, NULL);
	LLVMPositionBuilderAtEnd(e->b,
		LLVMAppendBasicBlockInContext(e->c, e->zero_callback, "entry"));
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, 0, 0));
	LLVMPositionBuilderAtEnd(e->b, here);
	return IR(e->zero_callback);
}

struct emit_outer {
	LLVMValueRef fn;
	LLVMMetadataRef fn_scope, location;
	LLVMBasicBlockRef entry, here;
};

struct emit_outer *emit_body_begin(struct emit *e, const char *name)
{
	static const char *const names[] = {"round", "frame"};
	struct emit_outer *outer = malloc(sizeof(*outer));

	if (!outer)
		abort();
	*outer = (struct emit_outer){e->fn, e->fn_scope, LLVMGetCurrentDebugLocation2(e->b),
		e->entry, LLVMGetInsertBlock(e->b)};
	e->fn = callback(e, name, names, e->i64, 2, &e->fn_scope);
	e->entry = LLVMAppendBasicBlockInContext(e->c, e->fn, "entry");
	LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->c, e->fn, "start"));
	emit_line(e, LLVMDISubprogramGetLine(outer->fn_scope), 1);
	return outer;
}

struct ir *emit_body_end(struct emit *e, struct emit_outer *outer)
{
	LLVMValueRef body = e->fn;

	emit_prog_end(e);
	e->fn = outer->fn;
	e->fn_scope = outer->fn_scope;
	e->entry = outer->entry;
	LLVMPositionBuilderAtEnd(e->b, outer->here);
	LLVMSetCurrentDebugLocation2(e->b, outer->location);
	free(outer);
	return IR(body);
}

void emit_line(struct emit *e, unsigned line, unsigned col)
{
	LLVMSetCurrentDebugLocation2(e->b,
		LLVMDIBuilderCreateDebugLocation(e->c, line, col, e->fn_scope, NULL));
}

/* ---- blocks ------------------------------------------------------------- */

struct ir_block *emit_block(struct emit *e, const char *name)
{
	return (struct ir_block *)LLVMAppendBasicBlockInContext(e->c, e->fn, name);
}

void emit_at(struct emit *e, struct ir_block *b)
{
	LLVMMoveBasicBlockAfter(BB(b), LLVMGetLastBasicBlock(e->fn));
	LLVMPositionBuilderAtEnd(e->b, BB(b));
}

bool emit_ended(struct emit *e)
{
	return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(e->b)) != NULL;
}

void emit_jump(struct emit *e, struct ir_block *to)
{
	if (!emit_ended(e))
		LLVMBuildBr(e->b, BB(to));
}

void emit_branch(struct emit *e, struct ir *cond, struct ir_block *yes, struct ir_block *no)
{
	LLVMValueRef zero = LLVMConstInt(e->i64, 0, 0);

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, V(cond), zero, ""), BB(yes),
		BB(no));
}

void emit_return(struct emit *e, struct ir *value)
{
	LLVMBuildRet(e->b, LLVMBuildTrunc(e->b, V(value), e->i32, ""));
}

/* ---- values ------------------------------------------------------------- */

struct ir *emit_int(struct emit *e, uint64_t v)
{
	return IR(LLVMConstInt(e->i64, v, 0));
}

struct ir *emit_binary(struct emit *e, enum emit_op op, struct ir *a, struct ir *b)
{
	static const LLVMOpcode ops[] = {
		[EMIT_ADD] = LLVMAdd, [EMIT_SUB] = LLVMSub, [EMIT_MUL] = LLVMMul,
		[EMIT_UDIV] = LLVMUDiv, [EMIT_SDIV] = LLVMSDiv, [EMIT_UMOD] = LLVMURem,
		[EMIT_SMOD] = LLVMSRem, [EMIT_AND] = LLVMAnd, [EMIT_OR] = LLVMOr,
		[EMIT_XOR] = LLVMXor, [EMIT_SHL] = LLVMShl, [EMIT_LSHR] = LLVMLShr,
		[EMIT_ASHR] = LLVMAShr,
	};

	return IR(LLVMBuildBinOp(e->b, ops[op], V(a), V(b), ""));
}

struct ir *emit_compare(struct emit *e, enum emit_cmp op, struct ir *a, struct ir *b)
{
	static const LLVMIntPredicate ops[] = {
		[EMIT_EQ] = LLVMIntEQ, [EMIT_NE] = LLVMIntNE, [EMIT_ULT] = LLVMIntULT,
		[EMIT_ULE] = LLVMIntULE, [EMIT_UGT] = LLVMIntUGT, [EMIT_UGE] = LLVMIntUGE,
		[EMIT_SLT] = LLVMIntSLT, [EMIT_SLE] = LLVMIntSLE, [EMIT_SGT] = LLVMIntSGT,
		[EMIT_SGE] = LLVMIntSGE,
	};

	return IR(LLVMBuildZExt(e->b, LLVMBuildICmp(e->b, ops[op], V(a), V(b), ""), e->i64,
		""));
}

struct ir *emit_is_null(struct emit *e, struct ir *ptr)
{
	return IR(LLVMBuildZExt(e->b, LLVMBuildIsNull(e->b, V(ptr), ""), e->i64, ""));
}

struct ir *emit_select(struct emit *e, struct ir *cond, struct ir *yes, struct ir *no)
{
	LLVMValueRef zero = LLVMConstInt(e->i64, 0, 0);

	return IR(LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntNE, V(cond), zero, ""),
		V(yes), V(no), ""));
}

static LLVMTypeRef int_of(struct emit *e, uint32_t size)
{
	switch (size) {
	case 1:
		return e->i8;
	case 2:
		return e->i16;
	case 4:
		return e->i32;
	case 8:
		return e->i64;
	}
	assert(!"integer size");
	return NULL;
}

static LLVMValueRef extend(struct emit *e, LLVMValueRef v, bool is_signed)
{
	return is_signed ? LLVMBuildSExt(e->b, v, e->i64, "") :
			   LLVMBuildZExt(e->b, v, e->i64, "");
}

struct ir_block *emit_here(struct emit *e)
{
	return (struct ir_block *)LLVMGetInsertBlock(e->b);
}

struct ir *emit_phi(struct emit *e, struct ir *a, struct ir_block *from_a, struct ir *b,
	struct ir_block *from_b)
{
	LLVMValueRef values[] = {V(a), V(b)}, phi = LLVMBuildPhi(e->b, LLVMTypeOf(V(a)), "");
	LLVMBasicBlockRef blocks[] = {BB(from_a), BB(from_b)};

	LLVMAddIncoming(phi, values, blocks, 2);
	return IR(phi);
}

struct ir *emit_opaque(struct emit *e, struct ir *v)
{
	LLVMValueRef value = V(v), nothing;
	LLVMTypeRef type = LLVMFunctionType(e->i64, &e->i64, 1, 0);

	nothing = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
	return IR(LLVMBuildCall2(e->b, type, nothing, &value, 1, ""));
}

struct ir *emit_resize(struct emit *e, struct ir *v, uint32_t size, bool is_signed)
{
	if (size == 8)
		return v;
	return IR(extend(e, LLVMBuildTrunc(e->b, V(v), int_of(e, size), ""), is_signed));
}

/* ---- memory ------------------------------------------------------------- */

static struct ir *alloca_of(struct emit *e, LLVMTypeRef type)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
	LLVMValueRef v;

	LLVMPositionBuilderAtEnd(e->b, e->entry);
	v = LLVMBuildAlloca(e->b, type, "");
	LLVMSetAlignment(v, 8);
	LLVMPositionBuilderAtEnd(e->b, here);
	return IR(v);
}

struct ir *emit_alloca(struct emit *e, uint32_t size)
{
	return alloca_of(e, LLVMArrayType(e->i64, (size + 7) / 8));
}

struct ir *emit_alloca_ptr(struct emit *e)
{
	return alloca_of(e, e->ptr);
}

struct ir *emit_get_ptr(struct emit *e, struct ir *room)
{
	return IR(LLVMBuildLoad2(e->b, e->ptr, V(room), ""));
}

void emit_set_ptr(struct emit *e, struct ir *room, struct ir *ptr)
{
	LLVMBuildStore(e->b, V(ptr), V(room));
}

struct ir *emit_index(struct emit *e, struct ir *base, struct ir *offset)
{
	LLVMValueRef at = V(offset);

	return IR(LLVMBuildGEP2(e->b, e->i8, V(base), &at, 1, ""));
}

struct ir *emit_offset(struct emit *e, struct ir *base, uint64_t offset)
{
	return offset ? emit_index(e, base, emit_int(e, offset)) : base;
}

struct ir *emit_load(struct emit *e, struct ir *base, uint64_t offset, uint32_t size,
	bool is_signed)
{
	LLVMValueRef v = LLVMBuildLoad2(e->b, int_of(e, size), V(emit_offset(e, base, offset)),
		"");

	/* Volatile: LLVM must not narrow, merge or speculate an access to the context
	 * or to a map's value: the verifier allows them only as they were written. */
	if (!LLVMIsAAllocaInst(V(base)))
		LLVMSetVolatile(v, 1);
	LLVMSetAlignment(v, size);
	return size == 8 ? IR(v) : IR(extend(e, v, is_signed));
}

/* LLVM would compute an address once for several loads, or make one load of two from different
 * memory; the verifier wants the context's pointer as it is, and a constant offset. */
struct ir *emit_load_ctx(struct emit *e, struct ir *ctx, uint32_t offset, uint32_t size,
	bool is_signed)
{
	LLVMTypeRef type = LLVMFunctionType(e->i64, &e->ptr, 1, 0);
	LLVMValueRef value = V(ctx), load;
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "$0 = *(u%u *)($1 + %u)", 8 * size, offset);
	load = LLVMGetInlineAsm(type, text, len, "=r,r", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
	load = LLVMBuildCall2(e->b, type, load, &value, 1, "");
	return emit_resize(e, IR(load), size, is_signed);
}

void emit_store(struct emit *e, struct ir *base, uint64_t offset, uint32_t size,
	struct ir *value)
{
	LLVMValueRef v = V(value);

	if (size != 8)
		v = LLVMBuildTrunc(e->b, v, int_of(e, size), "");
	v = LLVMBuildStore(e->b, v, V(emit_offset(e, base, offset)));
	LLVMSetAlignment(v, size);
}

void emit_atomic_add(struct emit *e, struct ir *ptr, struct ir *v)
{
	LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpAdd, V(ptr), V(v),
		LLVMAtomicOrderingMonotonic, 0);
}

struct ir *emit_zeros(struct emit *e, uint32_t size)
{
	LLVMTypeRef type = LLVMArrayType(e->i8, (size + 7) & ~7u);
	char name[32];
	LLVMValueRef v;

	snprintf(name, sizeof(name), "zeros_%u", e->nzeros++);
	v = LLVMAddGlobal(e->m, type, name);
	LLVMSetInitializer(v, LLVMConstNull(type));
	LLVMSetGlobalConstant(v, 1);
	LLVMSetLinkage(v, LLVMInternalLinkage);
	LLVMSetSection(v, ".rodata");
	LLVMSetAlignment(v, 8);
	return IR(v);
}

/* ---- calls -------------------------------------------------------------- */

enum { ARGS_MAX = 8 };

static LLVMValueRef call_helper(struct emit *e, LLVMTypeRef ret, unsigned helper,
	struct ir *const *args, unsigned n)
{
	LLVMTypeRef types[ARGS_MAX];
	LLVMValueRef values[ARGS_MAX];
	LLVMValueRef fn = LLVMConstIntToPtr(LLVMConstInt(e->i64, helper, 0), e->ptr);

	assert(n <= ARGS_MAX);
	for (unsigned i = 0; i < n; i++) {
		values[i] = V(args[i]);
		types[i] = LLVMTypeOf(values[i]);
	}
	return LLVMBuildCall2(e->b, LLVMFunctionType(ret, types, n, 0), fn, values, n, "");
}

struct ir *emit_helper(struct emit *e, unsigned helper, struct ir *const *args, unsigned n)
{
	return IR(call_helper(e, e->i64, helper, args, n));
}

struct ir *emit_helper_ptr(struct emit *e, unsigned helper, struct ir *const *args, unsigned n)
{
	return IR(call_helper(e, e->ptr, helper, args, n));
}

/* The parameters as the library's C has them; a struct only by name and size: BTF
 * of a declaration and of a definition are compared by the shape of the prototype. */
static LLVMMetadataRef di_param(struct emit *e, const char *param, uint32_t size)
{
	LLVMMetadataRef st;

	if (!strcmp(param, "int"))
		return e->di_int;
	if (!strcmp(param, "u64"))
		return e->di_u64;
	st = LLVMDIBuilderCreateStructType(e->di, e->file, param, strlen(param), e->file, 1,
		(uint64_t)size * 8, 64, LLVMDIFlagZero, NULL, NULL, 0, 0, NULL, "", 0);
	return LLVMDIBuilderCreatePointerType(e->di, st, 64, 0, 0, "", 0);
}

static struct named *library_function(struct emit *e, const char *name,
	const char *const *params, const uint32_t *sizes, unsigned n)
{
	LLVMTypeRef types[ARGS_MAX];
	LLVMMetadataRef di[ARGS_MAX + 1] = {e->di_int};
	struct named *f;

	for (unsigned i = 0; i < e->nlibrary; i++)
		if (!strcmp(e->library[i].name, name))
			return &e->library[i];
	assert(e->nlibrary < LIBRARY_MAX && n <= ARGS_MAX);
	f = &e->library[e->nlibrary++];
	for (unsigned i = 0; i < n; i++) {
		di[i + 1] = di_param(e, params[i], sizes ? sizes[i] : 0);
		types[i] = !strcmp(params[i], "int") ? e->i32 :
			   !strcmp(params[i], "u64") ? e->i64 : e->ptr;
	}
	f->name = strdup(name);
	f->type = LLVMFunctionType(e->i32, types, n, 0);
	f->value = LLVMAddFunction(e->m, name, f->type);
	set_nounwind(e, f->value);
	LLVMSetSubprogram(f->value, subprogram(e, name, di, n + 1, false, false, 1));
	return f;
}

struct ir *emit_library(struct emit *e, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n)
{
	struct named *f = library_function(e, name, params, sizes, n);
	LLVMValueRef values[ARGS_MAX];

	for (unsigned i = 0; i < n; i++) {
		values[i] = V(args[i]);
		if (!strcmp(params[i], "int"))
			values[i] = LLVMBuildTrunc(e->b, values[i], e->i32, "");
	}
	return IR(extend(e, LLVMBuildCall2(e->b, f->type, f->value, values, n, ""), true));
}
