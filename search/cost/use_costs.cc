#include "search/cost/use_costs.h"

#include <algorithm>

#include "opsemantics/base/arithmetic.h"
#include "search/plan/use_boxes.h"

namespace yuba::search {
namespace {

using Wide = __int128;

const TensorType& TypeOf(const Definition& definition, int operand) {
  return operand < 0 ? definition.result : definition.operands[operand];
}

}  // namespace

UseCosts::UseCosts(const Definition& definition, int operand, const Mesh& mesh, int64_t times,
                   const Objective& objective)
    : definition_(definition),
      operand_(operand),
      mesh_(mesh),
      times_(times),
      devices_(mesh.devices()),
      type_(TypeOf(definition, operand)),
      elements_(ElementCount(type_)),
      whole_(definition, operand, false),
      partial_(definition, operand, operand < 0),
      objective_(objective),
      busiest_(definition_, operand_, mesh_, objective_, whole_, partial_) {}

bool UseCosts::IsPartial(const Grid& grid) const {
  if (operand_ >= 0) return false;
  for (const std::vector<int>& of_kind : grid) {
    for (size_t i = 0; i < of_kind.size(); ++i) {
      if (definition_.indices[i].reduction && of_kind[i] > 1) return true;
    }
  }
  return false;
}

int64_t UseCosts::BoxesOf(const Grid& grid) const {
  return operand_ < 0 ? Product(PartsOf(grid)) : devices_;
}

UseCosts::NodeSide UseCosts::SideOf(bool partial) const {
  NodeSide side;
  side.partial = partial;
  side.size = times_ * ByteSize(partial ? AccumulatorType(type_.type) : type_.type);
  return side;
}

UseCosts::NodeSide UseCosts::SideOf(const Grid& grid) {
  NodeSide side = SideOf(IsPartial(grid));
  Regions& regions = RegionsOf(side.partial);
  Wide volume = BoxesOf(grid);
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    side.pieces.push_back(&regions.PiecesOf(static_cast<int>(f), grid));
    volume *= side.pieces.back()->volume;
  }
  for (const PartBoxes* pieces : side.pieces) volume /= pieces->count;
  side.elements = static_cast<int64_t>(volume);
  return side;
}

int64_t UseCosts::CostOf(const NodeSide& side, int64_t tensor_parts, int64_t overlap) const {
  int64_t copies = devices_ / tensor_parts;  // of each element
  int64_t expected = side.elements, results = 0;
  if (FromPartials()) {
    expected = CheckedMultiply(elements_, copies);
  } else if (operand_ < 0 && !IntoPartials() && !side.partial) {
    expected = CheckedMultiply(side.elements, copies);
  } else if (operand_ < 0 && !IntoPartials()) {
    results = CheckedMultiply(elements_, copies - 1);  // in the tensor's own type
  }
  const int64_t bytes = CheckedAdd(CheckedMultiply(expected - overlap, side.size),
                                   CheckedMultiply(results, times_ * ByteSize(type_.type)));
  return std::max<int64_t>(0, bytes);
}

int64_t UseCosts::TimeFromBoxes(const Choice& tensor, const Choice& node) const {
  return objective_.Exchange(
      MovedByUse(definition_, operand_, mesh_, tensor, AnalyzeNode(definition_, node, mesh_)));
}

int64_t UseCosts::Exact(const Choice& tensor, const Choice& node, int64_t* steps) {
  if (!objective_.IsTime()) return ExactBytes(tensor, node, steps);
  if (!OfPartials()) {
    *steps += devices_;
    return busiest_.Exchange(tensor, node) * times_;
  }
  if (ExactBytes(tensor, node, steps) == 0) return 0;
  *steps += devices_;
  return TimeFromBoxes(tensor, node) * times_;
}

}  // namespace yuba::search
