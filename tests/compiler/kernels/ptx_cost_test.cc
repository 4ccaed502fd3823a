// What PTX costs: instructions an element, and accesses of 16 bytes. PTX is what LLVM writes; ptxas
// makes about as many machine instructions of it.
#include <sstream>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

struct Cost {
  int instructions = 0;
  int wide_loads = 0, loads = 0, wide_stores = 0, stores = 0;  // of elements in global memory
};

// Of a kernel, all of whose arguments are known.
Cost CostOf(NamedKernel kernel) {
  kernel.known = AllOf(kernel);
  const KernelTarget target(*FindTarget("cuda"));
  const absl::StatusOr<std::string> ptx = GenerateKernels({kernel}, target);
  REQUIRE_THAT(ptx, IsOk());
  Cost cost;
  std::istringstream lines(*ptx);
  for (std::string line; std::getline(lines, line);) {
    if (!absl::StartsWith(line, "\t") || absl::StartsWith(line, "\t.")) continue;
    ++cost.instructions;
    const bool wide = absl::StrContains(line, ".v4.") || absl::StrContains(line, ".v2.b64") ||
                      absl::StrContains(line, ".v2.f64");
    const bool of_pointers = absl::StrContains(line, "ld.param") ||
                             absl::StrContains(line, "ld.global.u64") ||
                             absl::StrContains(line, "ld.global.nc.u64");
    if (absl::StrContains(line, "ld.global") && !of_pointers)
      ++(wide ? cost.wide_loads : cost.loads);
    if (absl::StrContains(line, "st.global")) ++(wide ? cost.wide_stores : cost.stores);
  }
  return cost;
}

void CheckMap(const Definition& definition, int lanes, int wide_loads, int wide_stores,
              int most_instructions = 12) {
  INFO(ToString(definition));
  const Cost cost = CostOf(Alone("map", definition));
  UNSCOPED_INFO(cost.instructions << " instructions for " << lanes << " elements");
  CHECK(cost.instructions <= most_instructions * lanes);
  CHECK(cost.wide_loads == wide_loads);
  CHECK(cost.wide_stores == wide_stores);
  CHECK(cost.loads == 0);
  CHECK(cost.stores == 0);
}

TEST_CASE("contiguous maps take at most 12 instructions an element and accesses of 16 bytes") {
  CheckMap(Map({64, 512, 512}, {i, j, k}), 4, 1, 1);
  CheckMap(Map({64, 512, 512}, {j, k}), 4, 1, 1);
  Definition add = Map({512, 4096}, {i, j});
  add.operands.push_back({ElementType::kF32, {4096}});
  add.body =
      Call(Function::kMax, {Call(Function::kAdd, {Read(0, {i, j}), Read(1, {j})}), Number(0)});
  CheckMap(add, 4, 2, 1);
  Definition narrow = Map({512, 4096}, {i, j});
  narrow.operands[0].type = narrow.result.type = ElementType::kF16;
  CheckMap(narrow, 8, 1, 1);
  narrow.result.type = ElementType::kF32;
  CheckMap(narrow, 8, 1, 2);
}

TEST_CASE("maps that turn what they read take accesses of 16 bytes both ways") {
  Definition turned = Map({4096, 4096}, {j, i});
  CheckMap(turned, 16, 4, 4);
  turned.body = Read(0, {j, i});
  CheckMap(turned, 16, 4, 4, 7);
  turned.operands[0].type = turned.result.type = ElementType::kBF16;
  CheckMap(turned, 64, 8, 8, 4);
  turned.operands[0].type = turned.result.type = ElementType::kF64;
  CheckMap(turned, 4, 2, 2);
  CheckMap(SumOfTurned(4096, 4096, ElementType::kF32), 16, 8, 4);
  // To round a sum takes 9.
  CheckMap(SumOfTurned(4096, 4096, ElementType::kBF16), 64, 16, 8, 18);
  // The scores of heads, and images whose channels come last.
  CheckMap(Map({8, 12, 64, 1024}, {i, l, j, k}), 16, 4, 4);
  CheckMap(Map({32, 64, 56, 56}, {i, k, l, j}), 16, 4, 4);
}

TEST_CASE("a row of a softmax is read once and written once") {
  const Softmax softmax(4096, 1024);  // 64 threads a row, each with 4 times 4 elements
  const Cost cost = CostOf(softmax.kernel());
  CHECK(cost.wide_loads == 4);
  CHECK(cost.wide_stores == 4);
  CHECK(cost.loads == 0);
  CHECK(cost.stores == 0);
}

TEST_CASE("sums take accesses of 16 bytes, along rows and down columns") {
  const Cost rows = CostOf(Alone("rows", Reduce(Reducer::kSum, {4096, 1024}, 1, {i, j})));
  CHECK(rows.wide_loads >= 1);
  CHECK(rows.loads == 0);
  const Cost columns = CostOf(Alone("columns", Reduce(Reducer::kSum, {65536, 1024}, 1, {j, i})));
  CHECK(columns.wide_loads >= 1);
  CHECK(columns.loads == 0);
}

TEST_CASE("sums down the same columns read what they have in common once") {
  const SumsOfColumns sums(65536, 1024);
  const std::vector<const Definition*> alone = sums.definitions();
  const Cost both = CostOf(sums.kernel());
  // Of x and y; of x and y again where turns are left over.
  const Cost products = CostOf(Alone("products", *alone[2]));
  CHECK(products.wide_loads >= 2);
  CHECK(both.wide_loads == products.wide_loads);
}

}  // namespace
}  // namespace yuba::kernels
