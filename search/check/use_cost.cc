#include "search/check/use_cost.h"

#include <algorithm>
#include <tuple>

#include "absl/container/inlined_vector.h"
#include "search/check/reads.h"
#include "search/plan/memory_price.h"

namespace yuba::search {
namespace {

constexpr size_t kFactors = 8;  // more are rare

}  // namespace

bool operator<(const NodeSide& a, const NodeSide& b) {
  return std::tie(a.sums, a.outside, a.shards, a.repeated) <
         std::tie(b.sums, b.outside, b.shards, b.repeated);
}

TensorSide TensorSideOf(const Mesh& mesh, const Grid& tensor) {
  TensorSide side;
  for (const std::vector<int>& of_kind : tensor) side.shards.push_back(Product(of_kind));
  side.owners = OwnersReachOf(mesh, tensor);
  return side;
}

UseCost::UseCost(const Mesh& mesh, const Objective& objective, const Definition& definition,
                 int operand, int64_t times, LinkTerm term)
    : objective_(objective),
      definition_(definition),
      operand_(operand),
      times_(times),
      devices_(mesh.devices()),
      term_(term),
      type_(operand < 0 ? definition.result : definition.operands[operand]) {}

std::vector<int64_t> UseCost::Key() const {
  return {Reduces(),
          Partials(),
          CombinesPartials(definition_),
          times_,
          static_cast<int64_t>(term_),
          ElementCount(type_),
          static_cast<int64_t>(ByteSize(type_.type)),
          static_cast<int64_t>(ByteSize(AccumulatorType(type_.type)))};
}

bool UseCost::SumsOf(const Grid& node) const {
  if (!Reduces()) return false;
  int64_t reductions = 1;
  const std::vector<int> parts = PartsOf(node);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (definition_.indices[i].reduction) reductions *= parts[i];
  }
  return reductions > 1;
}

NodeSide UseCost::NodeSideOf(const Grid& node, const std::vector<bool>& in_factor) const {
  NodeSide side;
  side.sums = SumsOf(node);
  if (objective_.IsTime()) side.repeated.resize(node.size(), 1);
  const std::vector<int> parts = PartsOf(node);
  for (size_t i = 0; Reduces() && i < parts.size(); ++i) {
    if (in_factor[i]) continue;
    side.outside *= parts[i];
    if (!side.sums || !definition_.indices[i].reduction) continue;
    for (size_t kind = 0; kind < side.repeated.size(); ++kind) {
      side.repeated[kind] *= node[kind][i];
    }
  }
  const bool in_groups = !Reduces() && ReadsPartials(definition_, operand_);
  if (!in_groups || CombinesPartials(definition_)) return side;
  for (const std::vector<int>& of_kind : node) {
    side.shards.push_back(Product(of_kind) / of_kind.back());
  }
  return side;
}

bool UseCost::NeedsReach() const { return objective_.IsTime() && !Partials(); }

Large UseCost::BytesOf(const NodeSide& node, const TensorSide& tensor,
                       const std::vector<const FactorPair*>& pairs, Large held) const {
  absl::InlinedVector<const OverlapBound*, kFactors> shared;
  for (const FactorPair* pair : pairs) shared.push_back(&pair->shared);
  int64_t kept = MostShared(devices_, shared);
  // Only first owners keep what they wrote themselves; of partials all devices do.
  const bool partials = Reduces() ? definition_.partial : CombinesPartials(definition_);
  if (node.sums && !partials) kept = std::min(kept, ElementCount(type_));
  return MovedBytes(definition_, operand_, node.sums, held, kept, type_, tensor.owners.all);
}

void UseCost::AddReach(const NodeSide& node, const TensorSide& tensor,
                       const std::vector<const FactorPair*>& pairs, Large held,
                       LeastMoved* least) const {
  UseReach use;
  use.devices = devices_;
  use.owners = &tensor.owners;
  use.repeated = node.repeated;
  use.sums = node.sums;
  use.arriving = static_cast<int64_t>(held) * (Reduces() ? tensor.owners.all : 1);
  use.size = ByteSize(node.sums ? AccumulatorType(type_.type) : type_.type);
  use.elements = ElementCount(type_);
  use.result_size = ByteSize(type_.type);
  absl::InlinedVector<const FactorReach*, kFactors> factors;
  for (const FactorPair* pair : pairs) factors.push_back(&pair->reach);
  AddCrossing(use, factors, term_, least);
}

int64_t UseCost::Of(const NodeSide& node, const TensorSide& tensor,
                    const std::vector<const FactorPair*>& pairs) const {
  if (!node.shards.empty() && node.shards != tensor.shards) return kNever;
  Large held = Reduces() ? node.outside : devices_, boxes = 1;
  for (const FactorPair* pair : pairs) {
    held *= pair->volume;
    boxes *= pair->boxes;
  }
  if (!Reduces()) held /= boxes;
  LeastMoved least;
  if (term_ == LinkTerm::kFar) {
    AddReach(node, tensor, pairs, held, &least);
    return objective_.LeastCrossing(least, devices_) * times_;
  }
  const Large moved = BytesOf(node, tensor, pairs, held);
  if (moved <= 0) return 0;
  if (!objective_.IsTime()) return static_cast<int64_t>(moved) * times_;
  least.bytes[0] = static_cast<int64_t>(moved);
  least.messages[0] = devices_;
  if (NeedsReach()) AddReach(node, tensor, pairs, held, &least);
  return objective_.LeastExchange(least, devices_) * times_;
}

}  // namespace yuba::search
