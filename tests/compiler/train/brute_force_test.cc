// The search on training steps against an enumeration of all plans: random small graphs with the
// gradients that are derived from them, and updates that carry the parameters.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <string>

#include "compiler/simplify/simplify.h"
#include "compiler/train/train.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

using search::Compared;
using search::OptionsFor;

// One to three nodes of random kinds over parameters and an input, and the sum of what the last of
// them computes. No windows and no tables: marking prices their boxes element by element, and box
// analysis may be wider.
Model RandomForward(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{2} + static_cast<int64_t>(random() % 5); };
  const auto parameter = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  TensorId x = build.Input({size(), size()});
  const TensorId shared = parameter({size(), size()});
  const size_t nodes = 1 + random() % 3;
  for (size_t n = 0; n < nodes; ++n) {
    const std::vector<int64_t> dims = build.Dims(x);
    switch (random() % 7) {
      case 0: x = build.Relu(x); break;
      case 1: x = build.Add(x, parameter(dims)); break;
      case 2: x = build.AddRow(x, parameter({dims[1]})); break;
      case 3: x = build.MultiplyRow(x, parameter({dims[1]})); break;
      default:
        x = build.MatMul(x,
                         dims[1] == build.Dims(shared)[0] ? shared : parameter({dims[1], size()}));
    }
  }
  while (!build.Dims(x).empty()) x = build.Reduce(x, Reducer::kSum);
  return build.Finish({x});
}

// The step of that model, as import makes it; nothing where no gradient is left to update anything.
absl::optional<Graph> RandomStep(Random& random) {
  Model model = RandomForward(random);
  PutInCanonicalOrder(model);
  TrainRecipe recipe;
  recipe.minimized = model.graph.tensors[model.graph.outputs[0]].name;
  recipe.optimizer.description = *BuiltInLibrary().Find("sgd");
  recipe.optimizer.numbers["lr"] = 0.1;
  const auto updated = MakeTrainingStep(model, recipe);
  if (!updated.ok()) return absl::nullopt;
  ReplaceLiterals(model);
  RemoveViews(model);
  ComposeMaps(model);
  PutInCanonicalOrder(model);
  std::map<std::string, TensorId> named;
  for (size_t t = 0; t < model.graph.tensors.size(); ++t) {
    named[model.graph.tensors[t].name] = static_cast<TensorId>(t);
  }
  std::vector<CarriedPair> pairs;
  for (const UpdatedState& pair : *updated) {
    pairs.push_back({named.at(pair.state), named.at(pair.next), pair.next});
  }
  CarryStates(model, pairs);
  return model.graph;
}

struct Tally {
  int compared = 0, proven = 0;
  double plans = 0;
  size_t most_nodes = 0;
};

Tally CompareRandom(const TriedSpace& space, uint32_t seed) {
  Tally tally;
  for (const int devices : {2, 3, 4}) {
    Random random(seed + devices);
    for (int i = 0; i < 200; ++i) {
      CAPTURE(devices, i);
      const absl::optional<Graph> graph = RandomStep(random);
      if (!graph.has_value()) continue;
      const auto compared = CompareWithAllPlans(*graph, space, OptionsFor(space, devices), 50000);
      if (!compared.has_value()) continue;
      ++tally.compared;
      tally.proven += compared->IsProven();
      tally.plans += compared->plans;
      tally.most_nodes = std::max(tally.most_nodes, graph->nodes.size());
      if (tally.compared % 10 == 1 && !space.replicate) CompareGrids(*compared);
    }
  }
  std::cout << tally.compared << " random training steps of up to " << tally.most_nodes
            << " nodes, " << tally.plans << " plans tried; gap 0 on " << tally.proven << "\n";
  CHECK(tally.compared >= 250);
  CHECK(tally.proven >= 0.95 * tally.compared);
  CHECK(tally.most_nodes >= 8);
  return tally;
}

TEST_CASE("training steps against enumeration") { CompareRandom(TriedSpace(), 1); }

TEST_CASE("training steps with copies, from forward to backward pass, against enumeration") {
  TriedSpace space;
  space.copies = true;
  CompareRandom(space, 2);
}

}  // namespace
}  // namespace yuba::compiler
