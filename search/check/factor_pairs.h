// The factors of a use of a tensor by a node, each cut in some way by the node and in some way by
// the tensor.
//
// A cost is a function of the set of a use's pairs of ways, one of each factor, whichever factor
// they are of; pairs with equal shares (shares.h) are equal there. So factors may exchange their
// pairs, and all that they must agree in is what a pair is worth. Where they do, ways of a node to
// cut them are alike.
#ifndef YUBA_SEARCH_CHECK_FACTOR_PAIRS_H_
#define YUBA_SEARCH_CHECK_FACTOR_PAIRS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/box_factors.h"
#include "search/check/overlap.h"
#include "search/check/shares.h"
#include "search/plan/grid.h"
#include "search/plan/link_terms.h"

namespace yuba::search {

// Numbers of pairs, by SharesOf: of as many uses as are to be compared.
using PairNumbers = std::map<std::vector<Large>, int>;

class FactorPairs {
 public:
  // `sums`: of nodes that write partials to be added up. `reaches`: whether costs depend on what is
  // within reach of links of lesser kinds. `term`: which part of the cost; what it does
  // not depend on is left out of pairs, so that more are equal. `numbers` outlives this.
  FactorPairs(const Definition& definition, int operand, bool sums, bool reaches, LinkTerm term,
              const std::vector<Grid>& tensor_grids, PairNumbers* numbers);

  // How many factors there are: none of a tensor without dimensions, whose box is always the whole.
  size_t size() const { return factors_.size(); }
  // On which the factor's bounds depend.
  const std::vector<int>& indices(size_t factor) const { return shape(factor).indices; }
  // A way to cut a factor: all that costs depend on of the parts that it makes, by kind of axes as
  // far as kinds matter.
  using Way = std::vector<std::vector<int>>;
  // How many ways there are for tensors to cut a factor, over all factors.
  int ways() const { return static_cast<int>(ways_.size()); }
  // By tensor grid: its way to cut the factor.
  const std::vector<int>& WaysOf(size_t factor) const { return factors_[factor].way_of; }

  // One way of a node to cut a factor.
  struct Column {
    std::vector<FactorPair> pairs;  // by way of a tensor, with those of the factor
    // Columns with the same number, of whichever factors, have pairs of equal shares with all ways
    // that both have.
    int alike = 0;
  };
  // Of this node grid; it stays where it is.
  const Column* ColumnOf(size_t factor, const Grid& node);
  // [number of Column::alike][way]: the pair's number; -1: no such column has that way so far.
  const std::vector<std::vector<int>>& alike() const { return alike_; }
  // By factor: the first one with which it exchanges pairs, perhaps by way of a third one: columns
  // so far of factors with different numbers are never alike.
  std::vector<size_t> Groups() const;

 private:
  struct Factor {
    std::vector<int64_t> extents;  // of the tensor's dimensions
    std::vector<int> way_of;
    std::map<int, Grid> different;  // ways that tensors have, each as one of its grids
    std::map<Way, Column> columns;  // by the node's way
  };
  const BoxFactor& shape(size_t factor) const { return boxes_.factors()[factor]; }
  Way WayOfTensor(const std::vector<int64_t>& extents, const Grid& cut) const;
  Way WayOfNode(size_t factor, const Grid& cut) const;
  FactorPair PairOf(size_t factor, const FactorParts& parts, const Grid& cut,
                    const Grid& way) const;
  int AlikeTo(const Factor& factor, const Column& column);

  const Definition& definition_;
  const int operand_;
  const bool sums_, reaches_;
  const LinkTerm term_;
  const BoxFactors boxes_;
  std::vector<Factor> factors_;
  std::map<Way, int> ways_;
  PairNumbers* const numbers_;
  std::vector<std::vector<int>> alike_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_FACTOR_PAIRS_H_
