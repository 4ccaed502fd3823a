// Two products of one sum, as a user meets them: the plan has an accumulator, moves less than
// without, and the run gives the same answer in any order of instructions. `yuba run` refuses a run
// whose bytes are not the plan's.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

// y = x1 * w1 + x2 * w2 + b, long where it is summed.
std::string TwoProducts(const std::string& folder) {
  compiler::OnnxBuilder builder;
  builder.Weight("x1", {16, 512});
  builder.Weight("w1", {512, 16});
  builder.Weight("x2", {16, 384});
  builder.Weight("w2", {384, 16});
  builder.Weight("b", {16});
  builder.Node("MatMul", {"x1", "w1"}, {"y1"});
  builder.Node("MatMul", {"x2", "w2"}, {"y2"});
  builder.Node("Add", {"y1", "b"}, {"y3"});
  builder.Node("Add", {"y3", "y2"}, {"y4"});
  builder.Node("Relu", {"y4"}, {"y"});
  builder.Output("y");
  const std::string file = folder + "/two_products.onnx";
  std::filesystem::rename(builder.Save(), file);
  return file;
}

bool Has(const CommandResult& result, const std::string& text) {
  INFO(result.out);
  return result.out.find(text) != std::string::npos;
}

TEST_CASE("two products of one sum meet in an accumulator, from the plan to the run") {
  const std::string folder = ScratchFolder("accumulators");
  const std::string model = TwoProducts(folder);
  const std::string whole = folder + "/1.json", plan = folder + "/8.json";
  Succeed("yuba partition " + model + " --devices 1 -o " + whole);
  Succeed("yuba run " + model + " " + whole + " --outputs " + folder + "/whole");

  // Seven eighths of eight parts of 16 x 16 floats: once instead of twice.
  CHECK(Has(Succeed("yuba partition " + model + " --devices 8 --space copies=none -o " + plan),
            "14.3 kB"));
  CHECK(Has(Succeed("yuba partition " + model + " --devices 8 -o " + plan), "7.2 kB"));
  const CommandResult shown = Succeed("yuba show " + plan);
  CHECK(Has(shown, "accumulator"));
  CHECK(Has(shown, "groups over"));
  Succeed("yuba check " + model + " " + plan);
  const std::string none = folder + "/none.json";
  Succeed("yuba partition " + model + " --devices 8 --space accumulators=none -o " + none);
  CHECK_FALSE(Has(Succeed("yuba show " + none), "accumulator"));
  Succeed("yuba verify " + model + " " + none);
  Succeed("yuba verify " + model + " " + plan);
  Succeed("yuba compile " + model + " " + plan + " -o " + folder + "/p.yuba");
  const std::string data = " --inputs " + folder + "/whole --expect 1e-4 --guard memory";
  for (int seed = 0; seed < 5; ++seed) {
    const std::string order = " --interleave " + std::to_string(seed);
    Succeed("yuba run " + model + " " + plan + data + order);
    Succeed("yuba-run " + folder + "/p.yuba" + data + order);
  }
  for (int devices : {2, 3, 6, 12}) {
    Succeed("yuba partition " + model + " --devices " + std::to_string(devices) + " -o " + plan);
    Succeed("yuba verify " + model + " " + plan);
    Succeed("yuba run " + model + " " + plan + data);
  }
}

}  // namespace
}  // namespace yuba
