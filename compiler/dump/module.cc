#include "compiler/dump/module.h"

#include "compiler/spmd/spmd.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

mlir::OwningOpRef<mlir::ModuleOp> WriteModule(mlir::MLIRContext* context,
                                              const Compilation& compilation) {
  context->loadDialect<YubaDialect>();
  mlir::OpBuilder builder(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  const Model& model = compilation.model;
  const search::Plan& plan = compilation.plan;
  const bool planned = !plan.tensors.empty() && plan.tensors.size() == model.graph.tensors.size();
  WriteGraph(builder, model, planned ? &plan : nullptr);
  if (compilation.program.stages_size() > 0) WriteProgram(builder, compilation.program);
  return module;
}

absl::Status ReadModule(mlir::ModuleOp module, Compilation& compilation) {
  bool graph = false, program = false;
  compilation.program.Clear();
  for (mlir::Operation& op : *module.getBody()) {
    if (auto graph_op = llvm::dyn_cast<GraphOp>(op)) {
      if (graph) return UserError("the module has a second yuba.graph");
      graph = true;
      YUBA_RETURN_IF_ERROR(ReadGraph(graph_op, compilation.model, compilation.plan));
    } else if (auto program_op = llvm::dyn_cast<ProgramOp>(op)) {
      if (program) return UserError("the module has a second yuba.program");
      program = true;
      YUBA_ASSIGN_OR_RETURN(compilation.program, ReadProgram(program_op));
    } else {
      return UserError("the module has an operation that is neither yuba.graph nor yuba.program");
    }
  }
  if (!graph) return UserError("the module has no yuba.graph");
  if (program) SetInitialValues(compilation.model, compilation.program);
  return absl::OkStatus();
}

std::string PlaceOf(mlir::Location location, const std::string& file) {
  const auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!place) return file;
  return absl::StrCat(View(place.getFilename().getValue()), ":", place.getLine(), ":",
                      place.getColumn());
}

StatePlaces PlacesOf(mlir::ModuleOp module, const std::string& file) {
  StatePlaces places;
  const auto add = [&](int64_t id, mlir::Operation* op) {
    if (id >= static_cast<int64_t>(places.tensors.size())) places.tensors.resize(id + 1);
    places.tensors[id] = PlaceOf(op->getLoc(), file);
  };
  module.walk([&](mlir::Operation* op) {
    if (llvm::isa<GraphOp>(op)) places.graph = PlaceOf(op->getLoc(), file);
    if (llvm::isa<ProgramOp>(op)) places.program = PlaceOf(op->getLoc(), file);
    if (auto tensor = llvm::dyn_cast<TensorOp>(op)) add(tensor.getId(), op);
    if (auto node = llvm::dyn_cast<DefinitionOp>(op)) add(node.getId(), op);
  });
  return places;
}

}  // namespace yuba::compiler
