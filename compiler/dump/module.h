// A compilation's state as a module of the dialect, and back. Values of parameters are not in it.
#ifndef YUBA_COMPILER_DUMP_MODULE_H_
#define YUBA_COMPILER_DUMP_MODULE_H_

#include "absl/status/status.h"
#include "compiler/compilation.h"
#include "compiler/dump/dialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace yuba::compiler {

// A yuba.graph, with the plan where there is one, and a yuba.program where there is one.
mlir::OwningOpRef<mlir::ModuleOp> WriteModule(mlir::MLIRContext* context,
                                              const Compilation& compilation);

// Replaces model, plan and program by what the module says. Values stay those of equal tensor
// numbers.
absl::Status ReadModule(mlir::ModuleOp module, Compilation& compilation);

// The two halves, for the two above.
void WriteGraph(mlir::OpBuilder& builder, const Model& model, const search::Plan* plan);
void WriteProgram(mlir::OpBuilder& builder, const program::Program& program);
absl::Status ReadGraph(GraphOp op, Model& model, search::Plan& plan);
absl::StatusOr<program::Program> ReadProgram(ProgramOp op);

inline absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_MODULE_H_
