#include "compiler/kernels/placement.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::kernels {
namespace {

bool ReadsTensor(const ExprPtr& expr, PerTerm<bool>& reads) {
  return reads.Of(expr, [&] {
    return expr->kind == Expr::kRead ||
           std::any_of(expr->args.begin(), expr->args.end(),
                       [&](const ExprPtr& arg) { return ReadsTensor(arg, reads); });
  });
}

bool Has(const std::vector<int>& regions, int region) {
  return std::find(regions.begin(), regions.end(), region) != regions.end();
}

void Add(std::vector<int>& regions, int region) {
  if (!Has(regions, region)) regions.push_back(region);
}

}  // namespace

Placement::Placement(const ExprPtr& root, const std::function<bool(const Expr&)>& branches) {
  regions_.emplace_back();
  absl::flat_hash_map<const Expr*, std::vector<int>> uses = {{root.get(), {0}}};
  PerTerm<bool> reads;
  for (const Occurrence& occurrence : Occurrences(root)) {  // each node before its arguments
    const Expr& node = *occurrence.node;
    const bool reads_tensor =
        node.kind == Expr::kRead ||
        std::any_of(node.args.begin(), node.args.end(),
                    [&](const ExprPtr& arg) { return ReadsTensor(arg, reads); });
    const int region = RegionFor(node, uses[&node], reads_tensor);
    const bool branch = !node.args.empty() && branches(node);
    for (size_t i = 0; i < node.args.size(); ++i) {
      int place = region;
      const bool otherwise = i == (node.kind == Expr::kRead ? 0 : 2);
      if (branch && (otherwise || i == 1)) {
        place = AddRegion({otherwise ? Region::kFalse : Region::kTrue, region, &node, {}, {}});
        sides_[{&node, !otherwise}] = place;
      }
      Add(uses[node.args[i].get()], place);
    }
  }
  for (Region& region : regions_) std::reverse(region.hoisted.begin(), region.hoisted.end());
}

int Placement::AddRegion(Region region) {
  regions_.push_back(std::move(region));
  return static_cast<int>(regions_.size()) - 1;
}

// Regions inside of others have higher numbers.
int Placement::Common(int a, int b) const {
  while (a != b) (a > b ? a : b) = regions_[std::max(a, b)].parent;
  return a;
}

std::pair<int, bool> Placement::PlaceOf(std::vector<int> uses) const {
  int place = uses[0];
  for (int use : uses) place = Common(place, use);
  // A branch whose sides both need the term needs it.
  for (size_t i = 0; i < uses.size(); ++i) {
    const Region& side = regions_[uses[i]];
    if (side.kind != Region::kTrue && side.kind != Region::kFalse) continue;
    const auto other = sides_.find({side.owner, side.kind == Region::kFalse});
    if (other != sides_.end() && Has(uses, other->second)) Add(uses, side.parent);
  }
  return {place, Has(uses, place)};
}

int Placement::RegionFor(const Expr& node, const std::vector<int>& uses, bool reads) {
  const auto [place, needed] = PlaceOf(uses);
  // Literals and indices cost nothing; a read costs no more than a guard.
  const bool cheap = node.args.empty() && !(reads && needed);
  if (uses.size() == 1 || cheap) return place;
  const bool guarded = reads && !needed;
  const int guard = guarded ? AddRegion({Region::kGuard, place, &node, uses, {}}) : -1;
  regions_[place].hoisted.push_back({&node, guard});
  return guarded ? guard : place;
}

}  // namespace yuba::kernels
