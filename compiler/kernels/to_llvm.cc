#include "compiler/kernels/to_llvm.h"

#include <deque>

#include "compiler/kernels/dump.h"
#include "compiler/kernels/loop_builder.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::kernels {
namespace {

void AddPasses(mlir::PassManager& passes) {
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
}

using Plans = std::vector<LoopPlan>;  // one for each definition of a kernel
using ThreadPlans = std::vector<ThreadPlan>;

absl::Status DumpLoops(mlir::ModuleOp module, absl::Span<const NamedKernel> kernels,
                       const std::vector<Plans>& plans, const std::vector<ThreadPlans>& threads,
                       const KernelTarget& target, const std::string& name) {
  std::string text;
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (size_t d = 0; d < kernels[k].definitions.size(); ++d) {
      const Definition& definition = *kernels[k].definitions[d].definition;
      text += "// " + kernels[k].symbol + ": " + ToString(definition) + "\n// " +
              ToString(plans[k][d], definition) + "\n";
    }
    if (!threads[k].empty()) text += "// " + ToString(threads[k], kernels[k]) + "\n";
  }
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream.flush();
  return Dump(target.dump_dir, name + ".mlir", text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::Module>> ToLlvm(absl::Span<const NamedKernel> kernels,
                                                     const KernelTarget& target,
                                                     const std::string& name,
                                                     llvm::LLVMContext& llvm_context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    problem += diagnostic.str() + "; ";
    return mlir::success();
  });

  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context), name);
  std::vector<Plans> plans;
  std::vector<ThreadPlans> threads;
  for (const NamedKernel& kernel : kernels) {
    std::deque<Definition> definitions;  // with equal terms shared, so that they are computed once
    NamedKernel shared = kernel;
    plans.emplace_back();
    const LoopOptions options = LoopOptionsFor(target);
    for (KernelDefinition& definition : shared.definitions) {
      definitions.push_back(*definition.definition);
      ShareTerms(definitions.back());
      definition.definition = &definitions.back();
      plans.back().push_back(PlanLoops(definitions.back(), options));
    }
    if (!shared.sections.empty()) {
      threads.emplace_back();
      if (target.facts->parallel) threads.back() = PlanSections(shared, plans.back(), target);
      BuildSections(*module, shared, plans.back(), target, threads.back());
    } else if (target.facts->parallel) {
      threads.push_back(PlanThreads(shared, plans.back(), target));
      for (size_t stage = 0; stage < threads.back().size(); ++stage) {
        shared.symbol = SymbolOf(kernel, static_cast<int>(stage));
        BuildKernel(*module, shared, plans.back(), target, &threads.back()[stage]);
      }
    } else {
      threads.emplace_back();
      BuildKernel(*module, shared, plans.back(), target, nullptr);
    }
    for (LoopPlan& plan : plans.back()) plan.inside.clear();  // it points into `definitions`
  }
  if (!target.dump_dir.empty()) {
    YUBA_RETURN_IF_ERROR(DumpLoops(*module, kernels, plans, threads, target, name));
  }
  mlir::PassManager passes(&context);
  AddPasses(passes);
  if (mlir::failed(mlir::verify(*module)) || mlir::failed(passes.run(*module)))
    return InternalError("kernel ", name, ": ", problem);
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(*module, llvm_context, name);
  if (result == nullptr) return InternalError("kernel ", name, ": ", problem);
  return result;
}

}  // namespace yuba::kernels
