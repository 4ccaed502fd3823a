// Files in which dimensions are split and merged: what the default finds is the cheapest of all
// plans of their graph with factors and of their graph without, tried one by one.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "compiler/search_model.h"
#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/enumeration.h"
#include "tests/support/marking.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

// Files of a few operators, between which dimensions are split into heads and heads are merged.
class RandomFactors {
 public:
  RandomFactors(int seed, int64_t largest) : random_(seed), largest_(largest) {}

  std::string Next() {
    compiler::OnnxBuilder build;
    values_.clear();
    Add("x", {Extent(), Extent()});
    build.Input("x", values_[0].dims);
    const int operators = 3 + Below(3);
    for (int i = 0; i < operators; ++i) AddOperator(build, "v" + std::to_string(i));
    build.Output(values_.back().name);
    return build.Save();
  }

 private:
  struct Value {
    std::string name;
    std::vector<int64_t> dims;
  };

  void AddOperator(compiler::OnnxBuilder& build, const std::string& name) {
    const Value x = values_.back();
    std::vector<int64_t> dims = x.dims;
    switch (Below(7)) {
      case 0:
      case 1:
        build.Weight("w" + name, {dims.back(), Extent()});
        dims.back() = build.proto().graph().initializer().rbegin()->dims(1);
        build.Node("MatMul", {x.name, "w" + name}, {name});
        return Add(name, dims);
      case 2:
        std::reverse(dims.begin(), dims.end());
        build.Node("Transpose", {x.name}, {name});
        return Add(name, dims);
      case 3: return AddSum(build, name);
      default: return AddReshape(build, name);
    }
  }

  // With a value of the same shape, or a weight for all rows.
  void AddSum(compiler::OnnxBuilder& build, const std::string& name) {
    const Value x = values_.back();
    std::string other = "w" + name;
    for (const Value& value : values_) {
      if (value.dims == x.dims && value.name != x.name) other = value.name;
    }
    if (other == "w" + name) build.Weight(other, {x.dims.back()});
    build.Node("Add", {x.name, other}, {name});
    Add(name, x.dims);
  }

  // Merges two dimensions, splits one that is no prime, or reshapes a matrix into rows of another
  // length.
  void AddReshape(compiler::OnnxBuilder& build, const std::string& name) {
    const Value x = values_.back();
    std::vector<int64_t> dims = x.dims;
    const int dim = Below(static_cast<int>(dims.size()));
    if (dims.size() > 2) {
      const auto at = dims.begin() + std::min<int>(dim, static_cast<int>(dims.size()) - 2);
      *at *= *(at + 1);
      dims.erase(at + 1);
    } else if (Below(3) == 0) {
      const int64_t elements = dims[0] * dims[1];
      dims[1] = Divisor(elements);
      dims[0] = elements / dims[1];
    } else {
      const int64_t inner = Divisor(dims[dim]);
      dims[dim] /= inner;
      dims.insert(dims.begin() + dim + 1, inner);
    }
    if (std::count(dims.begin(), dims.end(), 1) > 0) return AddSum(build, name);
    build.Integers("shape of " + name, dims);
    build.Node("Reshape", {x.name, "shape of " + name}, {name});
    Add(name, dims);
  }

  int64_t Divisor(int64_t of) {
    std::vector<int64_t> divisors;
    for (int64_t n = 1; n <= of; ++n) {
      if (of % n == 0) divisors.push_back(n);
    }
    return divisors[Below(static_cast<int>(divisors.size()))];
  }

  void Add(const std::string& name, const std::vector<int64_t>& dims) {
    values_.push_back({name, dims});
  }
  int Below(int limit) { return static_cast<int>(random_() % limit); }
  int64_t Extent() { return 2 + Below(static_cast<int>(largest_) - 1); }

  std::mt19937 random_;
  int64_t largest_;
  std::vector<Value> values_;
};

struct Tally {
  int compared = 0, proven = 0;
  int factored = 0;           // some dimension has several factors
  int reshaped = 0;           // some reshape stands between others
  int with = 0, without = 0;  // cheaper with factors, or without
  double plans = 0;
};

bool HasFactors(const Graph& graph) {
  for (const Tensor& tensor : graph.tensors) {
    for (const std::vector<int64_t>& factors : tensor.dims) {
      if (factors.size() > 1) return true;
    }
  }
  return false;
}

bool HasReshape(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.definition->reducer == Reducer::kPick; });
}

void Compare(const std::string& file, int devices, bool copies, Tally* tally) {
  ImportOptions import;
  import.library = &compiler::BuiltInLibrary();
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.flat_too = true;
  options.copies = copies;
  options.accumulators = search::Accumulators::kNone;
  TriedSpace space;
  space.copies = copies;
  constexpr int64_t kMost = 20000;
  compiler::Model model = compiler::ImportFile(file, import).value();
  const bool factored = HasFactors(model.graph), reshaped = HasReshape(model.graph);
  const TriedPlans with = TryAllPlans(model.graph, options.mesh, space, kMost);
  ImportOptions flat_import = import;
  flat_import.factors = false;
  const TriedPlans flat = TryAllPlans(compiler::ImportFile(file, flat_import).value().graph,
                                      options.mesh, space, kMost);
  if (with.least < 0 || flat.least < 0) return;
  const search::Plan plan = compiler::SearchModel(options, model).value();
  const int64_t least = std::min(with.least, flat.least);
  INFO(with.least << " with factors, " << flat.least << " without");
  CHECK(plan.cost.bytes() == least);
  CHECK(plan.lower_bound <= (plan.space.factors ? with : flat).least);
  CHECK(MarkedBytes(model.graph, options.mesh, ShardingsOf(plan.tensors),
                    ShardingsOf(plan.nodes)) == plan.cost.bytes());
  CHECK_THAT(search::CheckPlan(model.graph, plan), IsOk());
  ++tally->compared;
  tally->plans += with.plans + flat.plans;
  tally->proven += plan.lower_bound == plan.cost.bytes();
  tally->factored += factored;
  tally->reshaped += reshaped;
  tally->with += with.least < flat.least;
  tally->without += flat.least < with.least;
}

void CompareRandom(bool copies) {
  Tally tally;
  for (const int devices : {2, 3, 4, 6, 8}) {
    RandomFactors files(devices, devices > 4 ? 9 : 8);
    for (int i = 0; i < Part(260); ++i) {
      INFO(devices << " devices, file " << i);
      Compare(files.Next(), devices, copies, &tally);
    }
  }
  std::cout << tally.compared << " files, " << tally.factored << " with factors, " << tally.reshaped
            << " with re-views, " << tally.plans << " plans tried; gap 0 on " << tally.proven
            << "; cheaper with factors " << tally.with << ", without " << tally.without << "\n";
  CHECK(tally.compared >= Part(1000));
  CHECK(tally.factored >= Part(200));
  CHECK(tally.reshaped >= Part(100));
  CHECK(tally.proven >= 0.95 * tally.compared);
  CHECK(tally.with > 0);
  CHECK(tally.without > 0);
}

TEST_CASE("files with factors against enumeration") { CompareRandom(false); }
TEST_CASE("files with factors, and with copies, against enumeration") { CompareRandom(true); }

}  // namespace
}  // namespace yuba::onnx
