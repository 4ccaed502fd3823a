// Graphs whose uses are of all kinds, for tests of what uses cost.
#ifndef YUBA_TESTS_SEARCH_COST_USES_H_
#define YUBA_TESTS_SEARCH_COST_USES_H_

#include "opsemantics/definition/graph.h"
#include "tests/support/graphs.h"

namespace yuba::search {

// All extents divide.
inline Graph EvenGraph() {
  GraphBuilder builder;
  TensorId x = builder.Input({16, 32});
  TensorId y = builder.Relu(builder.Matmul(x, builder.Parameter({32, 16})));
  return builder.Finish({builder.Add(y, builder.Input({16, 16}))});
}

// Windows, small floats and parts of different sizes.
inline Graph UnevenGraph() {
  GraphBuilder builder;
  TensorId x = builder.Input({3, 2, 7, 5}, ElementType::kBF16);
  TensorId y = builder.MaxPool(
      builder.Conv(x, builder.Parameter({3, 2, 3, 2}, ElementType::kBF16), 2, 1), 2, 1);
  TensorId z = builder.SumOver(builder.Scale(y, builder.Parameter({3}, ElementType::kBF16), 1), 2);
  return builder.Finish({z});
}

// A gradient of a window, a slice of a shift, and reads at scaled and added indices.
inline Graph StrangeReads() {
  GraphBuilder builder;
  TensorId g = builder.ConvGradient(builder.Input({3, 5}), builder.Parameter({4}), 2, 12);
  TensorId s = builder.Shift(builder.Slice(builder.Input({9, 3}), 2, 6), 1);
  TensorId z = builder.Gates(builder.Input({5, 6}), builder.Parameter({4, 3, 6}));
  TensorId h = builder.Gated(z, builder.Input({5, 3}), 1, 3);
  return builder.Finish({g, s, h});
}

}  // namespace yuba::search

#endif  // YUBA_TESTS_SEARCH_COST_USES_H_
