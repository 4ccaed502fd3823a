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

TEST_CASE("what is read along another loop than it is written along is computed in tiles") {
  const auto of = [](const std::vector<int64_t>& extents, const std::vector<Affine>& position,
                     ElementType type) {
    Definition map = Map(extents, position);
    map.operands[0].type = map.result.type = type;
    return PlanOf(map);
  };
  // A warp reads 4 times 128 bytes side by side and writes 8 times 64, or 64 and 32 of bytes.
  CHECK(of({4096, 4096}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 8 x 32 across i, 8 x 4 a warp; points i by 4 j by 4");
  CHECK(of({4096, 4096}, {j, i}, ElementType::kBF16) ==
        "256 threads in tiles of 8 x 32 across i, 8 x 4 a warp; points i by 8 j by 8");
  CHECK(of({4096, 4096}, {j, i}, ElementType::kF64) ==
        "256 threads in tiles of 8 x 32 across i, 8 x 4 a warp; points i by 2 j by 2");
  CHECK(of({4096, 4096}, {j, i}, ElementType::kBool) ==
        "256 threads in tiles of 8 x 32 across i, 8 x 4 a warp; points i by 8 j by 8");
  // Rows that begin anywhere are read or written in longer runs of single elements.
  CHECK(of({4096, 4097}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 16 x 16 across i, 2 x 16 a warp; points i by 4 j");
  CHECK(of({4097, 4096}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 16 x 16 across i, 16 x 2 a warp; points i j by 4");
  CHECK(of({4097, 4097}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 16 x 16 across i, 8 x 4 a warp; points i j");
  // Loops that are one stay one; which two matter is found by strides.
  CHECK(of({32, 64, 56, 56}, {i, k, l, j}, ElementType::kF32) ==
        "256 threads in tiles of 16 x 16 across j, 8 x 4 a warp; points i j by 4 k*l by 4");
  CHECK(of({8, 12, 64, 1024}, {i, l, j, k}, ElementType::kF32) ==
        "256 threads in tiles of 8 x 32 across j*k, 8 x 4 a warp; points i j*k by 4 l by 4");
  CHECK(of({8, 12, 1024, 64}, {i, k, j, l}, ElementType::kF32) ==
        "256 threads; points i j k l by 4");
  // Few rows: whole ones, or what threads do without tiles.
  CHECK(of({2, 1000000}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 1 x 256 across i, 1 x 32 a warp; points i by 2 j");
  CHECK(of({1000000, 2}, {j, i}, ElementType::kF32) == "256 threads; points i j by 2");
  CHECK(of({32, 224, 224, 3}, {i, l, j, k}, ElementType::kF32) == "256 threads; points i j*k l");
  // With few points each thread has one.
  CHECK(of({64, 64}, {j, i}, ElementType::kF32) ==
        "256 threads in tiles of 8 x 32 across i, 8 x 4 a warp; points i j");
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
  CHECK(PlanOf(position) == "128 threads, 128 a point; points i; turns j");
  CHECK(PlanOf(position, false) == "128 threads, 128 a point; points i; turns of j");
}

TEST_CASE("sums down columns have neighbouring threads on neighbouring columns") {
  CHECK(PlanOf(Reduce(Reducer::kSum, {65536, 64}, 1, {j, i})) ==
        "256 threads, 8 apart a point; points i by 4; turns j");
  CHECK(PlanOf(Reduce(Reducer::kSum, {1 << 20, 64}, 1, {j, i})) == "256 threads; points i by 4");
  CHECK(PlanOf(Reduce(Reducer::kSum, {768, 512}, 1, {j, i})) ==
        "256 threads, 8 apart a point in 16 parts; points i by 4; turns j; then sums of parts, "
        "256 threads; points i");
}

TEST_CASE("where the largest operands lie says whether a sum is down columns") {
  // As the gradient of a norm's scale, which reads the deviation of each row.
  const Definition scale = Define({768, 512}, 1, Reducer::kSum, {{512, 768}, {512}},
                                  Call(Function::kMul, {Read(0, {j, i}), Read(1, {j})}));
  CHECK(PlanOf(scale).substr(0, 41) == "256 threads, 8 apart a point in 16 parts;");
}

TEST_CASE("sums down the same columns go through the same turns") {
  const SumsOfColumns sums(501, 64), in_parts(512, 768);
  CHECK(PlanOf(sums.kernel()) ==
        "256 threads, 16 apart a point; points i by 4; turns j; turns ; turns j; turns ");
  CHECK(PlanOf(in_parts.kernel()) ==
        "256 threads, 8 apart a point in 16 parts; points i by 4; turns j; turns ; turns j; turns "
        "; then sums of parts, 256 threads; points i");
}

TEST_CASE("what threads leave of their sums fits into a block's shared memory") {
  // Four counts, of 8 bytes, of columns of bytes: a thread has 8 neighbouring columns of each.
  Definition count = Reduce(Reducer::kSum, {65536, 4096}, 1, {j, i});
  count.operands[0].type = ElementType::kBool;
  count.result.type = ElementType::kI64;
  NamedKernel kernel = Alone("counts", count);
  kernel.shared = 1;
  kernel.definitions.clear();
  for (int n = 0; n < 4; ++n)
    kernel.definitions.push_back(
        {&count, {0, n + 1}, {{KernelTensor::kOperand, n}}, {KernelTensor::kResult, n}});
  kernel.known = AllOf(kernel);
  const KernelTarget target(*FindTarget("cuda"));
  const LoopPlan loops = PlanLoops(count, LoopOptionsFor(target));
  const ThreadPlan plan = PlanThreads(kernel, {loops, loops, loops, loops}, target)[0];
  INFO(ToString({plan}, kernel));
  REQUIRE(plan.columns);
  CHECK(plan.lanes == 8);
  CHECK(plan.sums.size() * plan.lanes * plan.threads * sizeof(int64_t) <= 48 << 10);
}

TEST_CASE("few long sums are computed in parts") {
  CHECK(PlanOf(Reduce(Reducer::kSum, {64, 32, 112, 112}, 1, {j, i, k, l})) ==
        "1024 threads, 1024 a point in 4 parts; points i; turns j k*l by 4; then sums of parts, "
        "256 threads; points i");
  // Devices have unequal parts of a vocabulary.
  CHECK(PlanOf(Reduce(Reducer::kSum, {64, 50257}, 1, {i, j}), false) ==
        "1024 threads, 1024 a point in 4 parts; points i; turns of j; then sums of parts, 256 "
        "threads; points i");
  CHECK(PlanOf(Reduce(Reducer::kSum, {512, 50257}, 1, {i, j}), false) ==
        "512 threads, 512 a point; points i; turns of j");
  // And unequal parts of a batch.
  CHECK(
      PlanOf(Reduce(Reducer::kSum, {64, 32, 56, 56}, 1, {j, i, k, l}), false) ==
      "256 threads, 32 a point in 33 parts; points i; turns of l; parts of k; then sums of parts, "
      "256 threads; points i");
}

TEST_CASE("no sum of more than a million terms has fewer blocks than GPUs have multiprocessors") {
  for (const int64_t rows : {1, 7, 64, 100, 128, 131}) {
    for (const bool along : {true, false}) {
      Definition sum = Reduce(Reducer::kSum, {rows, 1000000 / rows + 64}, 1, {i, j});
      if (!along) sum = Reduce(Reducer::kSum, {rows, 1000000 / rows + 64}, 1, {j, i});
      for (const Reducer reducer : {Reducer::kSum, Reducer::kArgMax}) {
        sum.reducer = reducer;
        if (reducer == Reducer::kArgMax) sum.result.type = ElementType::kI64;
        for (const bool known : {true, false}) {
          NamedKernel kernel = Alone("kernel", sum);
          if (known) kernel.known = AllOf(kernel);
          const KernelTarget target(*FindTarget("cuda"));
          const ThreadPlan plan =
              PlanThreads(kernel, {PlanLoops(sum, LoopOptionsFor(target))}, target)[0];
          INFO(ToString(sum) << ": " << ToString({plan}, kernel));
          CHECK((rows + plan.PointsOfBlock() - 1) / plan.PointsOfBlock() * plan.parts >= 132);
        }
      }
    }
  }
}

TEST_CASE("a softmax is one row at a time") {
  const Softmax softmax(4096, 1024);
  CHECK(PlanOf(softmax.kernel()) ==
        "64 threads, 64 a point; points i; turns j by 4; turns j by 4; turns j by 4");
}

}  // namespace
}  // namespace yuba::kernels
