// Custom gradients in descriptions of built-in operators: they equal central differences
// of all that the operator computes. (That faults in them are noticed is a test of
// tests/compiler/cases.)
#include "tests/opsemantics/support/custom_gradients.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "opsemantics/language/library.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

TEST_CASE("custom gradients equal central differences") {
  const auto library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  int elements = 0;
  std::set<std::string> ops;
  for (const std::string& name : library->Names()) {
    INFO(name);
    const CustomGradients custom = CompareCustomGradients(*library->Find(name));
    CHECK(custom.equal);
    elements += custom.elements;
    if (custom.elements > 0) ops.insert(name);
  }
  CHECK(ops == std::set<std::string>{"at_least", "at_most", "batch_norm_train", "clip",
                                     "group_norm", "instance_norm", "layer_norm", "log_softmax",
                                     "maximum_with", "minimum_with", "reduce_l2", "rms_norm",
                                     "softmax"});
  CHECK(elements > 1000);
}

}  // namespace
}  // namespace yuba
