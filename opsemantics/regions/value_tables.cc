#include "opsemantics/regions/value_tables.h"

#include <algorithm>

#include "opsemantics/base/box.h"

namespace yuba {
namespace {

// Calls `visit` with the value at each point of the table within `ranges`, and the point: a number
// for each of the table's indices.
template <typename Visit>
void ForEachValue(const ValueTable& table, const std::vector<Interval>& ranges,
                  const Visit& visit) {
  const size_t rank = table.indices.size();
  std::vector<int64_t> point(rank);
  int64_t offset = 0;
  std::vector<int64_t> stride(rank, 1);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * table.extents[i];
  for (size_t i = 0; i < rank; ++i) {
    point[i] = ranges[table.indices[i]].begin;
    offset += point[i] * stride[i];
  }
  while (true) {
    visit(table.values[offset], point);
    size_t i = rank;
    for (; i-- > 0;) {
      const Interval& range = ranges[table.indices[i]];
      offset += stride[i];
      if (++point[i] < range.end) break;
      offset -= stride[i] * range.size();
      point[i] = range.begin;
    }
    if (i >= rank) return;  // the first index has run over
  }
}

}  // namespace

int64_t ValueAt(const ValueTable& table, const std::vector<int64_t>& point) {
  int64_t offset = 0;
  for (size_t i = 0; i < table.indices.size(); ++i) {
    offset = offset * table.extents[i] + point[table.indices[i]];
  }
  return table.values[offset];
}

Interval ValuesOver(const ValueTable& table, const std::vector<Interval>& ranges) {
  Interval hull = {0, 0};
  const bool empty = std::any_of(table.indices.begin(), table.indices.end(),
                                 [&ranges](int index) { return ranges[index].empty(); });
  if (empty) return hull;
  ForEachValue(table, ranges, [&hull](int64_t value, const std::vector<int64_t>&) {
    hull = Hull(hull, {value, value + 1});
  });
  return hull;
}

bool KeepAllowed(const ValueTable& table, const Interval& allowed, std::vector<Interval>& ranges) {
  std::vector<Interval> kept(table.indices.size());  // empty so far
  bool any = false;
  ForEachValue(table, ranges, [&](int64_t value, const std::vector<int64_t>& point) {
    if (value < allowed.begin || value >= allowed.end) return;
    for (size_t i = 0; i < kept.size(); ++i) {
      kept[i] =
          any ? Interval{std::min(kept[i].begin, point[i]), std::max(kept[i].end, point[i] + 1)}
              : Interval{point[i], point[i] + 1};
    }
    any = true;
  });
  for (size_t i = 0; any && i < kept.size(); ++i) ranges[table.indices[i]] = kept[i];
  return any;
}

std::vector<Constraint> KnownConditions(const Definition& definition) {
  std::vector<Constraint> known;
  for (const DataCondition& condition : definition.data_where) {
    if (condition.table == nullptr) continue;
    // index - value == 0, index - value <= 0, index - value + 1 <= 0; or value - index.
    const int factor = condition.reversed ? 1 : -1;
    Constraint constraint;
    constraint.expression = condition.index * -factor;
    if (condition.compare == Function::kLt) constraint.expression.constant += 1;
    constraint.equality = condition.compare == Function::kEq;
    constraint.table = condition.table;
    constraint.table_factor = factor;
    known.push_back(std::move(constraint));
  }
  return known;
}

std::vector<int> IndicesIn(const Constraint& constraint) {
  std::vector<int> indices;
  for (const auto& term : constraint.expression.terms) indices.push_back(term.first);
  if (constraint.table != nullptr) {
    indices.insert(indices.end(), constraint.table->indices.begin(),
                   constraint.table->indices.end());
  }
  return indices;
}

}  // namespace yuba
