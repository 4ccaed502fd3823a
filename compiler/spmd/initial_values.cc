// SetInitialValues of spmd.h.
#include <vector>

#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/references.h"

namespace yuba::compiler {
namespace {

// [tensor]: whether box analysis knows its values (DataCondition::table).
std::vector<bool> KnownTensors(const Graph& graph) {
  std::vector<bool> known(graph.tensors.size(), false);
  for (const Node& node : graph.nodes) {
    for (const DataCondition& condition : node.definition->data_where) {
      if (condition.table == nullptr) continue;
      Walk(condition.value, [&](const Expr& expr) {
        if (expr.kind == Expr::kRead) known[SourceOf(graph, node.operands[expr.operand])] = true;
      });
    }
  }
  return known;
}

program::Draw MessageOf(const Draw& draw) {
  program::Draw message;
  message.set_distribution(draw.distribution == Draw::kNormal ? program::Draw::NORMAL
                                                              : program::Draw::UNIFORM);
  message.set_first(draw.first);
  message.set_second(draw.second);
  message.set_seed(draw.seed);
  return message;
}

void AddTie(const std::string& tied, const std::string& kept, bool transposed,
            program::Program& program) {
  if (tied == kept) return;
  program::Tie& tie = *program.add_ties();
  tie.set_tied(tied);
  tie.set_kept(kept);
  tie.set_transposed(transposed);
}

}  // namespace

void SetInitialValues(const Model& model, program::Program& program) {
  const std::vector<bool> known = KnownTensors(model.graph);
  program.clear_file_inputs();
  for (const std::string& name : model.file_inputs) program.add_file_inputs(name);
  program.clear_file_outputs();
  for (const std::string& name : model.file_outputs) program.add_file_outputs(name);
  program.clear_ties();
  for (const TiedWeights& tie : model.ties) AddTie(tie.tied, tie.kept, tie.transposed, program);
  // A tensor in another form than the user's program has it is also found by its name in the file
  // and, where it is all of one parameter or its transpose, by that one's.
  for (const auto& [name, form] : model.forms) {
    if (form.stored_as != name && form.stored_as != form.parameters[0])
      AddTie(form.stored_as, name, false, program);
    const bool transposed = form.kind == StoredForm::kTransposed;
    if (transposed || form.kind == StoredForm::kRenamed)
      AddTie(form.parameters[0], name, transposed, program);
  }
  program.clear_missing_parameters();
  for (const auto& [name, stored_as] : model.missing_parameters) {
    program::MissingParameter& missing = *program.add_missing_parameters();
    missing.set_name(name);
    missing.set_stored_as(stored_as);
  }
  program.clear_training();
  for (const auto& [name, value] : model.training) {
    program::Setting& setting = *program.add_training();
    setting.set_name(name);
    setting.set_value(value);
  }
  int next = 0;
  for (TensorId id = 0; id < static_cast<TensorId>(model.graph.tensors.size()); ++id) {
    if (!HasInitialValue(model.graph.tensors[id].kind)) continue;
    if (next == program.parameters_size()) return;
    program::Initializer& parameter = *program.mutable_parameters(next++);
    parameter.set_fixed(known[id]);
    parameter.set_cache_rows(model.graph.tensors[id].cache_rows);
    parameter.set_trainable(model.trainable.count(model.graph.tensors[id].name) > 0);
    const auto value = model.values.find(id);
    if (value == model.values.end()) continue;
    if (value->second.kind == InitialValue::kData) parameter.set_data(*value->second.data);
    if (value->second.kind == InitialValue::kFill) parameter.set_fill(*value->second.data);
    if (value->second.kind == InitialValue::kFile)
      *parameter.mutable_reference() = runtime::ReferenceTo(value->second.range);
    if (value->second.kind == InitialValue::kDrawn)
      *parameter.mutable_draw() = MessageOf(value->second.draw);
  }
}

}  // namespace yuba::compiler
