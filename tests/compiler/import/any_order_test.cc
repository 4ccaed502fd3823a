// The same graph under other names and with its nodes in another order, meshes whose axes stand in
// another order: plans of the same cost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/rewrite/accumulators.h"
#include "search/search.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Random = std::mt19937;

// A valid order in which any node may come next.
std::vector<int> AnyOrder(const ::onnx::GraphProto& graph, Random& random) {
  std::set<std::string> made;
  for (const ::onnx::NodeProto& node : graph.node()) {
    made.insert(node.output().begin(), node.output().end());
  }
  std::set<std::string> missing = made;
  std::vector<int> left(graph.node_size()), order;
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    std::shuffle(left.begin(), left.end(), random);
    const auto ready = std::find_if(left.begin(), left.end(), [&](int n) {
      const auto& inputs = graph.node(n).input();
      return std::all_of(inputs.begin(), inputs.end(),
                         [&](const std::string& input) { return missing.count(input) == 0; });
    });
    REQUIRE(ready != left.end());
    for (const std::string& output : graph.node(*ready).output()) missing.erase(output);
    order.push_back(*ready);
    left.erase(ready);
  }
  return order;
}

::onnx::ModelProto Disguised(::onnx::ModelProto model, Random& random) {
  ::onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, std::string> names = {{"", ""}};
  const auto rename = [&](std::string* name) {
    const auto [place, is_new] = names.emplace(*name, "");
    if (is_new) place->second = absl::StrCat("v", random(), "_", names.size());
    *name = place->second;
  };
  std::vector<::onnx::NodeProto> nodes;
  for (const int n : AnyOrder(graph, random)) nodes.push_back(graph.node(n));
  graph.clear_node();
  for (::onnx::NodeProto& node : nodes) {
    node.clear_name();
    for (std::string& input : *node.mutable_input()) rename(&input);
    for (std::string& output : *node.mutable_output()) rename(&output);
    *graph.add_node() = std::move(node);
  }
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) rename(input.mutable_name());
  for (::onnx::ValueInfoProto& output : *graph.mutable_output()) rename(output.mutable_name());
  for (::onnx::TensorProto& tensor : *graph.mutable_initializer()) rename(tensor.mutable_name());
  graph.clear_value_info();
  std::shuffle(graph.mutable_initializer()->pointer_begin(),
               graph.mutable_initializer()->pointer_end(), random);
  return model;
}

::onnx::ModelProto ReadProto(const std::string& path) {
  ::onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(model.ParseFromIstream(&file));
  return model;
}

compiler::Model Imported(const ::onnx::ModelProto& proto) {
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/disguised.onnx");
  std::ofstream file(path, std::ios::binary);
  REQUIRE(proto.SerializeToOstream(&file));
  file.close();
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(path);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

struct Found {
  int64_t bytes = 0, bound = 0;
  friend bool operator==(const Found& a, const Found& b) {
    return a.bytes == b.bytes && a.bound == b.bound;
  }
};
std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.bytes << " bytes, bound " << found.bound;
}

Found PlannedCost(const compiler::Model& model, const search::SearchOptions& options) {
  const absl::StatusOr<search::Plan> plan =
      search::Search(search::SharedGraph(model.graph, options), options);
  REQUIRE_THAT(plan, IsOk());
  return {plan->cost.bytes(), plan->lower_bound};
}

search::SearchOptions Options(const Mesh& mesh, bool copies,
                              search::Accumulators accumulators = search::Accumulators::kAuto) {
  search::SearchOptions options;
  options.mesh = mesh;
  options.copies = copies;
  options.accumulators = accumulators;
  return options;
}

const char* const kModels[] = {"mlp", "conv", "encoder", "gpt", "lstm", "light_squeezenet"};

TEST_CASE("names and the order of nodes change nothing") {
  Random random(7);
  for (const std::string name : kModels) {
    const ::onnx::ModelProto proto = ReadProto(absl::StrCat("tests/models/", name, "/model.onnx"));
    const compiler::Model model = Imported(proto);
    const compiler::Model other = Imported(Disguised(proto, random));
    CHECK(model.graph_hash == other.graph_hash);
    std::vector<search::SearchOptions> all = {Options(MeshOf(12), true), Options(MeshOf(8), false)};
    if (name == "lstm") all.push_back(Options(MeshOf(6), true, search::Accumulators::kAll));
    if (name == "gpt") all.push_back(Options(MeshOf(64), false));  // planned on grids
    for (search::SearchOptions& options : all) {
      INFO(name << " on " << options.mesh.devices() << ", copies " << options.copies);
      CHECK(PlannedCost(model, options) == PlannedCost(other, options));
      options.search = "recursive";
      CHECK(PlannedCost(model, options).bytes == PlannedCost(other, options).bytes);
    }
  }
}

TEST_CASE("the names and the order of mesh axes change nothing") {
  for (const char* name : {"mlp", "conv", "gpt"}) {
    const absl::StatusOr<compiler::Model> model =
        compiler::ImportFile(absl::StrCat("tests/models/", name, "/model.onnx"));
    REQUIRE_THAT(model, IsOk());
    for (const std::vector<const char*>& meshes :
         std::vector<std::vector<const char*>>{{"data=2,model=4", "model=4,data=2", "x=8"},
                                               {"x=3,y=2,z=2", "z=2,x=3,y=2", "y=2,x=2,z=3"}}) {
      const Found first = PlannedCost(*model, Options(*MeshOfGroups(meshes[0]), true));
      for (const char* mesh : meshes) {
        INFO(name << " on " << mesh);
        CHECK(PlannedCost(*model, Options(*MeshOfGroups(mesh), true)) == first);
      }
    }
  }
}

}  // namespace
}  // namespace yuba::onnx
