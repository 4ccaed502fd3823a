#include "compiler/import/parameters/restored_parameters.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/parameters/restoring.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr char kPyTorch[] = "pytorch";

}  // namespace

std::set<std::string> NamesOfValues(const ::onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const ::onnx::ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const ::onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const ::onnx::NodeProto& node : graph.node())
    names.insert(node.output().begin(), node.output().end());
  return names;
}

std::vector<std::string> NotesOf(const RestoredParameters& restored) {
  std::vector<std::string> notes;
  const auto note = [&](const char* text, const std::vector<std::string>& names) {
    if (!names.empty()) notes.push_back(absl::StrCat(text, ": ", absl::StrJoin(names, ", ")));
  };
  note("biases of zeros that the exporter left out", restored.left_out);
  note("parameters that the file stores repeated", restored.repeated);
  note("parameters that the file stores once with equal ones", restored.merged);
  note("parameters that the file stores once with equal constants", restored.shared);
  return notes;
}

absl::StatusOr<RestoredParameters> RestoreParameters(const std::string& folder,
                                                     ::onnx::ModelProto& model,
                                                     ExportRecord& record) {
  RestoredParameters restored;
  ::onnx::GraphProto& graph = *model.mutable_graph();
  if (!record.SaysKinds()) LiftStored(graph);
  if (!record.SaysKinds() && model.producer_name() == kPyTorch)
    restored.merged = SplitCopies(graph);
  if (record.parameters.empty()) return restored;
  restored.detached = RestoreDetached(graph, record);
  // Equal parameters come last: which of a call's parameters have no operand is clear then.
  restored.left_out = RestoreZeroBiases(folder, graph, record);
  YUBA_ASSIGN_OR_RETURN(restored.repeated, RestoreRepeated(folder, graph, record));
  SplitMerged(graph, record, restored);
  restored.lost = FindLost(folder, graph, record);
  return restored;
}

absl::Status CheckDetached(const RestoredParameters& restored) {
  if (restored.detached.empty()) return absl::OkStatus();
  return UserError("no gradient goes through ", absl::StrJoin(restored.detached, ", "),
                   ", as calls of the file say, but not which operands of nodes that is; export ",
                   "with optimize=False, which keeps a node for each");
}

}  // namespace yuba::onnx
