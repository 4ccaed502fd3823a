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

// How often which values occur, greatest first.
struct Profile {
  std::vector<std::pair<int64_t, int64_t>> runs;  // (value, count)
  int64_t sum = 0;
  int64_t count = 0;

  int64_t greatest() const { return runs.empty() ? 0 : runs[0].first; }
  bool constant() const { return runs.size() <= 1; }
};
Profile ProfileOf(std::vector<int64_t> values);
// Of the products of independent values.
Profile Product(const Profile& a, const Profile& b);

// One factor: parts of its dimensions against its pieces.
struct FactorOverlap {
  Profile parts = {{{1, 1}}, 1, 1};   // the share that depends on the part alone
  Profile pieces = {{{1, 1}}, 1, 1};  // and that on the piece alone
  bool either = false;  // each of the two alone bounds the overlap, and both are alike on average
  // Both together: the mean is sum / count.
  int64_t sum = 1, count = 1, greatest = 1;
  bool parts_vary = false, pieces_vary = false;  // where it is not either
  // A bound of the mean, where neither number of parts divides the other, as a fraction; or 0 / 0.
  int64_t mean = 0, mean_of = 0;
};

// `extents` and `parts` of the factor's dimensions.
FactorOverlap OverlapOf(const std::vector<int64_t>& extents, const std::vector<int>& parts,
                        const FactorPieces& pieces);

// The greatest sum over `devices` devices.
int64_t GreatestOverlap(int64_t devices, const std::vector<const FactorOverlap*>& factors);

}  // namespace yuba

#endif  // YUBA_SEARCH_OVERLAP_BOUND_H_
