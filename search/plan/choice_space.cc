#include "search/plan/choice_space.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "search/plan/go_together.h"

namespace yuba::search {

ChoiceSpace SpaceOfTensor(const TensorType& type) {
  ChoiceSpace space;
  space.extents = type.dims;
  for (int64_t extent : type.dims) space.cuttable.push_back(extent >= 2);
  return space;
}

ChoiceSpace SpaceOfNode(const Definition& definition) {
  ChoiceSpace space;
  for (const Index& index : definition.indices) space.extents.push_back(index.extent);
  space.cuttable.assign(space.extents.size(), false);
  for (int index : CuttableIndices(definition)) space.cuttable[index] = true;
  return space;
}

ChoiceSpace SpaceOfTensor(const Graph& graph, TensorId id) {
  ChoiceSpace space = SpaceOfTensor(graph.tensors[id].type);
  space.optional = IsTransient(graph.tensors[id]);
  return space;
}

ChoiceSpace SpaceOfNode(const Graph& graph, NodeId id) {
  ChoiceSpace space = SpaceOfNode(*graph.nodes[id].definition);
  space.optional = IsCopy(graph, graph.nodes[id]);
  return space;
}

ChoiceSpace SpaceOf(const Graph& graph, int element) {
  const int tensors = static_cast<int>(graph.tensors.size());
  return element < tensors ? SpaceOfTensor(graph, element) : SpaceOfNode(graph, element - tensors);
}

Sharding PartialsSharding(const Sharding& accumulator) {
  Sharding sharding = accumulator;
  sharding.axes.pop_back();
  return sharding;
}

bool KeepsGroups(const Sharding& partials, const Sharding& reader) {
  uint64_t of_partials = 0, of_groups = 0, of_reader = 0;  // sets of axes
  for (const AxisList& list : partials.axes) {
    for (uint8_t axis : list) of_partials |= uint64_t{1} << axis;
  }
  for (const AxisList& list : reader.axes) {
    for (uint8_t axis : list) of_reader |= uint64_t{1} << axis;
  }
  for (uint8_t axis : reader.axes.back()) of_groups |= uint64_t{1} << axis;
  return (of_partials & of_groups) == 0 && (of_partials | of_groups) == of_reader;
}

bool UsesAllAxes(const ChoiceSpace& space, const Mesh& mesh) {
  // An axis of f devices can be left out only where extent e is below f * parts[e] for all e. The
  // product of all extents is then below devices * largest^(extents - 1), which becomes `least`.
  __int128 least = 1;
  int64_t largest = 1;
  for (const MeshAxis& axis : mesh.axes) {
    least *= std::max(1, axis.size);
    if (least > kMostGroups) return false;  // more devices than a mesh may have
    largest = std::max<int64_t>(largest, axis.size);
  }
  __int128 elements = 1;
  bool first = true;
  for (size_t e = 0; e < space.extents.size(); ++e) {
    if (!space.cuttable[e]) continue;
    // Saturates where the extents have room for all axes anyway.
    elements =
        std::min<__int128>(elements * std::max<int64_t>(space.extents[e], 1), __int128{1} << 60);
    if (!first) least = std::min<__int128>(least * largest, __int128{1} << 61);
    first = false;
  }
  return elements >= least;
}

Choice WholeChoice(const ChoiceSpace& space) {
  Choice choice;
  choice.axes.resize(space.extents.size());
  return choice;
}

namespace {

std::vector<int64_t> PartCounts(const Mesh& mesh, const Sharding& sharding) {
  std::vector<int64_t> parts;
  for (const AxisList& list : sharding.axes) parts.push_back(PartCount(mesh, list));
  return parts;
}

}  // namespace

std::string WhyImpossible(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding) {
  if (sharding.axes.size() != space.extents.size()) {
    return absl::StrCat("it cuts ", sharding.axes.size(), " dimensions of ", space.extents.size());
  }
  std::vector<bool> used(mesh.axes.size(), false);
  std::vector<int64_t> parts(space.extents.size(), 1);
  for (size_t e = 0; e < sharding.axes.size(); ++e) {
    for (uint8_t axis : sharding.axes[e]) {
      if (axis >= mesh.axes.size()) return absl::StrCat("the mesh has no axis number ", axis);
      if (used[axis]) return absl::StrCat("axis ", mesh.axes[axis].name, " is used twice");
      used[axis] = true;
      parts[e] *= mesh.axes[axis].size;
    }
    if (parts[e] == 1) continue;
    if (!space.cuttable[e]) return absl::StrCat("dimension ", e, " cannot be cut");
    if (space.extents[e] < parts[e]) {
      return absl::StrCat("dimension ", e, " of ", space.extents[e], " cannot be cut into ",
                          parts[e], " parts");
    }
  }
  return "";
}

std::string WhyIllegal(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding) {
  std::string why = WhyImpossible(space, mesh, sharding);
  if (!why.empty() || space.optional) return why;
  std::vector<int64_t> parts = PartCounts(mesh, sharding);
  std::vector<bool> used(mesh.axes.size(), false);
  for (const AxisList& list : sharding.axes) {
    for (uint8_t axis : list) used[axis] = true;
  }
  for (size_t axis = 0; axis < used.size(); ++axis) {
    if (used[axis]) continue;
    for (size_t e = 0; e < space.extents.size(); ++e) {
      if (space.cuttable[e] && space.extents[e] / parts[e] >= mesh.axes[axis].size) {
        return absl::StrCat("axis ", mesh.axes[axis].name, " is left out, but fits dimension ", e);
      }
    }
  }
  return "";
}

std::string WhyUnlikeTensors(const Graph& graph, NodeId id, const Choices& tensors,
                             const Sharding& partition) {
  const Node& node = graph.nodes[id];
  const Definition& definition = *node.definition;
  const bool is_copy = IsCopy(graph, node);
  if (!GoTogether(definition, -1, is_copy, partition, tensors[node.result])) {
    return "it and its copy are sharded differently";
  }
  for (size_t o = 0; o < node.operands.size(); ++o) {
    const TensorId operand = node.operands[o];
    if (GoTogether(definition, static_cast<int>(o), is_copy, partition, tensors[operand])) continue;
    return absl::StrCat(
        "it and its partials ", graph.tensors[operand].name,
        CombinesPartials(definition) ? " are sharded differently" : " have other groups");
  }
  return "";
}

}  // namespace yuba::search
