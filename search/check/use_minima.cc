#include "search/check/use_minima.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

// The least of a row of costs in units less prices.
YUBA_INNER_LOOP int64_t LeastLess(const int64_t* costs, const int64_t* prices, PriceScale scale,
                                  size_t places) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t place = 0; place < places; ++place) {
    least = std::min(least, UnitsOf(scale, costs[place]) - prices[place]);
  }
  return least;
}

// By row of the table: the least, over the grids of the tensor, of its costs in units less the
// tensor's prices.
std::vector<int64_t> LeastOfRows(const UseTable& table, PriceScale scale,
                                 const std::vector<int64_t>& prices) {
  std::vector<std::vector<int>> rows_of(table.arrangements.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    rows_of[table.rows[row].arrangement].push_back(static_cast<int>(row));
  }
  std::vector<int64_t> least(table.rows.size());
  for (size_t i = 0; i < rows_of.size(); ++i) {
    // Places without a grid are never the least: numbers of proofs add up to less than 2^62.
    const UseTable::Arrangement& arrangement = table.arrangements[i];
    std::vector<int64_t> arranged(arrangement.size, -(int64_t{1} << 62));
    for (size_t t = 0; t < prices.size(); ++t) {
      int64_t& greatest = arranged[arrangement.place[t]];
      greatest = std::max(greatest, prices[t]);
    }
    for (const int row : rows_of[i]) {
      least[row] = LeastLess(table.cells.data() + table.rows[row].begin, arranged.data(), scale,
                             arranged.size());
    }
  }
  return least;
}

// The same of one node grid, with several tables added up and more costs, in units.
int64_t LeastOfSums(const UsesOfPair& uses, size_t node, PriceScale scale,
                    const std::vector<int64_t>& prices, const AddedCosts& added) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t grid = 0; grid < prices.size(); ++grid) {
    int64_t here = -prices[grid];
    for (const auto& table : uses) here += UnitsOf(scale, table->At(node, grid));
    for (const auto& cells : added) here += (*cells)[node * prices.size() + grid];
    least = std::min(least, here);
  }
  return least;
}

// By place of the second table in this arrangement: the least, over the tensor grids there, of one
// row of the first table in units less the tensor's prices.
std::vector<int64_t> LeastByPlace(const UseTable& table, const UseTable::Row& row,
                                  const UseTable::Arrangement& places, PriceScale scale,
                                  const std::vector<int64_t>& prices) {
  // Of places without a grid: as much as proofs add up to at most, so that sums fit 64 bits.
  std::vector<int64_t> least(places.size, int64_t{1} << 62);
  for (size_t t = 0; t < prices.size(); ++t) {
    int64_t& here = least[places.place[t]];
    here = std::min(here, UnitsOf(scale, table.At(row, t)) - prices[t]);
  }
  return least;
}

// AddLeast of a sum of two tables, without a look at all pairs of grids: for each row of the first
// first over the tensor grids of a place of the second, then over the places.
void AddLeastOfTerms(const UseTable& table, PriceScale scale, const std::vector<int64_t>& prices,
                     std::vector<int64_t>* sum) {
  const UseTable& second = *table.other_term;
  // Both together are no more than one cost counts.
  const PriceScale half = {scale.units, scale.most / 2};
  std::map<std::pair<int, int>, std::vector<int64_t>> known;  // by row and arrangement
  for (size_t node = 0; node < sum->size(); ++node) {
    const int row_number = table.row_of[node];
    const UseTable::Row& row = second.rows[second.row_of[node]];
    const auto [place, is_new] = known.try_emplace({row_number, row.arrangement});
    std::vector<int64_t>& by_place = place->second;
    if (is_new) {
      by_place = LeastByPlace(table, table.rows[row_number], second.arrangements[row.arrangement],
                              half, prices);
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t p = 0; p < by_place.size(); ++p) {
      least = std::min(least, by_place[p] + UnitsOf(half, second.cells[row.begin + p]));
    }
    (*sum)[node] += least;
  }
}

}  // namespace

void AddLeast(const UsesOfPair& uses, PriceScale scale, const std::vector<int64_t>& prices,
              const AddedCosts& added, std::vector<int64_t>* sum) {
  if (uses.size() > 1 || !added.empty()) {
    for (size_t node = 0; node < sum->size(); ++node) {
      (*sum)[node] += LeastOfSums(uses, node, scale, prices, added);
    }
    return;
  }
  if (uses[0]->other_term != nullptr) return AddLeastOfTerms(*uses[0], scale, prices, sum);
  const std::vector<int64_t> least = LeastOfRows(*uses[0], scale, prices);
  for (size_t node = 0; node < sum->size(); ++node) (*sum)[node] += least[uses[0]->row_of[node]];
}

}  // namespace yuba::search
