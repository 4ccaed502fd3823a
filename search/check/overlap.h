// At most how many elements the devices can keep of a transfer, from numbers of parts alone: the
// checker's bound behind its relaxed costs (relaxed.h).
//
// A tensor [8] cut in 4 has shards of 2 elements; a node that cuts the same index in 2 reads boxes
// of 4. Whatever the axes, a device keeps at most 2 of the 4 that it reads. So on 4 devices at
// least 4 * 4 - 4 * 2 = 8 elements move, and axes [8/ab] against i/a reach that. MostShared has the
// rule for several dimensions, uneven parts and halos.
//
// Below, a *shard* is a part of the tensor and a *box* what one part of the node reads or writes of
// it; a *factor* is a set of dimensions whose bounds depend on the same indices
// (opsemantics/regions/box_factors.h).
#ifndef YUBA_SEARCH_CHECK_OVERLAP_H_
#define YUBA_SEARCH_CHECK_OVERLAP_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/regions/box_factors.h"
#include "search/plan/grid.h"

namespace yuba::search {

using Large = __int128;

// A multiset of numbers: how often each value occurs, the greatest first.
struct Spread {
  Spread() : counts(1, std::make_pair(int64_t{1}, int64_t{1})) {}
  static Spread Of(const std::vector<int64_t>& values);

  void Sort();
  void Reduce();  // divides all counts by their common divisor
  Large Sum() const;
  int64_t Most() const { return counts.front().first; }
  Spread Times(const Spread& other) const;  // the products of each value with each of the other

  bool operator==(const Spread& other) const {
    return number == other.number && counts == other.counts;
  }

  std::vector<std::pair<int64_t, int64_t>> counts;  // value, times
  int64_t number = 1;                               // of values, each as often as it occurs
};

// At most how many elements a shard and a box share in one factor.
struct OverlapBound {
  Spread by_part, by_piece;     // what depends on the shard alone, and on the box alone
  bool either = false;          // one dimension, of equal means: each of the two is a bound alone
  Large mean = 0, mean_of = 0;  // the fraction of MostShared's second bound; mean_of 0: none

  // Reduces the spreads and sets the following: the sum of by_part times by_piece over `number`
  // independent pairs, the greatest product, and which of the two has several values.
  void Summarise();
  Large sum = 1;
  int64_t number = 1, most = 1;
  bool parts_vary = false, pieces_vary = false;
};

// The boxes of one factor, its indices cut into some numbers of parts.
struct FactorParts {
  int64_t number = 1;          // of parts, all indices together
  std::vector<int64_t> kinds;  // by kind of axes: how many parts they make
  int64_t volume = 0;          // elements of all boxes added up
  std::vector<BoxFactors::Piece> all;
};

// `grid`: of the indices of the factor.
FactorParts FactorPartsOf(const Definition& definition, const BoxFactors& boxes, int factor,
                          const Grid& grid);

// The bound of one factor: its dimensions have these extents and this grid, and `pieces` are the
// node's boxes. `by_kind`: whether only axes of one kind may cut both sides alike; else axes of any
// kind may, and the bound is greater.
OverlapBound OverlapBoundOf(const std::vector<int64_t>& extents, const Grid& grid,
                            const FactorParts& pieces, bool by_kind = true);

// At most how many elements all devices together keep: a bound for any axes of these grids, the
// lesser of two. Let t be a device's shard and q its box. Over the devices all t occur equally
// often, and all q.
//
// First bound: in each dimension the overlap is at most the most that shard t shares with any box
// (a function of t), and at most the most that box q shares with any shard (a function of q); the
// one that is less on average is taken. The functions of t multiplied are a function of t, those of
// q one of q, and the sum of their products is greatest where both are sorted alike.
//
// Second bound: where axes of one kind cut a dimension into p shards and q boxes, those that cut
// both have at most gcd(p, q) combinations of coordinates, and those of all kinds at most the
// product c of these. But for those, shards and boxes are independent. So in a dimension of P
// shards and Q boxes, where c is neither of the two, the mean overlap is at most c/(P*Q) of what
// all boxes hold; the other dimensions then count at their greatest.
int64_t MostShared(int64_t devices, absl::Span<const OverlapBound* const> factors);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_OVERLAP_H_
