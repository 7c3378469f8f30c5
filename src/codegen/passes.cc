// SPDX-License-Identifier: Apache-2.0
/* passes.cc - LLVM's passes over a script's functions.
 *
 * C++, since LLVM's C API runs passes only by their names. The parser of these names (PassBuilder) refers to every pass:
 * it brings a third of LLVM's code and of its constructors, which run at each start of strata. */
#include "passes.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>

void ir_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine)
{
	llvm::Module *m = llvm::unwrap(module);
	/* as LLVM's TargetMachineC.cpp unwraps it */
	llvm::TargetMachine *target = reinterpret_cast<llvm::TargetMachine *>(machine);
	llvm::legacy::FunctionPassManager passes(m);

	passes.add(llvm::createTargetTransformInfoWrapperPass(target->getTargetIRAnalysis()));
	passes.add(llvm::createSROAPass());
	passes.add(llvm::createEarlyCSEPass());
	passes.add(llvm::createInstructionCombiningPass());
	passes.add(llvm::createCFGSimplificationPass());
	passes.doInitialization();
	for (llvm::Function &f : *m)
		if (!f.isDeclaration())
			passes.run(f);
	passes.doFinalization();
}
