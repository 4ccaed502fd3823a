#include "opsemantics/definition/names.h"

#include "absl/strings/str_cat.h"

namespace yuba {

GraphNames::GraphNames(const Graph& graph) {
  for (const Tensor& tensor : graph.tensors) taken_.insert(tensor.name);
  for (const Node& node : graph.nodes) taken_.insert(node.name);
}

std::string GraphNames::Fresh(const std::string& wanted) {
  std::string name = wanted;
  for (int next = 2; !taken_.insert(name).second; ++next) name = absl::StrCat(wanted, ".", next);
  return name;
}

}  // namespace yuba
