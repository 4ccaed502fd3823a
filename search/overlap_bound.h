// The most that what devices have and what pieces of a node read, or make, can overlap, whatever
// the labels: the relaxation of a transfer to grids, in closed form.
//
// A device has one part t of each dimension and one piece q of each factor; over the devices every
// combination of parts is met equally often, and so is every combination of pieces. In one
// dimension the overlap is at most what a part can share with any piece (a function of t) or a
// piece with any part (a function of q), whichever is less on average: where one divides finer than
// the other, the size of the finer, which good labels reach. The product of functions of t alone
// has the product of the means as its mean, so has that of functions of q alone; functions of both
// are at most as large as when the greatest values meet. Without halo all is exact where the
// extents divide.
#ifndef YUBA_SEARCH_OVERLAP_BOUND_H_
#define YUBA_SEARCH_OVERLAP_BOUND_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "search/regions.h"

namespace yuba {

// How often which values occur: (value, count), greatest first. Counts have no common divisor.
using Profile = std::vector<std::pair<int64_t, int64_t>>;

// What one factor, or several multiplied together, say of the overlap, in a form that is the same
// for equal bounds.
struct OverlapProduct {
  int64_t scale = 1;           // of all values; 0: no overlap, and all else is as in {}
  Profile parts = {{1, 1}};    // the share that depends on the parts alone
  Profile pieces = {{1, 1}};   // and that on the pieces alone
  // Whether the shares vary; not told of factors where each of the two alone bounds the overlap,
  // and both are alike on average: `pieces` has their share.
  bool parts_vary = false, pieces_vary = false;
  int64_t greatest = 1;        // of one device
  // Bounds of the mean of all devices, where neither number of parts of a factor divides the other:
  // (dividend, divisor), ascending.
  std::vector<std::pair<__int128, int64_t>> means;

  bool operator<(const OverlapProduct& other) const;
};

// Of one factor: `extents` and `parts` of its dimensions.
OverlapProduct OverlapOf(const std::vector<int64_t>& extents, const std::vector<int>& parts,
                         const FactorPieces& pieces);

OverlapProduct Product(const OverlapProduct& a, const OverlapProduct& b);

// The greatest sum over `devices` devices.
int64_t GreatestOverlap(int64_t devices, const OverlapProduct& all);

}  // namespace yuba

#endif  // YUBA_SEARCH_OVERLAP_BOUND_H_
