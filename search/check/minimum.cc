#include "search/check/minimum.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

YUBA_INNER_LOOP void SumOf(const int64_t* a, const int64_t* b, int size, int64_t* sum) {
  for (int i = 0; i < size; ++i) sum[i] = a[i] + b[i];
}

YUBA_INNER_LOOP int64_t LeastSum(const int64_t* a, const int64_t* b, int size) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

class Step {
 public:
  Step(const std::vector<int>& scope, int variable, const Renamings& renamings)
      : scope_(scope), renamings_(renamings), size_(Size(variable)) {
    strides_.assign(scope.size(), 1);
    int64_t cells = 1;
    for (size_t d = scope.size(); d-- > 0;) {
      strides_[d] = cells;
      cells *= Size(scope[d]);
    }
    least_.assign(cells, std::numeric_limits<int64_t>::max());
    sums_.assign(scope.size() + 1, std::vector<int64_t>(size_, 0));
    rows_.resize(scope.size() + 1);
  }

  std::vector<int64_t> Run(const std::vector<CheckTable>& tables) {
    std::vector<Rows> arranged;
    for (const CheckTable& table : tables) arranged.push_back(Arrange(table));
    Merge(&arranged);
    for (Rows& rows : arranged) {
      const int depth = rows.dims.empty() ? 0 : rows.dims.back() + 1;
      rows_[depth].push_back(std::move(rows));
    }
    values_.assign(scope_.size(), 0);
    const std::vector<int64_t> none(size_, 0);
    Sums(0, none.data(), 0);
    Rename();
    return std::move(least_);
  }

 private:
  int Size(int v) const { return static_cast<int>((*renamings_[v])[0].size()); }

  // A table over `dims`, places in the scope in ascending order, and the variable, which is last.
  struct Rows {
    std::vector<int> dims;
    std::vector<int64_t> strides;  // by entry of dims
    std::vector<int64_t> own;      // its cells, where they are not those of the given table
    const int64_t* cells = nullptr;
    size_t size = 0;
  };

  Rows Shaped(const std::vector<int>& dims) const {
    Rows rows;
    rows.dims = dims;
    rows.strides.resize(dims.size());
    int64_t cells = size_;
    for (size_t i = dims.size(); i-- > 0;) {
      rows.strides[i] = cells;
      cells *= Size(scope_[dims[i]]);
    }
    rows.size = cells;
    return rows;
  }

  Rows Arrange(const CheckTable& table) const {
    // By place in the table; the variable counts as the last.
    const std::vector<int> dims = PlacesIn(scope_, table.scope);
    std::vector<int> sorted = dims;
    std::sort(sorted.begin(), sorted.end());
    sorted.pop_back();
    Rows rows = Shaped(sorted);
    rows.cells = table.cells->data();
    if (std::is_sorted(dims.begin(), dims.end())) return rows;
    rows.own.resize(rows.size);
    rows.cells = rows.own.data();
    std::vector<int64_t> steps;  // by place in the table
    for (int dim : dims) {
      const auto place = std::lower_bound(sorted.begin(), sorted.end(), dim);
      steps.push_back(place == sorted.end() ? 1 : rows.strides[place - sorted.begin()]);
    }
    std::vector<int> value(dims.size(), 0);
    int64_t to = 0;
    for (const int64_t cost : *table.cells) {
      rows.own[to] = cost;
      for (size_t i = value.size(); i-- > 0;) {
        to += steps[i];
        if (++value[i] < Size(table.scope[i])) break;
        to -= steps[i] * value[i];
        value[i] = 0;
      }
    }
    return rows;
  }

  // Adds each table to one whose scope contains its own, if there is one.
  void Merge(std::vector<Rows>* tables) const {
    std::stable_sort(tables->begin(), tables->end(),
                     [](const Rows& a, const Rows& b) { return a.dims.size() > b.dims.size(); });
    std::vector<Rows> kept;
    for (Rows& table : *tables) {
      const auto host = std::find_if(kept.begin(), kept.end(), [&](const Rows& large) {
        return std::includes(large.dims.begin(), large.dims.end(), table.dims.begin(),
                             table.dims.end());
      });
      if (host == kept.end()) {
        kept.push_back(std::move(table));
      } else {
        AddInto(table, &*host);
      }
    }
    *tables = std::move(kept);
  }

  void AddInto(const Rows& small, Rows* large) const {
    std::vector<int64_t> steps(large->dims.size(), 0);  // by entry of large's dims
    for (size_t i = 0; i < small.dims.size(); ++i) {
      const auto place = std::lower_bound(large->dims.begin(), large->dims.end(), small.dims[i]);
      steps[place - large->dims.begin()] = small.strides[i];
    }
    std::vector<int> value(steps.size(), 0);
    int64_t from = 0;
    if (large->own.empty()) large->own.resize(large->size);
    for (size_t to = 0; to < large->size; to += size_) {
      SumOf(large->cells + to, small.cells + from, size_, &large->own[to]);
      for (size_t i = value.size(); i-- > 0;) {
        from += steps[i];
        if (++value[i] < Size(scope_[large->dims[i]])) break;
        from -= steps[i] * value[i];
        value[i] = 0;
      }
    }
    large->cells = large->own.data();
  }

  const int64_t* Row(const Rows& rows) const {
    const int64_t* row = rows.cells;
    for (size_t i = 0; i < rows.dims.size(); ++i) row += rows.strides[i] * values_[rows.dims[i]];
    return row;
  }

  // Fills the cells that begin at `at`, where the first `depth` variables of the scope have their
  // values. `sum`: by value of the variable, the sum of the tables added so far, which are those
  // over the first `depth` - 1. Of values of the first variable that can be renamed to one another,
  // the least alone is tried.
  void Sums(size_t depth, const int64_t* sum, int64_t at) {
    const std::vector<Rows>& rows = rows_[depth];
    if (depth == scope_.size() && !rows.empty()) {
      for (size_t r = 1; r < rows.size(); ++r) sum = Added(depth, sum, Row(rows[r]));
      least_[at] = LeastSum(sum, Row(rows[0]), size_);
      return;
    }
    for (const Rows& table : rows) sum = Added(depth, sum, Row(table));
    if (depth == scope_.size()) {
      least_[at] = *std::min_element(sum, sum + size_);
      return;
    }
    for (int value = 0; value < Size(scope_[depth]); ++value) {
      if (depth == 0 && !IsLeast(value)) continue;
      values_[depth] = value;
      Sums(depth + 1, sum, at + value * strides_[depth]);
    }
  }

  const int64_t* Added(size_t depth, const int64_t* sum, const int64_t* row) {
    SumOf(sum, row, size_, sums_[depth].data());
    return sums_[depth].data();
  }

  bool IsLeast(int value) const {
    for (const std::vector<int>& to : *renamings_[scope_[0]]) {
      if (to[value] < value) return false;
    }
    return true;
  }

  // Copies the cells of the values that were tried to those that they can be renamed to.
  void Rename() {
    const size_t count = scope_.empty() ? 0 : renamings_[scope_[0]]->size();
    for (size_t g = 1; g < count; ++g) {
      for (int first = 0; first < Size(scope_[0]); ++first) {
        if (!IsLeast(first)) continue;
        const int to = (*renamings_[scope_[0]])[g][first];
        RenameRest(g, 1, first * strides_[0], to * strides_[0]);
      }
    }
  }

  void RenameRest(size_t g, size_t depth, int64_t from, int64_t to) {
    if (depth == scope_.size()) {
      least_[to] = least_[from];
      return;
    }
    const std::vector<int>& renamed = (*renamings_[scope_[depth]])[g];
    for (size_t value = 0; value < renamed.size(); ++value) {
      RenameRest(g, depth + 1, from + static_cast<int64_t>(value) * strides_[depth],
                 to + renamed[value] * strides_[depth]);
    }
  }

  const std::vector<int>& scope_;
  const Renamings& renamings_;
  const int size_;  // of the variable
  std::vector<int64_t> strides_, least_;
  std::vector<std::vector<Rows>> rows_;     // by depth from which all but the variable has a value
  std::vector<std::vector<int64_t>> sums_;  // by depth
  std::vector<int> values_;                 // by place in the scope
};

}  // namespace

std::vector<int> PlacesIn(const std::vector<int>& joint, const std::vector<int>& scope) {
  std::vector<int> places;
  for (int e : scope) {
    places.push_back(static_cast<int>(std::find(joint.begin(), joint.end(), e) - joint.begin()));
  }
  return places;
}

std::vector<int64_t> LeastSums(const std::vector<int>& scope, int variable,
                               const std::vector<CheckTable>& tables, const Renamings& renamings) {
  return Step(scope, variable, renamings).Run(tables);
}

}  // namespace yuba::search
