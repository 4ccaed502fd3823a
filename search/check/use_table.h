// The table of one use of a tensor by a node: its least cost by their grids.
//
// Few rows are computed: node grids that differ only in what the use does not depend on have the
// same row, and those that differ in the order of the factors have the same costs in another
// arrangement (arrangements.h). A wide table of times is the sum of a table of few rows and one of
// few places (search/plan/link_terms.h).
#ifndef YUBA_SEARCH_CHECK_USE_TABLE_H_
#define YUBA_SEARCH_CHECK_USE_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "opsemantics/definition/definition.h"
#include "search/check/factor_pairs.h"
#include "search/plan/grid.h"
#include "search/plan/link_terms.h"
#include "search/plan/objective.h"

namespace yuba::search {

struct UseTable {
  struct Row {
    size_t begin = 0;  // of its costs in `cells`
    int arrangement = 0;
  };
  struct Arrangement {
    size_t size = 0;         // of a row
    std::vector<int> place;  // in it, by tensor grid
  };

  std::vector<int> row_of;  // by node grid
  std::vector<Row> rows;
  std::vector<Arrangement> arrangements;
  // Rows by place; of places that no tensor grid has in any arrangement the greatest number.
  std::vector<int64_t> cells;
  // The other term of the cost, by the same grids (search/plan/link_terms.h); it has few places, in
  // one arrangement for nodes that write partials and in one for the others. Null: this is the
  // whole cost.
  std::shared_ptr<const UseTable> other_term;

  // Of the row alone, without the other term.
  int64_t At(const Row& row, size_t tensor_grid) const {
    return cells[row.begin + arrangements[row.arrangement].place[tensor_grid]];
  }
  int64_t At(size_t node_grid, size_t tensor_grid) const {
    return At(rows[row_of[node_grid]], tensor_grid) +
           (other_term == nullptr ? 0 : other_term->At(node_grid, tensor_grid));
  }
};

// Makes tables; uses with equal costs share one.
class UseTables {
 public:
  UseTables(const Mesh& mesh, const Objective& objective);

  // Of the node's result where `operand` is -1; `times`: how often costs count. Pairs of grids that
  // no plan has cost kNever. Equal `tensor_grids` are one object, which stays.
  std::shared_ptr<const UseTable> Of(const Definition& definition, int operand, int64_t times,
                                     const std::vector<Grid>& node_grids,
                                     const std::vector<Grid>& tensor_grids);

 private:
  struct Use {
    const Definition& definition;
    int operand;
    int64_t times;
    const std::vector<Grid>&node_grids, &tensor_grids;
  };
  std::shared_ptr<const UseTable> OfTerm(const Use& use, LinkTerm term,
                                         std::shared_ptr<const UseTable> other_term);

  const Mesh mesh_;
  const Objective objective_;
  PairNumbers numbers_;
  // By tensor grids, by the other term, and by what else costs depend on.
  std::map<std::tuple<const std::vector<Grid>*, const UseTable*, std::vector<int64_t>>,
           std::shared_ptr<const UseTable>>
      known_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_USE_TABLE_H_
