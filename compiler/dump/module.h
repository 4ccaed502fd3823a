// A compilation's state as a module of the dialect, and back: the graph, the plan where there is
// one, and the program where there is one. The values of parameters are not in it (state.h keeps
// them beside the text), nor is the compile request.
#ifndef YUBA_COMPILER_DUMP_MODULE_H_
#define YUBA_COMPILER_DUMP_MODULE_H_

#include "absl/status/status.h"
#include "compiler/compilation.h"
#include "compiler/dump/dialect.h"
#include "compiler/dump/state.h"
#include "mlir/IR/OwningOpRef.h"

namespace yuba::compiler {

// A module with a yuba.graph, which has the plan if there is a plan for this graph, and a
// yuba.program if there is a program. The module belongs to the caller and lives in `context`.
mlir::OwningOpRef<mlir::ModuleOp> WriteModule(mlir::MLIRContext* context,
                                              const Compilation& compilation);

// Replaces graph, plan and program by those of the module; values in compilation.model stay with
// the tensor numbers that they have. Errors are of the user (InvalidArgument): a module changed by
// hand is checked, and one with a program also by program::CheckWellFormed.
absl::Status ReadModule(mlir::ModuleOp module, Compilation& compilation);

// "FILE:LINE:COLUMN"; `file` where the location has none. And the places of a module's operations.
std::string PlaceOf(mlir::Location location, const std::string& file);
StatePlaces PlacesOf(mlir::ModuleOp module, const std::string& file);

// The two halves of each function above. `plan` may be null; ReadGraph leaves an empty plan where
// the module has none.
void WriteGraph(mlir::OpBuilder& builder, const Model& model, const search::Plan* plan);
void WriteProgram(mlir::OpBuilder& builder, const program::Program& program);
absl::Status ReadGraph(GraphOp op, Model& model, search::Plan& plan);
absl::StatusOr<program::Program> ReadProgram(ProgramOp op);

inline absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_MODULE_H_
