// Figures, not a test: peaks of live bytes in the depth-first order and in that of the phase.
//   bazel run //tests/compiler/order:order_bench -- [DIM=SIZE ...] MODEL.onnx ...
//   bazel run //tests/compiler/order:order_bench        random graphs, and long training graphs
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "compiler/order/order.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/language/library.h"
#include "tests/compiler/order/random_graphs.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::compiler {
namespace {

void Print(const std::string& name, const Graph& graph) {
  const auto start = std::chrono::steady_clock::now();
  const NodeOrder order = LeastPeakOrder(graph).value();
  const double seconds = SecondsSince(start);
  std::cout << name << ": " << graph.nodes.size() << " nodes, depth first "
            << order.depth_first_peak << ", ordered " << order.peak << " bytes ("
            << 100.0 * order.peak / std::max<int64_t>(1, order.depth_first_peak) << " %)"
            << (order.proved ? ", proved" : "") << ", " << seconds << " s" << std::endl;
}

void RandomGraphs() {
  for (const int nodes : {8, 12, 16}) {
    int optimal = 0, proved = 0, better = 0;
    for (int seed = 0; seed < 1000; ++seed) {
      Random random(seed);
      const Graph graph = RandomGraph(nodes, 3 + seed % nodes, random);
      const NodeOrder order = LeastPeakOrder(graph).value();
      optimal += order.peak == ExhaustivePeak(graph);
      proved += order.proved;
      better += order.peak < order.depth_first_peak;
    }
    std::cout << nodes << " nodes: " << optimal << " of 1000 optimal, " << proved << " proved, "
              << better << " below depth first" << std::endl;
  }
  for (const int nodes : {50, 200, 1000, 5000, 10000}) {
    for (const int reach : {5, 20, 100}) {
      Random random(nodes + reach);
      Print("random, reach " + std::to_string(reach), RandomGraph(nodes, reach, random));
    }
  }
  for (const int layers : {10, 100, 1000, 2500}) Print("training", TrainingGraph(layers));
}

// The model; sizes of dimensions that it has not are left out.
absl::StatusOr<Model> Import(const std::string& file, onnx::ImportOptions options) {
  absl::StatusOr<Model> model = ImportFile(file, options);
  for (const auto& [name, size] : std::map<std::string, int64_t>(options.dims)) {
    const bool unknown = !model.ok() && model.status().message().find("--dim " + name + "=") !=
                                            absl::string_view::npos;
    if (!unknown) continue;
    options.dims.erase(name);
    model = ImportFile(file, options);
  }
  return model;
}

int Run(int count, char** arguments) {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  onnx::ImportOptions options;
  options.library = &library;
  for (int i = 0; i < count; ++i) {
    const std::string argument = arguments[i];
    const size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      options.dims[argument.substr(0, equals)] = std::atoll(argument.c_str() + equals + 1);
      continue;
    }
    const absl::StatusOr<Model> model = Import(argument, options);
    if (model.ok()) {
      Print(argument, model->graph);
    } else {
      std::cout << argument << ": " << model.status().message().substr(0, 200) << "\n";
    }
  }
  if (count == 0) RandomGraphs();
  return 0;
}

}  // namespace
}  // namespace yuba::compiler

int main(int argc, char** argv) { return yuba::compiler::Run(argc - 1, argv + 1); }
