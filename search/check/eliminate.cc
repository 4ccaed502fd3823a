#include "search/check/eliminate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "opsemantics/base/status.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;  // of one table
// Of one elimination: a few times what the search takes, which merges elements into clusters first.
constexpr int64_t kMostSums = int64_t{1} << 36;
constexpr size_t kMostInScope = 1000;

// One step. `scope`: the elements that its tables contain besides `element`. All of them are
// eliminated later; the one that is eliminated last comes first.
struct Step {
  int element = 0;
  std::vector<int> scope;
  std::vector<CheckTable> tables;  // those whose first eliminated element is this one
  std::vector<int> before;         // earlier steps whose results contain this element
  // By values of the scope, row-major: the least cost of all that this step and those before it
  // have eliminated.
  CheckTable::Cells least;
};

class Elimination {
 public:
  Elimination(const std::vector<int>& order, const Renamings& values)
      : values_(values), rank_(values.size(), 0), steps_(order.size()) {
    for (size_t s = 0; s < order.size(); ++s) {
      rank_[order[s]] = static_cast<int>(s);
      steps_[s].element = order[s];
    }
  }

  void Add(CheckTable table) {
    int first = rank_[table.scope[0]];
    for (int e : table.scope) first = std::min(first, rank_[e]);
    AddScope(table.scope, steps_[first]);
    steps_[first].tables.push_back(std::move(table));
  }

  // Once, after all tables are added.
  absl::StatusOr<int64_t> Least(const Stop& stop) {
    for (size_t s = 0; s < steps_.size(); ++s) {
      YUBA_RETURN_IF_ERROR(GoOn(stop));
      YUBA_RETURN_IF_ERROR(Eliminate(static_cast<int>(s)));
    }
    return least_;
  }

 private:
  int Values(int element) const { return static_cast<int>((*values_[element])[0].size()); }

  static void AddScope(const std::vector<int>& scope, Step& step) {
    for (int e : scope) {
      if (e != step.element && !std::count(step.scope.begin(), step.scope.end(), e)) {
        step.scope.push_back(e);
      }
    }
  }

  absl::Status Eliminate(int s) {
    Step& step = steps_[s];
    std::stable_sort(step.scope.begin(), step.scope.end(),
                     [this](int a, int b) { return rank_[a] > rank_[b]; });
    YUBA_ASSIGN_OR_RETURN(step.least, LeastOf(step));
    if (step.scope.empty()) {
      least_ += (*step.least)[0];
    } else {
      Step& next = steps_[rank_[step.scope.back()]];
      next.before.push_back(s);
      AddScope(step.scope, next);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CheckTable::Cells> LeastOf(const Step& step) {
    std::vector<CheckTable> tables = step.tables;
    for (int before : step.before) tables.push_back({steps_[before].scope, steps_[before].least});
    if (tables.empty()) return std::make_shared<const std::vector<int64_t>>(1, 0);
    YUBA_ASSIGN_OR_RETURN(const int64_t cells, CellsOf(step.scope));
    CheckTable::Cells& known = done_[KeyOf(step, tables)];
    if (known != nullptr) return known;
    // Of values of the scope's first element that can be renamed to one another one is looked at.
    const size_t renamings = step.scope.empty() ? 1 : values_[step.scope[0]]->size();
    sums_ += cells * Values(step.element) / static_cast<int64_t>(renamings);
    if (sums_ > kMostSums || step.scope.size() > kMostInScope) {
      return ProofError("the proof needs too many sums, or a table of too many elements");
    }
    known = std::make_shared<const std::vector<int64_t>>(
        LeastSums(step.scope, step.element, tables, values_));
    return known;
  }

  absl::StatusOr<int64_t> CellsOf(const std::vector<int>& scope) const {
    int64_t cells = 1;
    for (int e : scope) {
      if (__builtin_mul_overflow(cells, int64_t{Values(e)}, &cells) || cells > kMostCells) {
        return ProofError("the proof needs a table of more than ", kMostCells, " cells");
      }
    }
    return cells;
  }

  // Equal for steps whose results are equal.
  std::vector<int64_t> KeyOf(const Step& step, const std::vector<CheckTable>& tables) const {
    const auto number = [](const auto& pointer) {
      return reinterpret_cast<intptr_t>(pointer.get());
    };
    std::vector<int64_t> key = {number(values_[step.element])};
    for (int e : step.scope) key.push_back(number(values_[e]));
    for (const CheckTable& table : tables) {
      key.push_back(number(table.cells));
      const std::vector<int> places = PlacesIn(step.scope, table.scope);
      key.insert(key.end(), places.begin(), places.end());
      key.push_back(-1);
    }
    return key;
  }

  const Renamings& values_;
  std::vector<int> rank_;  // by element: its step
  std::vector<Step> steps_;
  std::map<std::vector<int64_t>, CheckTable::Cells> done_;  // by KeyOf: equal work is done once
  int64_t least_ = 0;  // of all parts of the graph that are eliminated as a whole
  int64_t sums_ = 0;   // of all steps so far
};

}  // namespace

absl::StatusOr<int64_t> LeastInOrder(const std::vector<int>& order, const Renamings& values,
                                     std::vector<CheckTable> tables, const Stop& stop) {
  Elimination elimination(order, values);
  for (CheckTable& table : tables) elimination.Add(std::move(table));
  return elimination.Least(stop);
}

}  // namespace yuba::search
