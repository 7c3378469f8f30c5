/* SPDX-License-Identifier: Apache-2.0 */
/* llvm.h - shared by llvm.c and llvm_out.c; no other file uses LLVM. */
#pragma once
#include "ir.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#include "base/vec.h"

enum { LIBRARY_MAX = 320, DWARF_C99 = 12 };

struct named {
	char *name;
	LLVMValueRef value;
	LLVMTypeRef type;
};

/* Equal maps share a type, since LLVM goes through all names for each member of a new type. */
struct map_type {
	struct ir_map shape;
	LLVMMetadataRef type;
	unsigned n;
};

struct ir_builder {
	LLVMContextRef c;
	LLVMModuleRef m;
	LLVMBuilderRef b;
	LLVMDIBuilderRef di;
	LLVMMetadataRef file, unit;
	LLVMMetadataRef di_int, di_u64, di_u32, di_ptr;
	LLVMTypeRef i8, i16, i32, i64, ptr;
	LLVMValueRef fn, zero_callback;
	LLVMMetadataRef fn_scope;
	LLVMBasicBlockRef entry; /* only has allocas, until the end of the program */
	LLVMTargetMachineRef machine;
	struct named library[LIBRARY_MAX];
	unsigned nlibrary;
	VEC(struct named) maps;
	VEC(struct map_type) map_types;
	char *refused; /* function that LLVM could not compile */
	unsigned nzeros;
};

#define V(ir)  ((LLVMValueRef)(ir))
#define IR(v)  ((struct ir *)(v))
#define BB(b)  ((LLVMBasicBlockRef)(b))
