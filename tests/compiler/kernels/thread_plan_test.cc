// What threads of GPUs share out, and what is known of arguments.
#include "compiler/kernels/threads/thread_plan.h"

#include "catch2/catch.hpp"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

std::string PlanOf(NamedKernel kernel, bool known = true) {
  const KernelTarget target(*FindTarget("cuda"));
  if (known) kernel.known = AllOf(kernel);
  std::vector<LoopPlan> plans;
  for (const KernelDefinition& each : kernel.definitions)
    plans.push_back(PlanLoops(*each.definition, LoopOptionsFor(target)));
  return ToString(PlanThreads(kernel, plans, target), kernel);
}

std::string PlanOf(const Definition& definition, bool known = true) {
  return PlanOf(Alone("kernel", definition), known);
}

TEST_CASE("loops that run through memory as one are one, of accesses of 16 bytes") {
  CHECK(PlanOf(Map({64, 128, 32}, {i, j, k})) == "256 threads; points i*j*k by 4");
  CHECK(PlanOf(Map({64, 128, 32}, {k})) == "256 threads; points i*j k by 4");
  CHECK(PlanOf(Map({64, 128, 32}, {i, k})) == "256 threads; points i j k by 4");
  CHECK(PlanOf(Map({1024, 257}, {i})) == "256 threads; points i j");
  CHECK(PlanOf(Map({1024, 258}, {i})) == "256 threads; points i j by 2");
  // A last thread has the rest of one loop.
  CHECK(PlanOf(Map({263173}, {i})) == "256 threads; points i by 4");
  // With few points each thread has one.
  CHECK(PlanOf(Map({64, 32}, {i, j})) == "256 threads; points i*j");
  CHECK(PlanOf(Map({64, 128, 32}, {i, j, k}), false) == "256 threads; points i j k");
}

TEST_CASE("small elements are taken eight at a time") {
  Definition half = Map({256, 1024}, {i, j});
  half.operands[0].type = half.result.type = ElementType::kBF16;
  CHECK(PlanOf(half) == "256 threads; points i*j by 4");  // enough threads come first
  half.operands[0].dims = half.result.dims = {1024, 1024};
  half.indices[0].extent = 1024;
  CHECK(PlanOf(half) == "256 threads; points i*j by 8");
  half.result.type = ElementType::kF32;
  CHECK(PlanOf(half) == "256 threads; points i*j by 8");
}

TEST_CASE("an index whose value counts keeps its loop") {
  Definition named = Map({64, 128, 32}, {i, j, k});
  named.body = Call(Function::kAdd, {named.body, IndexValue(j)});
  CHECK(PlanOf(named) == "256 threads; points i j k by 4");
}

TEST_CASE("a row is a warp's or a block's") {
  CHECK(PlanOf(Reduce(Reducer::kSum, {100000, 128}, 1, {i, j})) ==
        "256 threads, 32 a point; points i; turns j by 4");
  CHECK(PlanOf(Reduce(Reducer::kSum, {512, 4096}, 1, {i, j})) ==
        "256 threads, 256 a point; points i; turns j by 4");
  CHECK(PlanOf(Reduce(Reducer::kSum, {512, 50257}, 1, {i, j})) ==
        "1024 threads, 1024 a point; points i; turns j");
  CHECK(PlanOf(Reduce(Reducer::kSum, {100000, 15}, 1, {i, j})) == "256 threads; points i");
  CHECK(PlanOf(Reduce(Reducer::kSum, {256, 32, 56, 56}, 1, {j, i, k, l})) ==
        "1024 threads, 1024 a point; points i; turns j k*l by 4");
  // Nothing is known of the loop but that it runs along memory.
  CHECK(PlanOf(Reduce(Reducer::kSum, {100000, 128}, 1, {i, j}), false) ==
        "256 threads, 32 a point; points i; turns of j");
  Definition position =
      Reduce(Reducer::kSum, {768, 512}, 1, {i, j});  // the first of equal ones wins
  position.reducer = Reducer::kArgMax;
  position.result.type = ElementType::kI64;
  CHECK(PlanOf(position) == "256 threads; points i");
}

TEST_CASE("sums down columns have neighbouring threads on neighbouring columns") {
  CHECK(PlanOf(Reduce(Reducer::kSum, {65536, 64}, 1, {j, i})) ==
        "256 threads, 8 apart a point; points i by 4; turns j");
  CHECK(PlanOf(Reduce(Reducer::kSum, {1 << 20, 64}, 1, {j, i})) == "256 threads; points i by 4");
  CHECK(PlanOf(Reduce(Reducer::kSum, {768, 512}, 1, {j, i})) ==
        "256 threads, 8 apart a point in 16 parts; points i by 4; turns j; then sums of parts, "
        "256 threads; points i");
}

TEST_CASE("few long sums are computed in parts") {
  CHECK(PlanOf(Reduce(Reducer::kSum, {64, 32, 112, 112}, 1, {j, i, k, l})) ==
        "1024 threads, 1024 a point in 4 parts; points i; turns j k*l by 4; then sums of parts, "
        "256 threads; points i");
}

TEST_CASE("a softmax is one row at a time") {
  const Softmax softmax(4096, 1024);
  CHECK(PlanOf(softmax.kernel()) ==
        "64 threads, 64 a point; points i; turns j by 4; turns j by 4; turns j by 4");
}

}  // namespace
}  // namespace yuba::kernels
