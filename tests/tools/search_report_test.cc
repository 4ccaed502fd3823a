// The lines that `yuba partition` prints of a model.
#include "tools/report/search_report.h"

#include <catch2/catch.hpp>

#include "tests/compiler/support/small_graphs.h"

namespace yuba::tools {
namespace {

std::string TextOfInputs(int count) {
  compiler::ModelBuilder build;
  std::vector<TensorId> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(build.Input({2, 3}));
  return ModelText(build.Finish({build.Relu(inputs[0])}));
}

TEST_CASE("of many inputs the first are named, and the others counted") {
  const std::string five = TextOfInputs(5), many = TextOfInputs(150);
  INFO(five << many);
  CHECK(five.find("x4: f32[2, 3]; ") != std::string::npos);
  CHECK(many.find("x3: f32[2, 3] and 146 more inputs; ") != std::string::npos);
  CHECK(many.size() < 300);
}

}  // namespace
}  // namespace yuba::tools
