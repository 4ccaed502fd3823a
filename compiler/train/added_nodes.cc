#include "compiler/train/added_nodes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

const OpDescription& OwnDescription(const char* name, const OperatorLibrary& library) {
  const OpDescription* found = library.Find(name);
  YUBA_CHECK(found != nullptr) << name;
  return *found;
}

AddedNodes::AddedNodes(Model& model) : graph_(model.graph), names_(model.graph) {
  for (const Node& node : graph_.nodes) instance_ = std::max(instance_, node.instance + 1);
  entry_ = static_cast<int>(graph_.entries.size()) - 1;
}

absl::StatusOr<TensorId> AddedNodes::Use(const OpDescription& op, const Attributes& attributes,
                                         const std::vector<TensorId>& operands,
                                         const std::string& name) {
  std::vector<absl::optional<Shape>> shapes;
  for (const TensorId operand : operands) {
    const TensorType& type = graph_.tensors[operand].type;
    shapes.push_back(Shape{type.type, type.dims});
  }
  const auto of = absl::StrCat(op.name, " of ", graph_.tensors[operands[0]].name);
  absl::StatusOr<Instance> instance = Elaborate(op, shapes, attributes);
  if (!instance.ok()) return Annotate(instance.status(), of);
  if (instance->definitions.size() != 1)
    return UserError("the description ", op.name, " must be one definition");
  const SlotDefinition& step = instance->definitions[0];
  std::vector<TensorId> read;
  for (const int slot : step.operands) read.push_back(operands[instance->slots[slot].position]);
  return Add(op.name, of, step.definition, std::move(read), name, operands[0]);
}

TensorId AddedNodes::Add(const std::string& op, const std::string& from, Definition definition,
                         std::vector<TensorId> operands, const std::string& name, TensorId like) {
  Tensor tensor;
  tensor.name = names_.Fresh(name);
  tensor.type = definition.result;
  if (graph_.tensors[like].type.dims == tensor.type.dims) {
    tensor.dims = graph_.tensors[like].dims;
    tensor.dim_names = graph_.tensors[like].dim_names;
  } else {
    for (const int64_t dim : tensor.type.dims) tensor.dims.push_back({dim});
  }
  const auto result = static_cast<TensorId>(graph_.tensors.size());
  tensor.producer = static_cast<NodeId>(graph_.nodes.size());
  Node node;
  node.name = tensor.name;
  node.op = op;
  node.from = from;
  node.instance = instance_++;
  node.entry = entry_;
  node.definition = std::make_shared<const Definition>(std::move(definition));
  node.operands = std::move(operands);
  node.result = result;
  graph_.tensors.push_back(std::move(tensor));
  graph_.nodes.push_back(std::move(node));
  return result;
}

}  // namespace yuba::compiler
