// How many rows caches have stands in the text of a state, and what is wrong of it is refused.
#include <catch2/catch.hpp>

#include "compiler/dump/state.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

TEST_CASE("how many rows caches have comes back, and is refused where it cannot be") {
  ModelBuilder build;
  const TensorId x = build.Input({2});
  const TensorId count = build.Input({}, TensorKind::kState);
  Compilation state;
  state.model = build.Finish({build.Relu(x)});
  Tensor& counted = state.model.graph.tensors[count];
  counted.type.type = ElementType::kI64;
  counted.cache_rows = 24;
  const std::string text = StateText(state);
  INFO(text);
  Compilation read;
  REQUIRE_THAT(ParseState(text, "state.mlir", read), IsOk());
  CHECK(read.model.graph.tensors[count].cache_rows == 24);
  CHECK(read.model.graph.tensors[x].cache_rows == 0);
  CHECK(StateText(read) == text);

  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& reason) {
    std::string changed = text;
    const size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    Compilation wrong;
    CHECK_THAT(ParseState(changed, "state.mlir", wrong),
               StatusIs(absl::StatusCode::kInvalidArgument, reason));
  };
  const std::string good = "cache_rows = {\"1\" = 24 : i64}";
  refused(good, "cache_rows = {\"0\" = 24 : i64}", "states of one i64 and at least one row");
  refused(good, "cache_rows = {\"1\" = 0 : i64}", "states of one i64 and at least one row");
  refused(good, "cache_rows = {\"7\" = 24 : i64}", "needs the number of a tensor and rows, not 7");
  refused(good, "cache_rows = {\"1\" = \"x\"}", "needs the number of a tensor and rows, not 1");
}

}  // namespace
}  // namespace yuba::compiler
