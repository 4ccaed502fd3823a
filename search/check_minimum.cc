#include "search/check_minimum.h"

#include <algorithm>

namespace yuba {
namespace {

struct Step {
  const std::vector<int>& scope;
  const int variable;
  const Renamings& renamings;
  std::vector<int64_t> least;

  int Size(int v) const { return static_cast<int>((*renamings[v])[0].size()); }

  // How far apart neighbouring values of each variable of the scope are in `table`, 0 where it does
  // not depend on one; and of the variable itself, last.
  std::vector<int64_t> Strides(const CheckTable& table) const {
    std::vector<int64_t> strides(scope.size() + 1, 0);
    int64_t stride = 1;
    for (size_t i = table.scope.size(); i-- > 0;) {
      int v = table.scope[i];
      size_t place = std::find(scope.begin(), scope.end(), v) - scope.begin();
      strides[place] = stride;
      stride *= Size(v);
    }
    return strides;
  }

  // Calls visit(values) for all values of the scope but its first, which stays.
  template <typename Visit>
  void ForRest(std::vector<int>* values, const Visit& visit) const {
    while (true) {
      visit(*values);
      size_t d = scope.size();
      while (d > 1 && ++(*values)[d - 1] == Size(scope[d - 1])) (*values)[--d] = 0;
      if (d <= 1) return;
    }
  }

  // Only for the least of the values that the first variable of the scope can be renamed to.
  void Sum(const std::vector<CheckTable>& tables) {
    std::vector<std::vector<int64_t>> strides;
    for (const CheckTable& table : tables) strides.push_back(Strides(table));
    std::vector<int64_t> sum(Size(variable));
    int first_size = scope.empty() ? 1 : Size(scope[0]);
    for (int first = 0; first < first_size; ++first) {
      if (!scope.empty() && !IsLeast(first)) continue;
      std::vector<int> values(scope.size(), 0);
      if (!scope.empty()) values[0] = first;
      ForRest(&values, [&](const std::vector<int>& at) {
        std::fill(sum.begin(), sum.end(), 0);
        for (size_t t = 0; t < tables.size(); ++t) {
          const int64_t* cell = tables[t].cells->data();
          for (size_t i = 0; i < at.size(); ++i) cell += at[i] * strides[t][i];
          int64_t stride = strides[t].back();
          for (int64_t& s : sum) {
            s += *cell;
            cell += stride;
          }
        }
        least[Place(at)] = *std::min_element(sum.begin(), sum.end());
      });
    }
  }

  bool IsLeast(int value) const {
    for (const std::vector<int>& to : *renamings[scope[0]]) {
      if (to[value] < value) return false;
    }
    return true;
  }

  int64_t Place(const std::vector<int>& at) const {
    int64_t place = 0;
    for (size_t i = 0; i < at.size(); ++i) place = place * Size(scope[i]) + at[i];
    return place;
  }

  // The other cells are those of renamed values.
  void Rename() {
    size_t count = scope.empty() ? 0 : renamings[scope[0]]->size();
    for (size_t g = 1; g < count; ++g) {
      for (int first = 0; first < Size(scope[0]); ++first) {
        if (!IsLeast(first)) continue;
        std::vector<int> values(scope.size(), 0), to(scope.size());
        values[0] = first;
        ForRest(&values, [&](const std::vector<int>& at) {
          for (size_t i = 0; i < at.size(); ++i) to[i] = (*renamings[scope[i]])[g][at[i]];
          least[Place(to)] = least[Place(at)];
        });
      }
    }
  }
};

// The same table with `variable` last, so that its values are neighbours.
CheckTable WithLast(const CheckTable& table, int variable, const Renamings& renamings) {
  if (table.scope.back() == variable) return table;
  std::vector<int64_t> sizes;
  for (int v : table.scope) sizes.push_back(static_cast<int64_t>((*renamings[v])[0].size()));
  size_t place = std::find(table.scope.begin(), table.scope.end(), variable) - table.scope.begin();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < place; ++i) outer *= sizes[i];
  for (size_t i = place + 1; i < sizes.size(); ++i) inner *= sizes[i];
  auto cells = std::make_shared<std::vector<int64_t>>(table.cells->size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t v = 0; v < sizes[place]; ++v) {
      for (int64_t i = 0; i < inner; ++i) {
        (*cells)[(o * inner + i) * sizes[place] + v] =
            (*table.cells)[(o * sizes[place] + v) * inner + i];
      }
    }
  }
  CheckTable moved = {table.scope, cells};
  moved.scope.erase(moved.scope.begin() + place);
  moved.scope.push_back(variable);
  return moved;
}

}  // namespace

std::vector<int64_t> LeastSums(const std::vector<int>& scope, int variable,
                               const std::vector<CheckTable>& tables, const Renamings& renamings) {
  std::vector<CheckTable> arranged;
  for (const CheckTable& table : tables) arranged.push_back(WithLast(table, variable, renamings));
  Step step{scope, variable, renamings, {}};
  int64_t cells = 1;
  for (int v : scope) cells *= step.Size(v);
  step.least.resize(cells);
  step.Sum(arranged);
  step.Rename();
  return std::move(step.least);
}

}  // namespace yuba
