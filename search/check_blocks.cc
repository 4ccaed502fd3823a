#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"
#include "search/check_grids.h"
#include "search/check_sweep.h"

namespace yuba {
namespace {

constexpr int64_t kMostPrice = int64_t{1} << 46;  // so that no sum of prices overflows
constexpr size_t kMostCopies = size_t{1} << 14;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;

// What a round leaves of each element: cuts, in the order in which prices are listed.
using Kept = std::vector<std::vector<int>>;

// The split problem of one round. Copies are numbered as in the order of the proof: elements, which
// are their own first copies, then the others.
class SplitReplay {
 public:
  SplitReplay(const BlockRound& round, const Kept& kept, const std::vector<int>& sizes)
      : round_(round), kept_(kept), sizes_of_cuts_(sizes) {}

  // What is above `limit` may be told as any number above it.
  absl::Status Run(const std::vector<CheckTable>& tables, int64_t limit) {
    YUBA_RETURN_IF_ERROR(CheckCopies());
    Renamings sizes;  // by copy: none is renamed
    const size_t count = kept_.size() + round_.copies.size();
    for (size_t copy = 0; copy < count; ++copy) {
      sizes.push_back(Unnamed(SizeOf(static_cast<int>(copy))));
    }
    Sweep sweep(round_.order, sizes);
    YUBA_RETURN_IF_ERROR(ReadCopies(&sweep));
    for (const CheckTable& table : tables) YUBA_RETURN_IF_ERROR(AddTable(table, &sweep));
    YUBA_RETURN_IF_ERROR(sweep.Run(limit));
    least_ = sweep.least();
    costs_.resize(kept_.size());
    for (const SweepStep& step : sweep.steps()) {
      std::vector<int64_t>& all = costs_[ElementOf(step.element)];
      if (all.empty()) all = step.of_value;
      for (size_t x = 0; x < all.size(); ++x) all[x] = std::max(all[x], step.of_value[x]);
    }
    return absl::OkStatus();
  }

  // After Run: the least cost of the split problem, and by element and value the most that its
  // copies show it to cost.
  int64_t least() const { return least_; }
  const std::vector<std::vector<int64_t>>& costs() const { return costs_; }

 private:
  int ElementOf(int copy) const {
    const int elements = static_cast<int>(kept_.size());
    return copy < elements ? copy : round_.copies[copy - elements].variable;
  }
  int SizeOf(int copy) const { return static_cast<int>(kept_[ElementOf(copy)].size()); }

  absl::Status CheckCopies() const {
    const size_t elements = kept_.size(), count = elements + round_.copies.size();
    if (round_.copies.size() > kMostCopies) return RefuseProof("has too many copies");
    for (const BlockCopy& copy : round_.copies) {
      const bool known = copy.variable >= 0 && copy.variable < static_cast<int>(elements) &&
                         !kept_[copy.variable].empty();
      if (!known)
        return RefuseProof(absl::StrCat("copies element ", copy.variable, ", which is none"));
    }
    std::vector<bool> gone(count, false);
    for (int copy : round_.order) {
      const bool known = copy >= 0 && copy < static_cast<int>(count) && SizeOf(copy) > 0;
      if (!known || gone[copy]) {
        return RefuseProof(absl::StrCat("eliminates ", copy, ", which is none or comes twice"));
      }
      gone[copy] = true;
    }
    for (size_t copy = 0; copy < count; ++copy) {
      if (!gone[copy] && SizeOf(static_cast<int>(copy)) > 0) {
        return RefuseProof(absl::StrCat("does not eliminate ", copy));
      }
    }
    return absl::OkStatus();
  }

  // Prices, and which neighbours each copy has.
  absl::Status ReadCopies(Sweep* sweep) {
    std::map<int, std::vector<int64_t>> paid;  // by first copy
    for (size_t c = 0; c < round_.copies.size(); ++c) {
      const BlockCopy& copy = round_.copies[c];
      const int number = static_cast<int>(kept_.size() + c);
      for (int neighbour : copy.neighbours) {
        if (!copy_at_.emplace(std::make_pair(copy.variable, neighbour), number).second) {
          return RefuseProof(
              absl::StrCat("has two copies of element ", copy.variable, " at ", neighbour));
        }
      }
      const size_t count = kept_[copy.variable].size();
      if (copy.prices.size() != count) {
        return RefuseProof(absl::StrCat("gives ", copy.prices.size(), " prices for element ",
                                        copy.variable, ", which has ", count, " cuts left"));
      }
      std::vector<int64_t>& first = paid[copy.variable];
      first.resize(count);
      for (size_t x = 0; x < count; ++x) {
        if (copy.prices[x] > kMostPrice || copy.prices[x] < -kMostPrice) {
          return RefuseProof(absl::StrCat("has a price of ", copy.prices[x]));
        }
        first[x] -= copy.prices[x];
      }
      AddOwn(number, copy.prices, sweep);
    }
    for (auto& [element, prices] : paid) AddOwn(element, std::move(prices), sweep);
    return absl::OkStatus();
  }

  static void AddOwn(int copy, std::vector<int64_t> costs, Sweep* sweep) {
    sweep->Place({{copy}, std::make_shared<const std::vector<int64_t>>(std::move(costs))});
  }

  // Of the values that are left, with the copies that meet in it.
  absl::Status AddTable(const CheckTable& table, Sweep* sweep) const {
    std::vector<int64_t> costs;
    const int a = table.scope[0];
    if (table.scope.size() == 1) {
      for (int cut : kept_[a]) costs.push_back((*table.cells)[cut]);
      AddOwn(a, std::move(costs), sweep);
      return absl::OkStatus();
    }
    if (table.scope.size() > 2) return RefuseProof("leaves a table of three elements");
    const int b = table.scope[1];
    for (int row : kept_[a]) {
      const int64_t* cells = table.cells->data() + int64_t{row} * sizes_of_cuts_[b];
      for (int column : kept_[b]) costs.push_back(cells[column]);
    }
    sweep->Place({{CopyAt(a, b), CopyAt(b, a)},
                  std::make_shared<const std::vector<int64_t>>(std::move(costs))});
    return absl::OkStatus();
  }

  int CopyAt(int element, int neighbour) const {
    const auto found = copy_at_.find({element, neighbour});
    return found == copy_at_.end() ? element : found->second;
  }

  const BlockRound& round_;
  const Kept& kept_;
  const std::vector<int>& sizes_of_cuts_;       // by element: how many it had at first
  std::map<std::pair<int, int>, int> copy_at_;  // by element and neighbour: the first copy is not
  int64_t least_ = 0;
  std::vector<std::vector<int64_t>> costs_;
};

// What a proof by blocks starts from: of the anchor, cuts that equal axes make of none before them.
absl::StatusOr<Kept> AllCuts(const Plan& plan, const CostTables& costs) {
  const Proof& proof = plan.proof;
  Kept kept;
  for (const auto& listed : costs.listed) kept.push_back(*listed);
  for (int i = 0; i < proof.plain; ++i) kept[proof.order[i]].clear();
  if (proof.anchor < 0) return kept;
  if (proof.anchor >= static_cast<int>(kept.size()))
    return RefuseProof("has no element as its anchor");
  std::vector<int>& cuts = kept[proof.anchor];
  std::vector<int> place(costs.sizes[proof.anchor]);
  for (size_t i = 0; i < cuts.size(); ++i) place[cuts[i]] = static_cast<int>(i);
  const auto is_first = [&](int cut) {
    for (const std::vector<int>& to : *costs.renamed[proof.anchor]) {
      if (place[to[cut]] < place[cut]) return false;
    }
    return true;
  };
  cuts.erase(std::remove_if(cuts.begin(), cuts.end(), [&](int cut) { return !is_first(cut); }),
             cuts.end());
  return kept;
}

}  // namespace

absl::StatusOr<int64_t> ReplayBlocks(const Graph& graph, const Plan& plan) {
  const Proof& proof = plan.proof;
  if (proof.plain < 0 || proof.plain > static_cast<int64_t>(proof.order.size())) {
    return RefuseProof("eliminates more elements plainly than its order has");
  }
  YUBA_ASSIGN_OR_RETURN(const CostTables costs, MakeCostTables(graph, plan.mesh, plan.space));
  YUBA_ASSIGN_OR_RETURN(const Left left,
                        EliminatePlainly(graph, plan, costs, TablesOf(costs), proof.plain));
  YUBA_ASSIGN_OR_RETURN(Kept kept, AllCuts(plan, costs));
  int64_t bound = 0, limit = std::numeric_limits<int64_t>::max();
  for (const BlockRound& round : proof.rounds) {
    SplitReplay replay(round, kept, costs.sizes);
    const int64_t cheap = std::clamp<int64_t>(round.limit, 0, kMost) - 1 - left.least;
    YUBA_RETURN_IF_ERROR(replay.Run(left.tables, cheap));
    const int64_t least = replay.least() + left.least;
    bound = std::max(bound, std::min(limit, least));
    limit = std::min(limit, round.limit);
    if (bound >= plan.lower_bound || least >= round.limit) break;
    for (size_t e = 0; e < kept.size(); ++e) {
      if (kept[e].empty()) continue;  // eliminated plainly
      std::vector<int> cuts;
      for (size_t x = 0; x < kept[e].size(); ++x) {
        if (replay.costs()[e][x] <= cheap) cuts.push_back(kept[e][x]);
      }
      if (cuts.empty()) return std::max(bound, limit);  // each copy shows others to be too dear
      kept[e] = std::move(cuts);
    }
  }
  return bound;
}

}  // namespace yuba
