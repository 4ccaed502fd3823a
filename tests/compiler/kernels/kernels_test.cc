// Generated kernels compute what the interpreter computes, whole and in parts, in both arithmetics.
#include "compiler/kernels/kernels.h"

#include "catch2/catch.hpp"
#include "tests/compiler/kernels/kernel_definitions.h"
#include "tests/compiler/kernels/kernel_runner.h"

namespace yuba::kernels {
namespace {

void CheckGroup(const std::string& name) {
  const DefinitionGroup& group = FindGroup(name);
  CHECK(CheckKernels(group.definitions, Arithmetic::kFloat, group.parts) == "");
  CHECK(CheckKernels(group.definitions, Arithmetic::kHash, group.parts) == "");
}

TEST_CASE("matrix products and maps") { CheckGroup("matrix products and maps"); }

TEST_CASE("convolutions, with strides, dilation and padding") {
  CheckGroup("convolutions, with strides, dilation and padding");
}

TEST_CASE("pooling") { CheckGroup("pooling"); }

TEST_CASE("reductions over any dimension, by every reducer, of every type") {
  CheckGroup("reductions over any dimension, by every reducer, of every type");
}

TEST_CASE("argmax and argmin are those of the first in order") {
  CheckGroup("argmax and argmin are those of the first in order");
}

TEST_CASE("constraints between indices bound the loops") {
  CheckGroup("constraints between indices bound the loops");
}

TEST_CASE("strided gradients") { CheckGroup("strided gradients"); }

TEST_CASE("conditions on data") { CheckGroup("conditions on data"); }

TEST_CASE("two lookups in a chain") { CheckGroup("two lookups in a chain"); }

TEST_CASE("an element of the result that indices do not reach is left alone") {
  CheckGroup("an element of the result that indices do not reach is left alone");
}

TEST_CASE("selects on indices do not read the other side, selects on data may") {
  CheckGroup("selects on indices do not read the other side, selects on data may");
}

TEST_CASE("every function, of floats and of integers") {
  CheckGroup("every function, of floats and of integers");
}

TEST_CASE("casts between all types") { CheckGroup("casts between all types"); }

TEST_CASE("softmax and layer norm in pieces, indices as values, literals") {
  CheckGroup("softmax and layer norm in pieces, indices as values, literals");
}

TEST_CASE("random numbers") { CheckGroup("random numbers"); }

TEST_CASE("processors without conversions of small floats and without wide vectors") {
  for (const char* name : {"casts between all types", "every function, of floats and of integers"})
    CHECK(CheckKernels(FindGroup(name).definitions, Arithmetic::kFloat, 1, "x86-64") == "");
}

}  // namespace
}  // namespace yuba::kernels
