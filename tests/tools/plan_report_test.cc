// What `partition` and `show` print of a plan: equal layers in one row, columns with headings, one
// unit a table.
#include "tools/report/plan_report.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tools/report/plan_rows.h"

namespace yuba::tools {
namespace {

std::string Model(const std::string& name) {
  return RepositoryFile("tests/models/" + name + "/model.onnx");
}

bool Has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The rows of the table of what moves.
std::vector<std::string> MovedRows(const std::string& summary) {
  std::vector<std::string> rows;
  bool inside = false;
  for (const std::string& line : Lines(summary)) {
    if (inside && (line.empty() || Has(line, " nothing"))) break;
    if (inside) rows.push_back(line);
    inside = inside || line.rfind("  what moves", 0) == 0;
  }
  return rows;
}

double LastNumber(const std::string& row) { return std::stod(row.substr(row.rfind(' '))); }

std::string Partitioned(const std::string& model, const std::string& flags) {
  const std::string plan = ScratchFolder("report") + "/p.json";
  return Succeed("yuba partition " + model + " " + flags + " -o " + plan).out;
}

TEST_CASE("what is gathered of weights that the graph computes is called weights") {
  compiler::OnnxBuilder build;
  build.Input("x", {16, 32});
  build.Weight("w", {32, 32});
  build.Node("Relu", {"w"}, {"computed"});
  build.Node("MatMul", {"x", "computed"}, {"y"});
  build.Output("y");
  const std::string text = Partitioned(build.Save(), "--search data --devices 8");
  INFO(text);
  CHECK(Has(text, "(100 %), activations gathered 0 B"));
  const std::vector<std::string> rows = MovedRows(text);
  REQUIRE(rows.size() == 1);
  CHECK(Has(rows[0], "weights"));
}

TEST_CASE("a plan with small floats says that processors are slow with them") {
  const std::string train = "--devices 2 --train sgd --loss softmax-cross-entropy --lr 0.1";
  const std::string slow = "f16 and bf16 take up to 2.5 times as long as f32";
  CHECK_FALSE(Has(Partitioned(Model("mlp"), train), slow));
  CHECK(Has(Partitioned(Model("mlp"), train + " --precision bf16"), slow));
}

TEST_CASE("a training step for which memory is too small may be made in parts") {
  const std::string plan = ScratchFolder("report") + "/p.json";
  const std::string partition = "yuba partition " + Model("mlp") + " --devices 2 --memory 2kB ";
  const std::string train = "--train sgd --loss softmax-cross-entropy --lr 0.1 ";
  const CommandResult refused = RunCommand(partition + train + "-o " + plan);
  CHECK(refused.exit_code == 1);
  CHECK(Has(refused.error, "in parts, as with --micro-batches 4"));
  CHECK_FALSE(Has(RunCommand(partition + "-o " + plan).error, "--micro-batches"));
}

// What `show PLAN --diff OTHER` prints of plans of the encoder, asked for with these flags.
std::string Difference(const std::string& here, const std::string& there, const char* all = "") {
  const std::string folder = ScratchFolder("diff");
  const std::string partition = "yuba partition " + Model("encoder") + " -o " + folder;
  Succeed(partition + "/here.json " + here);
  Succeed(partition + "/there.json " + there);
  return Succeed("yuba show " + folder + "/here.json --diff " + folder + "/there.json " + all).out;
}

TEST_CASE("a difference says what was asked for, what moves, and which nodes are cut otherwise") {
  const std::string text = Difference("--devices 8", "--devices 8 --search recursive");
  INFO(text);
  CHECK(Has(text, "asked for      search=default here, search=recursive there"));
  CHECK(Has(text, " (+"));
  CHECK(Has(text, "partial sums +"));
  CHECK(Has(text, "All rows: --all"));
  std::vector<std::string> rows;
  for (const std::string& line : Lines(text)) {
    if (Has(line, "/b.*/o/MatMul_output_0")) rows.push_back(line);
  }
  REQUIRE_FALSE(rows.empty());  // both layers are one row
  CHECK(rows[0].rfind("2 x ", 0) == 0);
  CHECK(Has(rows[0], "kB"));
  const std::string all = Difference("--devices 8", "--devices 8 --search recursive", "--all");
  CHECK_FALSE(Has(all, "All rows"));
  CHECK(Lines(all).size() > Lines(text).size());
}

TEST_CASE("plans on meshes whose axes differ in names or order alone differ in nothing else") {
  const std::string same = Difference("--devices 8", "--mesh p=8");
  INFO(same);
  CHECK(Has(same, "mesh           a=2 b=2 c=2 here, p=8 there"));
  CHECK(Has(same, "axes           called as here; there "));
  CHECK(Has(same, "all nodes are cut alike"));
  CHECK_FALSE(Has(same, "tensors that differ"));
  const std::string exchanged = Difference("--devices 8", "--mesh data=2,model=4 --pin batch=data");
  INFO(exchanged);
  CHECK(Has(exchanged, "all nodes are cut alike"));
  CHECK_FALSE(Has(exchanged, "tensors that differ"));
  const std::string moved = Difference("--mesh g=3,h=2", "--mesh h=2,g=3");
  INFO(moved);
  CHECK_FALSE(Has(moved, "axes  "));  // they have the same names
  CHECK(Has(moved, "mesh           g=3 h=2 here, h=2 g=3 there"));
}

TEST_CASE("axes of two plans are called alike only where they are of one kind") {
  const std::string folder = ScratchFolder("kinds"), here = folder + "/here.json";
  const std::string there = folder + "/there.json", other = folder + "/other.json";
  const std::string partition = "yuba partition " + Model("mlp") + " --devices 4 -o ";
  Succeed(partition + here);
  Succeed("yuba partition " + Model("mlp") + " --mesh p=4 -o " + there);
  std::ifstream in(there);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string axis = "\"axis\":\"p.1\",\"size\":2";
  REQUIRE(Has(text, axis));
  text.replace(text.find(axis), axis.size(), axis + ",\"kind\":1");
  std::ofstream(other) << text;
  const std::string called = "called as here";
  CHECK(Has(Succeed("yuba show " + here + " --diff " + there).out, called));
  CHECK_FALSE(Has(Succeed("yuba show " + here + " --diff " + other).out, called));
}

TEST_CASE("equal layers are one row, and the rows hold nearly all bytes") {
  const std::string vit = ScratchFolder("vit") + "/vit.onnx";
  Succeed("yuba zoo vit --layers 12 --width 96 -o " + vit);
  const std::string train = "--train adam --loss softmax-cross-entropy";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {vit, ""}, {Model("encoder"), ""}, {Model("encoder"), train}};
  for (const auto& [model, flags] : cases) {
    const std::string text = Partitioned(model, flags);
    INFO(text);
    const std::vector<std::string> rows = MovedRows(text);
    REQUIRE(!rows.empty());
    CHECK(rows.size() <= 17);
    CHECK(Has(text, model == vit ? " 12 x " : " 2 x "));
    double percent = 0;
    for (const std::string& row : rows) {
      percent += LastNumber(row);
      if (Has(row, "the rest")) CHECK(LastNumber(row) <= 10);
    }
    CHECK(percent == Approx(100).margin(1));
  }
}

TEST_CASE("a small model's tables are in kB, and every column has a heading") {
  const std::string plan = ScratchFolder("small") + "/p.json";
  const std::string made = Succeed("yuba partition " + Model("mlp") + " -o " + plan).out;
  const std::string shown = Succeed("yuba show " + plan).out;
  INFO(made << shown);
  CHECK(Has(made, "moved kB"));
  for (const char* heading : {"operator", "gathered kB", "sums kB", "moved kB", "peak kB"}) {
    CHECK(Has(shown, heading));
  }
  CHECK(!Has(shown, "0.00"));
  CHECK(!Has(shown, "MB"));
  for (const std::string& text : {made, shown}) {
    CHECK(Has(text, "stored: where a tensor lies between nodes; gathered: what a node reads"));
  }
}

TEST_CASE("one figure of memory must fit, and it is the one that the program allocates") {
  const std::string text = Partitioned(Model("mlp"), "");
  INFO(text);
  const size_t at = text.find("\nMEMORY         ");
  REQUIRE(at != std::string::npos);
  const std::string line = text.substr(at, text.find('\n', at + 1) - at);
  CHECK(Has(line, " must fit on each device: what its program allocates; no limit given"));
  CHECK(Has(text, "the fullest fills "));
}

TEST_CASE("show says along which dimensions the indices run that nodes split") {
  const std::string plan = ScratchFolder("legend") + "/p.json";
  Succeed("yuba partition " + Model("mlp") + " -o " + plan);
  const std::string shown = Succeed("yuba show " + plan).out;
  INFO(shown);
  const size_t at = shown.find("\nindex  of ");
  REQUIRE(at != std::string::npos);
  const std::string legend = shown.substr(at, shown.find("\n\n", at) - at);
  const std::string weight = "1 of the weight; none of the output: its parts give partial sums";
  CHECK(Has(legend, "\nq      "));
  CHECK(Has(legend, "dimension 1 of operand 1 of 2, " + weight));
  CHECK(Has(legend, "dimension 1 of the output, 0 of the weight"));
}

TEST_CASE("show --json has the figures of the tables") {
  const std::string plan = ScratchFolder("twin") + "/p.json";
  Succeed("yuba partition " + Model("encoder") + " -o " + plan);
  const nlohmann::json json = nlohmann::json::parse(Succeed("yuba show --json " + plan).out);
  std::ifstream file(plan);
  const nlohmann::json written = nlohmann::json::parse(file);
  CHECK(json["ok"] == true);
  const auto sum = [](const nlohmann::json& rows, const char* field) {
    int64_t bytes = 0;
    for (const nlohmann::json& row : rows) bytes += row[field].get<int64_t>();
    return bytes;
  };
  const int64_t bytes = written["cost"]["bytes"];
  CHECK(json["bytes"] == bytes);
  CHECK(sum(json["groups"], "bytes") == bytes);
  CHECK(sum(json["groups"], "sums") + sum(json["groups"], "gathered") == bytes);
  CHECK(sum(json["groups"], "weights_gathered") == written["cost"]["by_kind"]["weight"]);
  CHECK(sum(json["groups"], "nodes") == static_cast<int64_t>(written["nodes"].size()));
  CHECK(sum(json["transfers"], "bytes") == bytes);
  CHECK(json["transfers"][0]["bytes"] >= json["transfers"][1]["bytes"]);
  CHECK(json["memory"].size() == 8);
  CHECK(json["memory"][0]["arena"] == written["memory"][0]["arena"]);
  CHECK(json["replicated"][0]["parts"] == json["replicated"][0]["most_parts"]);
  CHECK(!json["indices"].empty());
  const CommandResult none = RunCommand("yuba show --json none.json");
  CHECK(none.exit_code == 2);
  CHECK(nlohmann::json::parse(none.out)["ok"] == false);
}

// x w as [8, 4, 6], so that the columns of w are 4 x 6.
std::string Heads() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {8, 3});
  builder.Weight("w", {3, 24});
  builder.Integers("shape", {8, 4, 6});
  builder.Node("MatMul", {"x", "w"}, {"p"});
  builder.Node("Reshape", {"p", "shape"}, {"h"});
  builder.Node("Softmax", {"h"}, {"y"});
  builder.Output("y");
  return builder.Save();
}

TEST_CASE("tensors in fewer parts than they allow are named, with what the most would cost") {
  const std::string model = Heads(), plan = ScratchFolder("fewer") + "/p.json";
  const std::string command = "yuba partition " + model + " --devices 10 -o " + plan;
  const std::string text = Succeed(command + " --space factored --pin 'w=[-, (- b)]'").out;
  INFO(text);
  CHECK(Has(text, "every tensor split, 1 in fewer parts than it allows"));
  CHECK(Has(text, "1 is in fewer parts than the dimensions allow, as w [3, (4 6/b)] in 2 of 10;"));
  CHECK(Has(text, "in the most parts it would move at most "));
  CHECK(Has(text, " more a step"));
  const std::string best = Succeed(command + " --space factored --pin 'w=[-, (b a)]'").out;
  CHECK_FALSE(Has(best, "allow, as w "));
  const std::string small = Partitioned(Model("encoder"), "");
  CHECK(Has(small, "1 has no dimension long enough for more parts"));
  CHECK(Has(small, "every tensor split as far as it goes"));
}

TEST_CASE("what --replicate auto may give is that of data parallelism, derived") {
  const std::string text = Partitioned(Model("conv"), "");
  const std::string data = Partitioned(Model("conv"), "--search data");
  INFO(text << data);
  const std::string moved = data.substr(data.find("MOVED a step   ") + 15);
  const std::string memory = data.substr(data.find("MEMORY         ") + 15);
  CHECK(Has(text, "--replicate auto: " + moved.substr(0, moved.find(" in ")) +
                      " a step or less, as data parallelism, which needs " +
                      memory.substr(0, memory.find(" must fit")) + " a device"));
  for (const char* flags : {"--replicate auto", "--devices 1", "--search recursive"}) {
    CHECK_FALSE(Has(Partitioned(Model("conv"), flags), "--replicate auto: "));
  }
}

TEST_CASE("only the numbers that differ become stars") {
  CHECK(CommonPattern("b.0.f1", "b.3.f1") == "b.*.f1");
  CHECK(CommonPattern("b.4.f2", "b.*.f1") == "b.*.f*");
  CHECK(CommonPattern("b.10.f1", "b.9.f1") == "b.*.f1");
  CHECK(NamePattern("b.10.f1") == "b.*.f*");
}

}  // namespace
}  // namespace yuba::tools
