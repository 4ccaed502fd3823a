// Padding is nobody's: no gather carries it, and who reads nothing else of a tensor gathers none of
// it.
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

// A window of three rows over one row and its padding. Only the middle row of the filter meets
// data.
std::string OneRow() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {1, 6, 1, 6});
  builder.Weight("w", {6, 6, 3, 1});
  compiler::SetInts(builder.Node("Conv", {"x", "w"}, {"y"}), "pads", {1, 0, 1, 0});
  builder.Output("y");
  return builder.Save();
}

TEST_CASE("of the devices that share a window's rows, those with padding alone gather nothing") {
  const std::string model = OneRow(), plan = ScratchFolder("padding") + "/p.json";
  Succeed("yuba partition " + model + " --devices 3 --pin y/u0=a -o " + plan);
  std::ifstream file(plan);
  int64_t gathered = 0;
  const nlohmann::json json = nlohmann::json::parse(file);
  for (const nlohmann::json& row : json["transfers"]) {
    if (row["tensor"] == "x") gathered += row["bytes"].get<int64_t>();
  }
  // The middle device needs all 36 floats, and has a third of them.
  CHECK(gathered == 24 * 4);
  Succeed("yuba verify " + model + " " + plan);
}

}  // namespace
}  // namespace yuba::tools
