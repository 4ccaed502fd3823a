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

namespace yuba {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
constexpr int64_t kMostPrice = int64_t{1} << 46;  // so that no sum of prices overflows
constexpr size_t kMostCopies = size_t{1} << 14;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

absl::Status Refuse(const std::string& what) {
  return absl::FailedPreconditionError("the proof " + what);
}

// What a round leaves of each element: cuts, in the order in which prices are listed.
using Kept = std::vector<std::vector<int>>;

// The split problem of one round. Copies are numbered as in the order of the proof: elements, which
// are their own first copies, then the others.
class SplitReplay {
 public:
  SplitReplay(const BlockRound& round, const Kept& kept, const std::vector<int>& sizes)
      : round_(round), kept_(kept), sizes_of_cuts_(sizes) {}

  absl::Status Build(const std::vector<CheckTable>& tables) {
    YUBA_RETURN_IF_ERROR(ReadOrder());
    YUBA_RETURN_IF_ERROR(ReadCopies());
    for (const CheckTable& table : tables) YUBA_RETURN_IF_ERROR(AddTable(table));
    return absl::OkStatus();
  }

  // The least cost of the split problem.
  absl::StatusOr<int64_t> Least() {
    for (size_t s = 0; s < steps_.size(); ++s) YUBA_RETURN_IF_ERROR(Up(static_cast<int>(s)));
    return least_;
  }

  // After Least: by element and value, the most that its copies show it to cost.
  std::vector<std::vector<int64_t>> CostsOfValues() {
    std::vector<std::vector<int64_t>> costs(kept_.size());
    for (size_t s = steps_.size(); s-- > 0;) {
      const std::vector<int64_t> here = Down(&steps_[s]);
      std::vector<int64_t>& all = costs[ElementOf(steps_[s].copy)];
      if (all.empty()) all = here;
      for (size_t x = 0; x < all.size(); ++x) all[x] = std::max(all[x], here[x]);
    }
    return costs;
  }

 private:
  // `scope`: copies that go later, the last of them first. `copy` is the last of all scopes.
  struct Step {
    int copy = 0;
    std::vector<int> scope;
    std::vector<CheckTable> tables;
    std::vector<int> before;     // steps whose results meet here
    CheckTable::Cells up, down;  // by scope: the least cost of what is gone, and of the rest
  };

  int ElementOf(int copy) const {
    const int elements = static_cast<int>(kept_.size());
    return copy < elements ? copy : round_.copies[copy - elements].variable;
  }
  int SizeOf(int copy) const { return static_cast<int>(kept_[ElementOf(copy)].size()); }

  absl::Status ReadOrder() {
    const size_t elements = kept_.size(), count = elements + round_.copies.size();
    if (round_.copies.size() > kMostCopies) return Refuse("has too many copies");
    for (const BlockCopy& copy : round_.copies) {
      const bool known = copy.variable >= 0 && copy.variable < static_cast<int>(elements) &&
                         !kept_[copy.variable].empty();
      if (!known) return Refuse(absl::StrCat("copies element ", copy.variable, ", which is none"));
    }
    rank_.assign(count, -1);
    for (int copy : round_.order) {
      const bool known = copy >= 0 && copy < static_cast<int>(count) && SizeOf(copy) > 0;
      if (!known || rank_[copy] >= 0) {
        return Refuse(absl::StrCat("eliminates ", copy, ", which is none or comes twice"));
      }
      rank_[copy] = static_cast<int>(steps_.size());
      steps_.emplace_back();
      steps_.back().copy = copy;
    }
    for (size_t copy = 0; copy < count; ++copy) {
      if (rank_[copy] < 0 && SizeOf(static_cast<int>(copy)) > 0) {
        return Refuse(absl::StrCat("does not eliminate ", copy));
      }
      sizes_.push_back(Unnamed(SizeOf(static_cast<int>(copy))));
    }
    return absl::OkStatus();
  }

  // Prices, and which neighbours each copy has.
  absl::Status ReadCopies() {
    std::map<int, std::vector<int64_t>> paid;  // by first copy
    for (size_t c = 0; c < round_.copies.size(); ++c) {
      const BlockCopy& copy = round_.copies[c];
      const int number = static_cast<int>(kept_.size() + c);
      for (int neighbour : copy.neighbours) {
        if (!copy_at_.emplace(std::make_pair(copy.variable, neighbour), number).second) {
          return Refuse(
              absl::StrCat("has two copies of element ", copy.variable, " at ", neighbour));
        }
      }
      const size_t count = kept_[copy.variable].size();
      if (copy.prices.size() != count) {
        return Refuse(absl::StrCat("gives ", copy.prices.size(), " prices for element ",
                                   copy.variable, ", which has ", count, " cuts left"));
      }
      std::vector<int64_t>& first = paid[copy.variable];
      first.resize(count);
      for (size_t x = 0; x < count; ++x) {
        if (copy.prices[x] > kMostPrice || copy.prices[x] < -kMostPrice) {
          return Refuse(absl::StrCat("has a price of ", copy.prices[x]));
        }
        first[x] -= copy.prices[x];
      }
      AddOwn(number, copy.prices);
    }
    for (auto& [element, prices] : paid) AddOwn(element, std::move(prices));
    return absl::OkStatus();
  }

  void AddOwn(int copy, std::vector<int64_t> costs) {
    auto cells = std::make_shared<const std::vector<int64_t>>(std::move(costs));
    steps_[rank_[copy]].tables.push_back({{copy}, std::move(cells)});
  }

  // Of the values that are left, with the copies that meet in it.
  absl::Status AddTable(const CheckTable& table) {
    if (table.scope.size() == 1) {
      std::vector<int64_t> costs;
      for (int cut : kept_[table.scope[0]]) costs.push_back((*table.cells)[cut]);
      AddOwn(table.scope[0], std::move(costs));
      return absl::OkStatus();
    }
    if (table.scope.size() > 2) return Refuse("leaves a table of three elements");
    int a = table.scope[0], b = table.scope[1];
    const int columns = sizes_of_cuts_[b];
    int64_t row_step = columns, column_step = 1;
    int first = CopyAt(a, b), last = CopyAt(b, a);
    if (rank_[first] < rank_[last]) {  // what goes first is the last of the scope
      std::swap(a, b);
      std::swap(first, last);
      std::swap(row_step, column_step);
    }
    std::vector<int64_t> costs;
    for (int row : kept_[a]) {
      for (int column : kept_[b]) {
        costs.push_back((*table.cells)[row * row_step + column * column_step]);
      }
    }
    auto cells = std::make_shared<const std::vector<int64_t>>(std::move(costs));
    Step& step = steps_[rank_[last]];
    step.tables.push_back({{first, last}, std::move(cells)});
    AddScope(&step, {first});
    return absl::OkStatus();
  }

  int CopyAt(int element, int neighbour) const {
    const auto found = copy_at_.find({element, neighbour});
    return found == copy_at_.end() ? element : found->second;
  }

  static void AddScope(Step* step, const std::vector<int>& scope) {
    for (int copy : scope) {
      if (copy != step->copy && !std::count(step->scope.begin(), step->scope.end(), copy)) {
        step->scope.push_back(copy);
      }
    }
  }

  absl::Status Up(int s) {
    Step& step = steps_[s];
    std::sort(step.scope.begin(), step.scope.end(),
              [this](int a, int b) { return rank_[a] > rank_[b]; });
    int64_t size = SizeOf(step.copy);
    for (int copy : step.scope) {
      if (__builtin_mul_overflow(size, int64_t{SizeOf(copy)}, &size) || size > kMostCells) {
        return Refuse("needs tables that are too large");
      }
    }
    cells_ += size / SizeOf(step.copy);
    if (cells_ > kMostCells) return Refuse("needs tables that are too large");
    const std::vector<CheckTable> tables = TablesOf(step);
    step.up = std::make_shared<const std::vector<int64_t>>(
        tables.empty() ? std::vector<int64_t>(1, 0)
                       : LeastSums(step.scope, step.copy, tables, sizes_));
    if (step.scope.empty()) {
      least_ += (*step.up)[0];
      return absl::OkStatus();
    }
    Step& next = steps_[rank_[step.scope.back()]];
    next.before.push_back(s);
    AddScope(&next, step.scope);
    return absl::OkStatus();
  }

  std::vector<CheckTable> TablesOf(const Step& step) const {
    std::vector<CheckTable> tables = step.tables;
    for (int before : step.before) tables.push_back({steps_[before].scope, steps_[before].up});
    return tables;
  }

  // By value of the step's copy: the least cost of all assignments with it. Gives the steps before
  // their `down`.
  std::vector<int64_t> Down(Step* step) {
    if (step->scope.empty()) {
      step->down = std::make_shared<const std::vector<int64_t>>(1, least_ - (*step->up)[0]);
    }
    const int size = SizeOf(step->copy);
    const std::vector<CheckTable> tables = TablesOf(*step);
    std::vector<std::vector<int>> places;  // of a table's scope but the copy
    for (const CheckTable& table : tables) {
      places.push_back(PlacesIn(step->scope, {table.scope.begin(), table.scope.end() - 1}));
    }
    std::vector<std::vector<int64_t>> rest;
    for (int b : step->before) rest.emplace_back(steps_[b].up->size(), kMost);
    std::vector<int> sizes, value(step->scope.size(), 0);
    for (int copy : step->scope) sizes.push_back(SizeOf(copy));
    std::vector<int64_t> least(size, kMost), sum(size), at(tables.size());
    for (const int64_t outside : *step->down) {
      std::fill(sum.begin(), sum.end(), outside);
      for (size_t t = 0; t < tables.size(); ++t) {
        at[t] = CellOf(places[t], sizes, value) * size;
        const int64_t* row = tables[t].cells->data() + at[t];
        for (int x = 0; x < size; ++x) sum[x] += row[x];
      }
      for (int x = 0; x < size; ++x) least[x] = std::min(least[x], sum[x]);
      for (size_t b = 0; b < rest.size(); ++b) {
        int64_t* row = rest[b].data() + at[step->tables.size() + b];
        for (int x = 0; x < size; ++x) row[x] = std::min(row[x], sum[x]);
      }
      NextValues(sizes, &value);
    }
    for (size_t b = 0; b < rest.size(); ++b) {
      Step& before = steps_[step->before[b]];
      for (size_t i = 0; i < rest[b].size(); ++i) rest[b][i] -= (*before.up)[i];
      before.down = std::make_shared<const std::vector<int64_t>>(std::move(rest[b]));
    }
    return least;
  }

  const BlockRound& round_;
  const Kept& kept_;
  const std::vector<int>& sizes_of_cuts_;       // by element: how many it had at first
  std::map<std::pair<int, int>, int> copy_at_;  // by element and neighbour: the first copy is not
  std::vector<int> rank_;                       // by copy: its step
  std::vector<Step> steps_;
  Renamings sizes_;  // by copy: none is renamed
  int64_t least_ = 0, cells_ = 0;
};

// What a proof by blocks starts from: of the anchor, cuts that equal axes make of none before them.
absl::StatusOr<Kept> AllCuts(const Plan& plan, const CostTables& costs) {
  const Proof& proof = plan.proof;
  Kept kept;
  for (const auto& listed : costs.listed) kept.push_back(*listed);
  for (int i = 0; i < proof.plain; ++i) kept[proof.order[i]].clear();
  if (proof.anchor < 0) return kept;
  if (proof.anchor >= static_cast<int>(kept.size())) return Refuse("has no element as its anchor");
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
    return Refuse("eliminates more elements plainly than its order has");
  }
  YUBA_ASSIGN_OR_RETURN(const CostTables costs, MakeCostTables(graph, plan.mesh, plan.space));
  YUBA_ASSIGN_OR_RETURN(const Left left,
                        EliminatePlainly(graph, plan, costs, TablesOf(costs), proof.plain));
  YUBA_ASSIGN_OR_RETURN(Kept kept, AllCuts(plan, costs));
  int64_t bound = 0, limit = std::numeric_limits<int64_t>::max();
  for (const BlockRound& round : proof.rounds) {
    SplitReplay replay(round, kept, costs.sizes);
    YUBA_RETURN_IF_ERROR(replay.Build(left.tables));
    YUBA_ASSIGN_OR_RETURN(int64_t least, replay.Least());
    least += left.least;
    bound = std::max(bound, std::min(limit, least));
    limit = std::min(limit, round.limit);
    if (bound >= plan.lower_bound || least >= round.limit) break;
    const std::vector<std::vector<int64_t>> values = replay.CostsOfValues();
    for (size_t e = 0; e < kept.size(); ++e) {
      if (kept[e].empty()) continue;  // eliminated plainly
      std::vector<int> cuts;
      for (size_t x = 0; x < kept[e].size(); ++x) {
        if (values[e][x] + left.least < round.limit) cuts.push_back(kept[e][x]);
      }
      if (cuts.empty()) return std::max(bound, limit);  // each copy shows others to be too dear
      kept[e] = std::move(cuts);
    }
  }
  return bound;
}

}  // namespace yuba
