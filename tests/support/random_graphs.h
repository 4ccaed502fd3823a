// Small random graphs, for comparison with an enumeration of all plans.
#ifndef YUBA_TESTS_SUPPORT_RANDOM_GRAPHS_H_
#define YUBA_TESTS_SUPPORT_RANDOM_GRAPHS_H_

#include <cstdint>
#include <random>

#include "tests/support/graphs.h"

namespace yuba {

// 3 to 7 nodes: branches, joins, shared weights, halos, reductions, reshapes, extents down to 1.
// The more devices, the smaller the graphs, so that all plans can be tried.
class RandomGraphs {
 public:
  RandomGraphs(int seed, int devices)
      : random_(seed), most_nodes_(devices > 4 ? 4 : 7), largest_(devices > 4 ? 9 : 7) {}

  Graph Next();

 private:
  // Two dimensions joined to one, or one that is no prime split in two, as factors do.
  TensorId JoinOrSplit(TensorId x, GraphBuilder* builder);

  int Below(int limit) { return static_cast<int>(random_() % limit); }
  int64_t Extent() { return 1 + Below(largest_); }

  std::mt19937 random_;
  int most_nodes_, largest_;
  bool half_ = false;
};

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_RANDOM_GRAPHS_H_
