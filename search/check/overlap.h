// How much two ways to cut may have in common at most: the checker's bound of what a device keeps,
// from numbers of parts alone.
#ifndef YUBA_SEARCH_CHECK_OVERLAP_H_
#define YUBA_SEARCH_CHECK_OVERLAP_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/regions/box_factors.h"

namespace yuba::search {

using Parts = std::vector<int>;  // by extent: into how many parts it is cut
using Large = __int128;

int64_t Total(const Parts& parts);  // all of them multiplied

// How often each value occurs, the greatest first.
struct Spread {
  Spread() : counts(1, std::make_pair(int64_t{1}, int64_t{1})) {}
  static Spread Of(const std::vector<int64_t>& values);

  void Sort();
  void Reduce();  // as often in proportion, by the fewest values
  Large Sum() const;
  int64_t Most() const { return counts.front().first; }
  Spread Times(const Spread& other) const;

  bool operator==(const Spread& other) const {
    return number == other.number && counts == other.counts;
  }

  std::vector<std::pair<int64_t, int64_t>> counts;  // value, times
  int64_t number = 1;                               // of values
};

// What both may share in one factor.
struct OverlapBound {
  Spread by_part, by_piece;
  bool either = false;          // one dimension, of equal means: each of the two is a bound alone
  Large mean = 0, mean_of = 0;  // the fraction of the second bound, where there is one

  bool operator==(const OverlapBound& other) const {
    return by_part == other.by_part && by_piece == other.by_piece && either == other.either &&
           mean == other.mean && mean_of == other.mean_of;
  }

  void Summarise();
  Large sum = 1;  // of both multiplied, over `number` devices that are independent
  int64_t number = 1, most = 1;
  bool parts_vary = false, pieces_vary = false;  // where it must be both
};

// The pieces of one factor for one way to cut its indices.
struct PartBoxes {
  int64_t number = 1;
  int64_t volume = 0;
  std::vector<BoxFactors::Piece> all;
};

PartBoxes PartBoxesOf(const Definition& definition, const BoxFactors& boxes, int factor,
                      const Parts& parts);

// Of the dimensions of one factor, of these extents and cut into these parts, with the pieces.
OverlapBound OverlapBoundOf(const std::vector<int64_t>& extents, const Parts& parts,
                            const PartBoxes& pieces);

// A bound of what a device keeps: let t be its part of the tensor, q its piece of the node. Over
// the devices all t come equally often, and all q. In each dimension the overlap is at most the
// most that part t shares with any piece, and at most the most that piece q shares with any part;
// take the one that is less on average. The first kind multiplied is a function of t, the second of
// q, and the sum of their products is greatest where both are sorted alike. Or, in one dimension of
// p parts and q pieces where neither divides the other: parts and pieces have axes of at most
// gcd(p, q) combinations in common and are independent otherwise, so the mean is at most gcd/(p*q)
// of what all pieces hold; the other dimensions then count at their greatest.
int64_t MostShared(int64_t devices, const std::vector<const OverlapBound*>& factors);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_OVERLAP_H_
