#include "search/check/pins.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::search {
namespace {

// Each axis is one of the mesh and is demanded at most once.
absl::Status CheckAxes(const Mesh& mesh, const std::string& what, const Demands& demands) {
  std::vector<bool> demanded(mesh.axes.size(), false);
  for (const Demand& demand : demands) {
    for (const uint8_t axis : demand.axes) {
      if (axis >= demanded.size()) return ProofError("the pin of ", what, " names an unknown axis");
      if (demanded[axis]) {
        return ProofError("the pin of ", what, " demands two cuts over axis ",
                          mesh.axes[axis].name);
      }
      demanded[axis] = true;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PinsOfElements> PinsOf(const Graph& graph, const Mesh& mesh, const Space& space) {
  const size_t tensors = graph.tensors.size();
  PinsOfElements pins(tensors + graph.nodes.size());
  int last = -1;
  for (const PinnedElement& pin : space.pins) {
    if (pin.element <= last || static_cast<size_t>(pin.element) >= pins.size()) {
      return ProofError("the plan's space pins element ", pin.element,
                        ", which is none or not in order");
    }
    last = pin.element;
    const size_t element = pin.element;
    const bool is_tensor = element < tensors;
    const std::string what = is_tensor ? absl::StrCat("tensor ", graph.tensors[element].name)
                                       : absl::StrCat("node ", graph.nodes[element - tensors].name);
    if (is_tensor && graph.tensors[element].kind == TensorKind::kPartial) {
      return ProofError("the plan's space pins ", what, ", which is never stored");
    }
    const size_t extents = is_tensor ? graph.tensors[element].type.dims.size()
                                     : graph.nodes[element - tensors].definition->indices.size();
    if (pin.demands.size() != extents) {
      return ProofError("the pin of ", what, " speaks of ", pin.demands.size(),
                        " dimensions or indices; it has ", extents);
    }
    YUBA_RETURN_IF_ERROR(CheckAxes(mesh, what, pin.demands));
    pins[element] = pin.demands;
  }
  return pins;
}

std::vector<int> ClassesUnder(const Mesh& mesh, const PinsOfElements& pins) {
  std::vector<int> classes;
  std::map<AxisClass, int> first;  // the first axis of each class
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    classes.push_back(first.emplace(mesh.axes[axis].axis_class(), axis).first->second);
  }
  const auto own = static_cast<int>(classes.size());
  for (const Demands& demands : pins) {
    for (const Demand& demand : demands) {
      for (const uint8_t axis : demand.axes) classes[axis] = own + axis;
    }
  }
  return classes;
}

}  // namespace yuba::search
