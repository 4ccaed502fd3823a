// What a page's data says of real plans, and that names cannot break out of it.
#include "tools/page/page_data.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tools/page/page.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string PlanText(const std::string& model, const std::string& flags) {
  const std::string file = ScratchFolder("page_data") + "/p.json";
  Succeed("yuba partition " + RepositoryFile("tests/models/" + model + "/model.onnx") +
          " --devices 8 " + flags + " -o " + file);
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

search::PlanFile Read(const std::string& text) {
  absl::StatusOr<search::PlanFile> plan = search::ReadPlan(text);
  REQUIRE(plan.ok());
  return *plan;
}

void CollectNodes(const Json& items, std::vector<int>& nodes) {
  for (const Json& item : items) {
    if (item["kind"] == "unit") {
      for (int node : item["nodes"]) nodes.push_back(node);
    } else {
      CollectNodes(item["items"], nodes);
    }
  }
}

size_t CountOf(const std::string& text, const std::string& words) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
  return count;
}

TEST_CASE("bytes by kind add up to the plan's, and each node is in the tree once") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"mlp", ""},
      {"conv", ""},  // halos
      {"lstm", "--space copies=none"},
      {"gpt", "--replicate auto"},
      {"mlp", "--train adam --loss mse"}};
  for (const auto& [model, flags] : cases) {
    INFO(model << " " << flags);
    const search::PlanFile plan = Read(PlanText(model, flags));
    const Json data = Json::parse(ScriptText(PageData(plan)));
    std::vector<int64_t> bytes(4);
    for (const Json& move : data["moves"])
      bytes[move["kind"].get<int>()] += move["bytes"].get<int64_t>();
    CHECK(data["moves"].size() == plan.transfers.size());
    CHECK(bytes == data["bytes"].get<std::vector<int64_t>>());
    CHECK(bytes == std::vector<int64_t>{plan.cost.weight, plan.cost.activation, plan.cost.partial,
                                        plan.cost.halo});
    std::vector<int> nodes, all(plan.nodes.size());
    CollectNodes(data["tree"], nodes);
    std::sort(nodes.begin(), nodes.end());
    std::iota(all.begin(), all.end(), 0);
    CHECK(nodes == all);
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      const Json& node = data["nodes"][n];
      CHECK(node["name"] == plan.nodes[n].name);
      CHECK(data["tensors"][node["writes"].get<int>()]["name"] == plan.nodes[n].writes);
      CHECK(node["reads"].size() == plan.nodes[n].reads.size());
    }
  }
}

TEST_CASE("names stay names, whatever is in them") {
  const std::string evil = "</script><script>alert(1)</script><!-- data --><!-- script -->'\"&\n" +
                           std::string(3000, 'x');
  std::string text = PlanText("mlp", "");
  const std::string quoted = Json(evil).dump();
  text = absl::StrReplaceAll(text, {{"\"y/z\"", quoted}, {"\"model.onnx\"", quoted}});
  const search::PlanFile plan = Read(text);
  CHECK(plan.notes.graph_file == evil);
  const std::string page = PlanPage(plan, ""), usual = PlanPage(Read(PlanText("mlp", "")), "");
  for (const std::string tag : {"<script", "</script>", "<!--"}) {
    INFO(tag);
    CHECK(CountOf(page, tag) == CountOf(usual, tag));
  }
  const std::string begin = "<script type=\"application/json\" id=\"plan\">";
  const size_t at = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  CHECK(data["graph"] == evil);
  CHECK(CountOf(data.dump(), Json(evil).dump()) >= 3);
}

TEST_CASE("bytes that are no text are no fault") {
  CHECK(ScriptText({{"name", "a\xff<b"}}) == "{\"name\":\"a\xEF\xBF\xBD\\u003cb\"}");
}

TEST_CASE("a page needs nothing from elsewhere, and says what is missing without the model") {
  const std::string page = PlanPage(Read(PlanText("mlp", "")), "");
  for (const std::string words : {"http:", "https:", "src=", "@import", "url("}) {
    INFO(words);
    CHECK(CountOf(page, words) == 0);
  }
  CHECK(CountOf(page, "needs the model: yuba show MODEL PLAN") == 1);
  const std::string with = PlanPage(Read(PlanText("mlp", "")), "<p>the arena</p>");
  CHECK(CountOf(with, "<p>the arena</p>") == 1);
  CHECK(CountOf(with, "needs the model") == 0);
}

}  // namespace
}  // namespace yuba::tools
