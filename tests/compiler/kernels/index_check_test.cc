// Generated code notes the first index outside of its extent (runtime/program/kernel_abi.h), and
// nothing else.
#include <catch2/catch.hpp>

#include "compiler/kernels/kernels.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

using runtime::IndexRecord;

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

// y[i, j] = pick(k: 6 where k == wrap(ids[i], 6)) x[k, j], with four ids of the type.
Definition GatherOf(ElementType ids) {
  Definition definition = Define({4, 3, 6}, 2, Reducer::kPick, {{6, 3}, {4}}, Read(0, {k, j}));
  definition.operands[1].type = ids;
  definition.data_where.push_back(
      {k, Function::kEq, false, Call(Function::kWrap, {Read(1, {i}), Integer(6)})});
  return definition;
}

// The record after a call for rows `begin` to `end` of x and all ids.
template <typename Id>
IndexRecord RecordOf(const Definition& definition, std::vector<Id> ids, int64_t begin,
                     int64_t end) {
  NamedKernel named = Alone("gather", definition);
  named.checks_indices = true;
  const auto code = GenerateKernels({named}, KernelTarget());
  REQUIRE_THAT(code, IsOk());
  const auto object = LoadedObject::Load(*code);
  REQUIRE_THAT(object, IsOk());
  std::vector<float> x(6 * 3, 1), y(4 * 3);
  IndexRecord record;
  void* buffers[] = {x.data(), ids.data(), y.data(), &record};
  const int64_t arguments[] = {0, 4, 0, 3, begin, end, 0, 6, 0, 3, 0, 4, 0, 4, 0, 3};
  (*object)->Find("gather")(buffers, arguments);
  return record;
}

TEST_CASE("indices inside of their extents leave no record") {
  CHECK(RecordOf<int64_t>(GatherOf(ElementType::kI64), {0, 5, -1, -6}, 0, 6).found == 0);
  // A device that has other rows finds nothing there, which is no fault.
  CHECK(RecordOf<int64_t>(GatherOf(ElementType::kI64), {0, 5, -1, -6}, 2, 3).found == 0);
}

TEST_CASE("an index outside is noted with its tensor and its extent") {
  for (const int64_t outside : {int64_t{6}, int64_t{-7}, INT64_MAX, INT64_MIN}) {
    const IndexRecord record =
        RecordOf<int64_t>(GatherOf(ElementType::kI64), {0, 1, outside, 2}, 0, 6);
    CHECK(record.found == 1);
    CHECK(record.tensor == 1);
    CHECK(record.index == outside);
    CHECK(record.extent == 6);
    CHECK(record.element == 2);
    CHECK(record.label == 0);
  }
  // Also by a device that has some of the rows; of several the first one.
  const IndexRecord record = RecordOf<int32_t>(GatherOf(ElementType::kI32), {0, 9, 8, 7}, 0, 1);
  CHECK(record.found == 1);
  CHECK(record.index == 9);
}

TEST_CASE("a label is a class or the ignored value, and else noted") {
  Definition definition = GatherOf(ElementType::kI32);
  definition.data_where[0].value =
      Call(Function::kLabel, {Read(1, {i}), Integer(6), Integer(-100)});
  CHECK(RecordOf<int32_t>(definition, {0, 5, -100, 3}, 0, 6).found == 0);
  for (const int32_t outside : {6, -1, -6, -99, INT32_MAX, INT32_MIN}) {
    const IndexRecord record = RecordOf<int32_t>(definition, {0, -100, 1, outside}, 0, 6);
    CHECK(record.found == 1);
    CHECK(record.tensor == 1);
    CHECK(record.index == outside);
    CHECK(record.extent == 6);
    CHECK(record.element == 3);
    CHECK(record.label == 1);
    CHECK(record.ignored == -100);
  }
}

TEST_CASE("an index that is computed is noted with the tensor that it reads first") {
  Definition definition = GatherOf(ElementType::kI64);
  definition.data_where[0].value =
      Call(Function::kWrap, {Call(Function::kAdd, {Integer(1), Read(1, {i})}), Integer(6)});
  const IndexRecord record = RecordOf<int64_t>(definition, {0, 4, 5, 2}, 0, 6);
  CHECK(record.found == 1);
  CHECK(record.tensor == 1);
  CHECK(record.index == 6);
}

}  // namespace
}  // namespace yuba::kernels
