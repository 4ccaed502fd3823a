// The search against an enumeration whose prices come from marking elements one by one.

#include <catch2/catch.hpp>
#include <random>

#include "search/check.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/marking.h"

namespace yuba {
namespace {

// Catch counts what is compared: returns false where the graph was too large to enumerate.
bool Compare(const Graph& graph, int devices, int64_t limit) {
  CAPTURE(devices);
  SearchOptions options;
  options.mesh = MeshOf(devices);
  int64_t least = LeastMarkedBytes(graph, options.mesh, limit);
  if (least < 0) return false;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE(plan.ok());
  CHECK(plan->proof.kind == "elimination");
  CHECK(plan->cost.bytes() == least);
  CHECK(plan->lower_bound == least);
  CHECK(MarkedBytes(graph, options.mesh, plan->tensors, plan->nodes) == least);
  CHECK(CheckPlan(graph, *plan).ToString() == "OK");
  options.search = "recursive";
  plan = Search(graph, options);
  REQUIRE(plan.ok());
  CHECK(plan->cost.bytes() >= least);
  CHECK(MarkedBytes(graph, options.mesh, plan->tensors, plan->nodes) == plan->cost.bytes());
  return true;
}

TEST_CASE("chains of products against enumeration") {
  CHECK(Compare(MatmulChain({5, 9}, 7), 2, 1000));
  CHECK(Compare(MatmulChain({5, 9}, 7), 8, 1000));
  CHECK(Compare(MatmulChain({4, 8, 6}, 8), 2, 1000));
  CHECK(Compare(MatmulChain({6, 7, 5}, 4), 4, 1000));
  CHECK(Compare(MatmulChain({6, 4, 9}, 7), 6, 1000));
  CHECK(Compare(MatmulChain({8, 12, 8}, 8), 8, 10000));
  CHECK(Compare(MatmulChain({3, 8, 4, 6}, 8), 2, 10000));
  CHECK(Compare(MatmulChain({7, 4, 6, 5}, 6), 4, 10000));
  CHECK(Compare(MatmulChain({6, 6, 6, 6}, 6), 6, 10000));
  CHECK(Compare(MatmulChain({4, 8, 8, 4}, 8), 8, 1000000));
}

// Branches, joins, shared weights, halos, reductions; extents from 1 to 7.
class RandomGraphs {
 public:
  explicit RandomGraphs(int seed) : random_(seed) {}

  Graph Next() {
    GraphBuilder builder;
    std::vector<TensorId> tensors;
    auto add = [&](TensorId tensor) {
      tensors.push_back(tensor);
      return tensor;
    };
    auto leaf = [&](std::vector<int64_t> dims) {
      bool input = Below(3) == 0;
      ElementType type = half_ ? ElementType::kF16 : ElementType::kF32;
      return add(input ? builder.Input(dims, type) : builder.Parameter(dims, type));
    };
    half_ = Below(4) == 0;
    leaf({Extent(), Extent()});
    int nodes = 2 + Below(5);
    for (int made = 0; made < nodes;) {
      TensorId x = tensors[tensors.size() - 1 - Below(std::min<int>(4, tensors.size()))];
      const std::vector<int64_t> dims = builder.Dims(x);
      TensorId other = x;  // one of the same shape, if there is one
      for (TensorId t : tensors) {
        if (t != x && builder.Dims(t) == dims && Below(2) == 0) other = t;
      }
      ++made;
      switch (Below(9)) {
        case 0: {
          int64_t columns = Extent();
          if (dims.size() == 2) add(builder.Matmul(x, leaf({dims[1], columns})));
          break;
        }
        case 1:
          if (dims.size() == 2 && dims[0] == dims[1]) add(builder.Matmul(x, other));
          else add(builder.Relu(x));
          break;
        case 2: add(builder.Add(x, other == x ? leaf(dims) : other)); break;
        case 3: add(builder.Scale(x, leaf({dims.back()}), static_cast<int>(dims.size()) - 1)); break;
        case 4:
          if (dims.size() == 2) add(builder.SumOver(x, Below(2)));
          break;
        case 5:
          if (dims.size() == 2) add(builder.Transpose(x));
          break;
        case 6: {
          int64_t first = Below(static_cast<int>(dims[0]));
          add(builder.Slice(x, first, dims[0] - first));
          break;
        }
        case 7: add(builder.Shift(x, 1 + Below(2))); break;
        default:
          if (dims.size() == 2) {
            int64_t kernel = 1 + Below(3), stride = 1 + Below(2);
            int64_t extent = (dims[1] - 1) * stride + kernel;
            add(builder.ConvGradient(x, leaf({kernel}), stride, extent));
          }
      }
    }
    return builder.Finish({tensors.back()});
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % limit); }
  int64_t Extent() { return 1 + Below(7); }

  std::mt19937 random_;
  bool half_ = false;
};

TEST_CASE("random graphs against enumeration") {
  RandomGraphs graphs(1);
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    Graph graph = graphs.Next();
    for (int devices : {2, 3, 4, 6}) compared += Compare(graph, devices, 30000) ? 1 : 0;
  }
  CHECK(compared > 1000);
}

TEST_CASE("a convolution and its pooling against enumeration") {
  GraphBuilder builder;
  TensorId x = builder.Input({2, 3, 5, 4});
  TensorId y = builder.Conv(x, builder.Parameter({2, 3, 3, 2}), 2, 1);
  Graph graph = builder.Finish({builder.MaxPool(y, 2, 1)});
  CHECK(Compare(graph, 2, 10000));
  CHECK(Compare(graph, 3, 10000));
}

}  // namespace
}  // namespace yuba
