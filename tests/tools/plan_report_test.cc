// What `partition` and `show` print of a plan: equal layers in one row, columns with headings, one
// unit a table.
#include "tools/report/plan_report.h"

#include <catch2/catch.hpp>
#include <sstream>

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

TEST_CASE("only the numbers that differ become stars") {
  CHECK(CommonPattern("b.0.f1", "b.3.f1") == "b.*.f1");
  CHECK(CommonPattern("b.4.f2", "b.*.f1") == "b.*.f*");
  CHECK(CommonPattern("b.10.f1", "b.9.f1") == "b.*.f1");
  CHECK(NamePattern("b.10.f1") == "b.*.f*");
}

}  // namespace
}  // namespace yuba::tools
