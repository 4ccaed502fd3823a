// The eighteen closed forms of Zheng et al. ("Alpa: automating inter- and intra-operator
// parallelism for distributed deep learning", OSDI 2022, tables 2 and 3): what it takes to bring a
// tensor from one layout to another, and to multiply matrices in parallel, on meshes of one and two
// dimensions.
//
// A layout is written as there: a letter for each dimension, R whole, S0 cut over the mesh's
// dimension 0, S01 over both. Dimension 0 joins nodes, dimension 1 the devices of a node, and each
// has a bandwidth of its own; messages take no time.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "search/plan/objective.h"
#include "search/plan/use_boxes.h"
#include "tests/support/graphs.h"
#include "tests/support/machines.h"

namespace yuba::search {
namespace {

constexpr double kBandwidths[] = {1e9, 4e9};  // of dimensions 0 and 1
constexpr int64_t kSide = 36;                 // of all tensors, so that parts are even

Mesh MeshWith(std::vector<int> sizes) {
  Mesh mesh;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int kind = static_cast<int>(sizes.size() - 1 - d);
    mesh.axes.push_back({std::string(1, static_cast<char>('a' + d)), sizes[d], kind});
  }
  return mesh;
}

// "S0RS1" as the axes of three dimensions.
Sharding Layout(const std::string& text) {
  Sharding sharding;
  for (const char c : text) {
    if (c == 'R' || c == 'S') {
      sharding.axes.emplace_back();
    } else {
      sharding.axes.back().push_back(static_cast<uint8_t>(c - '0'));
    }
  }
  return sharding;
}

// The papers' formulas, in seconds. `bytes` are of the tensor that one group of devices has
// together; of an all-to-all, of what each device has.
class Formulas {
 public:
  explicit Formulas(const Mesh& mesh) : mesh_(mesh) {}
  double AllGather(double bytes, int d) const { return Others(d) * bytes / Bandwidth(d); }
  double AllToAll(double bytes, int d) const { return Others(d) * bytes / Bandwidth(d); }
  double AllReduce(double bytes, int d) const { return 2 * Others(d) * bytes / Bandwidth(d); }

 private:
  double Others(int d) const { return 1 - 1.0 / mesh_.axes[d].size; }
  double Bandwidth(int d) const { return kBandwidths[mesh_.axes.size() == 1 ? 1 : d]; }
  const Mesh& mesh_;
};

Objective TimeOn(const Mesh& mesh) {
  const bool flat = mesh.kinds() == 1;
  std::vector<double> latencies = {0}, bandwidths = {kBandwidths[1]};
  if (!flat) latencies.push_back(0), bandwidths.push_back(kBandwidths[0]);
  return Objective(ObjectiveKind::kTime, MachineFor(mesh, latencies, bandwidths));
}

// Seconds of one use: `operand` of the node, or its result (-1).
double Seconds(const Node& node, int operand, const Mesh& mesh, const std::string& tensor,
               const std::string& partition) {
  const NodeBoxes boxes = AnalyzeNode(*node.definition, Layout(partition), mesh);
  const auto moved = MovedByUse(*node.definition, operand, mesh, Layout(tensor), boxes);
  return 1e-9 * static_cast<double>(TimeOn(mesh).Exchange(moved));
}

void CheckSeconds(double found, double formula) {
  CHECK(found == Approx(formula).epsilon(1e-3).margin(2e-9));
}

// A map reads x where it is stored as `from`; its loops are cut as `to`.
double Resharding(const Mesh& mesh, const std::string& from, const std::string& to) {
  GraphBuilder builder;
  const Graph graph = builder.Finish({builder.Relu(builder.Input({kSide, kSide}))});
  return Seconds(graph.nodes[0], 0, mesh, from, to);
}

TEST_CASE("a layout becomes another in the time of the closed forms") {
  constexpr double kBytes = 4.0 * kSide * kSide;
  const Mesh two = MeshWith({3, 2}), one = MeshWith({3});
  const Formulas on_two(two), on_one(one);
  CheckSeconds(Resharding(two, "RR", "S0S1"), 0);
  CheckSeconds(Resharding(two, "S0R", "RR"), on_two.AllGather(kBytes, 0));
  CheckSeconds(Resharding(two, "S0S1", "S0R"), on_two.AllGather(kBytes / 3, 1));
  CheckSeconds(Resharding(two, "S0R", "RS0"), on_two.AllToAll(kBytes / 3, 0));
  CheckSeconds(Resharding(two, "S0S1", "S01R"), on_two.AllToAll(kBytes / 6, 1));
  CheckSeconds(Resharding(one, "RR", "S0R"), 0);
  CheckSeconds(Resharding(one, "S0R", "RR"), on_one.AllGather(kBytes, 0));
  CheckSeconds(Resharding(one, "S0R", "RS0"), on_one.AllToAll(kBytes / 3, 0));
}

// c[n, i, j] = sum(k) a[n, i, k] * b[n, k, j], with n, i, j, k cut as the layout says.
struct Product {
  const char *loops, *c, *a, *b;
  double seconds;
};

void CheckProduct(const Mesh& mesh, const Product& product) {
  INFO(product.loops);
  GraphBuilder builder;
  const TensorId a = builder.Input({kSide, kSide, kSide}), b = builder.Input({kSide, kSide, kSide});
  const Graph graph = builder.Finish({builder.BatchedMatmul(a, b)});
  const Node& node = graph.nodes[0];
  CheckSeconds(Seconds(node, 0, mesh, product.a, product.loops), 0);
  CheckSeconds(Seconds(node, 1, mesh, product.b, product.loops), 0);
  CheckSeconds(Seconds(node, -1, mesh, product.c, product.loops), product.seconds);
}

TEST_CASE("matrices are multiplied in the time of the closed forms") {
  constexpr double kBytes = 4.0 * kSide * kSide * kSide;
  const Mesh two = MeshWith({3, 2}), one = MeshWith({3});
  const Formulas on_two(two), on_one(one);
  const double sum = on_two.AllReduce(kBytes / 3, 1);
  for (const Product& product : {Product{"RS0S1R", "RS0S1", "RS0R", "RRS1", 0},
                                 {"RS0RS1", "RS0R", "RS0S1", "RS1R", sum},
                                 {"RRS0S1", "RRS0", "RRS1", "RS1S0", sum},
                                 {"S0S1RR", "S0S1R", "S0S1R", "S0RR", 0},
                                 {"S0RRS1", "S0RR", "S0RS1", "S0S1R", sum},
                                 {"RS01RR", "RS01R", "RS01R", "RRR", 0}}) {
    CheckProduct(two, product);
  }
  // Over both dimensions, where they have one bandwidth: that of so many devices in a row.
  Mesh even = two;
  even.axes[0].kind = 0;
  CheckProduct(even,
               {"RRRS01", "RRR", "RRS01", "RS01R", 2 * (1 - 1.0 / 6) * kBytes / kBandwidths[1]});
  CheckProduct(one, {"RS0RR", "RS0R", "RS0R", "RRR", 0});
  CheckProduct(one, {"RRS0R", "RRS0", "RRR", "RRS0", 0});
  CheckProduct(one, {"RRRS0", "RRR", "RRS0", "RS0R", on_one.AllReduce(kBytes, 0)});
}

}  // namespace
}  // namespace yuba::search
