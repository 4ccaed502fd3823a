// The kernels of a calibration are of the classes that they stand for.
#include "tools/calibrate/kernel_cases.h"

#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::tools {
namespace {

TEST_CASE("kernels have the structure of their class, and names of their own") {
  std::set<std::string> names;
  std::set<KernelClass> classes;
  for (const KernelCase& one : KernelCases(std::numeric_limits<double>::infinity())) {
    INFO(one.name);
    CHECK(names.insert(one.name).second);
    classes.insert(one.kernel_class);
    REQUIRE(one.graph.nodes.size() == 1);
    CheckGraph(one.graph);
    const Definition& definition = *one.graph.nodes[0].definition;
    const bool contraction = MatchContraction(definition).has_value();
    const bool convolution = !contraction && MatchConvolution(definition).has_value();
    CHECK(contraction == (one.kernel_class == KernelClass::kProduct));
    CHECK(convolution == (one.kernel_class == KernelClass::kConvolution));
    CHECK(IsMap(definition) == (one.kernel_class == KernelClass::kMap));
  }
  CHECK(classes.size() == kKernelClasses);
}

TEST_CASE("kernels with more operations than are asked for are left out") {
  CHECK(KernelCases(1e6).size() < KernelCases(1e9).size());
  for (const KernelCase& one : KernelCases(1e6))
    CHECK(one.name.find("1024x1024") == std::string::npos);
}

}  // namespace
}  // namespace yuba::tools
