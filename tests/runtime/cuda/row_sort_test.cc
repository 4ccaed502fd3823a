// Rows sorted by the code of GPUs' kernels on this processor, thread by thread, against the opaque
// function argsort: every element type and hashes, rows of every length around those of threads,
// tiles and merges, steps between elements and rows, threads of a phase in any order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "opsemantics/base/half.h"
#include "opsemantics/opaque/argsort.h"
#include "runtime/cuda/sort_plan.h"

namespace yuba::cuda {
namespace {

constexpr ElementType kTypes[] = {
    ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kI64,
    ElementType::kI32, ElementType::kI8,  ElementType::kU8,  ElementType::kBool, ElementType::kI16,
    ElementType::kU16, ElementType::kU32, ElementType::kU64};
constexpr int64_t kUntouched = -7;

using Random = std::mt19937_64;

// How rows lie in memory, in elements: outer by inner rows.
struct Rows {
  int64_t outer = 1, inner = 1, length = 1;
  int64_t first = 0, step = 1, inner_step = 1, outer_step = 1;  // of the operand
  int64_t result_step = 1;                                      // rows of the result are dense
  int64_t count() const { return outer * inner; }
};

// Dense rows.
Rows Dense(int64_t count, int64_t length) {
  Rows rows;
  rows.inner = count;
  rows.length = rows.inner_step = length;
  rows.outer_step = count * length;
  return rows;
}

runtime::OpaqueSlices SlicesOf(const Rows& rows, ElementType type, bool hash, bool descending) {
  runtime::OpaqueSlices slices;
  slices.signature.arguments = {{type, {rows.length}}};
  slices.signature.result = {ElementType::kI64, {rows.length}};
  slices.signature.attributes = {descending ? 1.0 : 0.0};
  const int64_t bytes = hash && IsFloat(type) ? 8 : ByteSize(type);
  slices.arguments = {{rows.first * bytes, {rows.step}, bytes}};
  slices.result = {0, {rows.result_step}, 8};
  const int64_t result_row = rows.length * rows.result_step * 8;
  slices.loops = {{rows.outer, {rows.outer_step * bytes}, rows.inner * result_row},
                  {1, {0}, 0},
                  {rows.inner, {rows.inner_step * bytes}, result_row}};
  slices.calls = rows.count();
  return slices;
}

// All blocks of a launch, a phase of a tile by all threads in any order before the next phase.
template <typename Key>
void Run(const SortLaunch& launch, Random& random) {
  if (launch.merges) {
    for (int64_t share = 0; share < launch.blocks * launch.threads; ++share)
      RunSortMerge<Key>(launch.sort, share);
    return;
  }
  std::vector<int> threads(launch.threads);
  std::iota(threads.begin(), threads.end(), 0);
  for (int64_t block = 0; block < launch.blocks; ++block) {
    const auto tile = std::make_unique<SortTile<Key>>();
    std::memset(tile.get(), static_cast<int>(random() % 256), sizeof *tile);
    for (int phase = 0; phase < SortPhases(launch.sort); ++phase) {
      std::shuffle(threads.begin(), threads.end(), random);
      for (const int thread : threads) RunSortPhase<Key>(launch.sort, phase, *tile, block, thread);
    }
  }
}

std::vector<int64_t> SortedByGpu(const Rows& rows, ElementType type, bool hash, bool descending,
                                 const std::string& bytes, Random& random,
                                 int64_t most_workspace = kSortWorkspaceBytes,
                                 size_t* launches = nullptr) {
  std::vector<int64_t> result(rows.count() * rows.length * rows.result_step, kUntouched);
  const SortPlan plan(SlicesOf(rows, type, hash, descending), hash, most_workspace);
  const std::vector<int64_t> job = plan.Job(bytes.data(), reinterpret_cast<char*>(result.data()));
  std::vector<int64_t> workspace(plan.workspace_bytes() / 8 + 2, kUntouched);
  const auto planned = plan.Launches(job.data(), reinterpret_cast<char*>(workspace.data() + 1));
  for (const SortLaunch& launch : planned)
    plan.wide() ? Run<uint64_t>(launch, random) : Run<uint32_t>(launch, random);
  CHECK(workspace.front() == kUntouched);
  CHECK(workspace.back() == kUntouched);
  if (launches != nullptr) *launches = planned.size();
  return result;
}

std::vector<int64_t> SortedByHost(const Rows& rows, ElementType type, bool hash, bool descending,
                                  const std::string& bytes) {
  std::vector<int64_t> result(rows.count() * rows.length * rows.result_step, kUntouched);
  const int64_t element = hash && IsFloat(type) ? 8 : ByteSize(type);
  for (int64_t row = 0; row < rows.count(); ++row) {
    OpaqueCall call;
    const int64_t at =
        rows.first + row / rows.inner * rows.outer_step + row % rows.inner * rows.inner_step;
    call.arguments = {{bytes.data() + at * element, {type, {rows.length}}, {rows.step}}};
    call.result = {reinterpret_cast<char*>(&result[row * rows.length * rows.result_step]),
                   {ElementType::kI64, {rows.length}},
                   {rows.result_step}};
    call.attributes = {descending ? 1.0 : 0.0};
    call.hash = hash;
    Argsort(call);
  }
  return result;
}

template <typename T>
void Append(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Elements with ties, NaN, both zeros, infinities, and for integers the ends of their range.
void AppendElement(ElementType type, bool hash, Random& random, std::string& bytes) {
  if (hash && IsFloat(type)) {
    // Few of these differ in their lower halves alone.
    const uint64_t bits = random() % 3 == 0 ? random() : random() % 64;
    return Append(random() % 2 == 0 ? bits : bits << 32, bytes);
  }
  static const double special[] = {0.0,
                                   -0.0,
                                   1e30,
                                   -1e30,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   -std::numeric_limits<double>::quiet_NaN()};
  const bool is_special = random() % 8 == 0;
  const double number = is_special
                            ? special[random() % 8]
                            : static_cast<double>(static_cast<int64_t>(random() % 2001)) - 1000;
  const uint64_t bits = random() % 8 == 0 ? random() : random() % 200 - 100;
  switch (type) {
    case ElementType::kF64: return Append(number * (1 + 0x1p-50), bytes);
    case ElementType::kF32: return Append(static_cast<float>(number), bytes);
    case ElementType::kF16: return Append(ToF16(static_cast<float>(number)), bytes);
    case ElementType::kBF16: return Append(ToBF16(static_cast<float>(number)), bytes);
    case ElementType::kI64: return Append(bits, bytes);
    case ElementType::kI32: return Append(static_cast<uint32_t>(bits), bytes);
    default:  // a bool may be any byte
      bytes.append(reinterpret_cast<const char*>(&bits), ByteSize(type));
  }
}

std::string Elements(ElementType type, bool hash, int64_t count, Random& random) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) AppendElement(type, hash, random, bytes);
  return bytes;
}

void CheckSorted(const Rows& rows, ElementType type, bool hash, Random& random,
                 int64_t most_workspace = kSortWorkspaceBytes) {
  const int64_t elements = rows.first + (rows.outer - 1) * rows.outer_step +
                           (rows.inner - 1) * rows.inner_step + (rows.length - 1) * rows.step + 1;
  const std::string bytes = Elements(type, hash, elements, random);
  for (const bool descending : {false, true}) {
    INFO(Name(type) << (hash ? ", hashes, " : ", ") << rows.outer << " by " << rows.inner
                    << " rows of " << rows.length << (descending ? ", descending" : ""));
    CHECK((SortedByGpu(rows, type, hash, descending, bytes, random, most_workspace) ==
           SortedByHost(rows, type, hash, descending, bytes)));
  }
}

TEST_CASE("GPUs sort rows of every type and length as the host does") {
  Random random(1);
  for (ElementType type : kTypes) {
    for (const bool hash : {false, true}) {
      for (int64_t length : {1, 2, 7, 8, 9, 16, 17, 100, 1023, 1024, 1025})
        CheckSorted(Dense(1 + static_cast<int64_t>(random() % 5), length), type, hash, random);
    }
  }
}

TEST_CASE("Many short rows share a tile, and the last tile is not full") {
  Random random(2);
  for (ElementType type : {ElementType::kF32, ElementType::kI64}) {
    for (int64_t count : {127, 128, 129, 255, 256, 257, 1000}) {
      for (int64_t length : {1, 5, 8, 12}) CheckSorted(Dense(count, length), type, false, random);
    }
  }
}

TEST_CASE("Long rows are merged through memory") {
  Random random(3);
  for (ElementType type : {ElementType::kF32, ElementType::kBF16, ElementType::kF64}) {
    const int64_t tile = type == ElementType::kF64 ? 1024 : 2048;
    for (int64_t length : {tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 3 * tile + 5,
                           4 * tile, 5 * tile - 3})
      CheckSorted(Dense(3, length), type, false, random);
  }
  CheckSorted(Dense(1, 50000), ElementType::kF32, false, random);
  CheckSorted(Dense(1, 128256), ElementType::kBF16, false, random);
  CheckSorted(Dense(1, 50000), ElementType::kF32, true, random);
}

TEST_CASE("Rows take turns where all do not fit the workspace") {
  Random random(4);
  const Rows rows = Dense(7, 5000);
  const int64_t row_bytes = 2 * 5000 * 8;
  for (const int64_t most : {int64_t{1}, row_bytes, 3 * row_bytes, 7 * row_bytes}) {
    CheckSorted(rows, ElementType::kF32, false, random, most);
    const SortPlan plan(SlicesOf(rows, ElementType::kF32, false, false), false, most);
    CHECK(plan.workspace_bytes() <= std::max(most, row_bytes) + 4 * 256);
    CHECK(plan.workspace_bytes() >= row_bytes);
  }
  CHECK(SortPlan(SlicesOf(Dense(7, 2048), ElementType::kF32, false, false), false)
            .workspace_bytes() == 0);
}

TEST_CASE("Rows lie anywhere, with steps between elements and results") {
  Random random(5);
  for (ElementType type : {ElementType::kF16, ElementType::kI32, ElementType::kF64}) {
    for (int64_t length : {6, 40, 2500}) {
      Rows rows;  // columns of matrices with a row more than is sorted
      rows.outer = 3;
      rows.inner = 4;
      rows.length = length;
      rows.first = 5;
      rows.step = 6;
      rows.inner_step = 1;
      rows.outer_step = 6 * (length + 1);
      rows.result_step = 2;
      CheckSorted(rows, type, false, random);
    }
  }
}

TEST_CASE("A sort takes few launches, whatever the rows") {
  Random random(6);
  const auto launches = [&](const Rows& rows, ElementType type) {
    size_t count = 0;
    const std::string bytes = Elements(type, false, rows.count() * rows.length, random);
    SortedByGpu(rows, type, false, false, bytes, random, kSortWorkspaceBytes, &count);
    return count;
  };
  CHECK(launches(Dense(4096, 8), ElementType::kF32) == 1);
  CHECK(launches(Dense(2, 2048), ElementType::kF32) == 1);
  CHECK(launches(Dense(2, 2049), ElementType::kF32) == 2);
  CHECK(launches(Dense(1, 128256), ElementType::kBF16) == 1 + 6);  // 63 tiles
}

}  // namespace
}  // namespace yuba::cuda
