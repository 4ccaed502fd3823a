// Maps that read along another loop than they write along are right in tiles, and warps touch whole
// sectors of memory there.
#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "opsemantics/regions/boxes.h"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/runtime/cuda/fake_launch.h"
#include "tests/runtime/cuda/traced_accesses.h"
#include "tests/support/part.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

Definition Typed(Definition definition, ElementType type) {
  for (TensorType& operand : definition.operands) operand.type = type;
  definition.result.type = type;
  return definition;
}

// z[...] = x0 + x1 + x2 (of bool: or), where x0 and x1 lie along any order of the indices, as x0
// alone begins further on, and x2 along one of them; the result's type may be another one.
class RandomMap {
 public:
  explicit RandomMap(uint64_t seed) : random_(seed) {}

  Definition Make() {
    const int rank = static_cast<int>(2 + random_() % 3);
    const std::vector<int64_t> extents = Extents(rank);
    Definition map = Define(extents, rank, Reducer::kNone, {}, nullptr);
    const ElementType type = Type();
    for (const bool shifted : {true, false}) Add(map, Order(rank), extents, type, shifted);
    Add(map, {static_cast<int>(random_() % rank)}, extents, type, false);
    const bool is_bool = type == ElementType::kBool;
    const Function add = is_bool ? Function::kOr : Function::kAdd;
    map.body = Call(add, {Call(add, {reads_[0], reads_[1]}), reads_[2]});
    map.result.type = random_() % 3 == 0 && !is_bool ? ElementType::kF32 : type;
    return map;
  }

 private:
  // As many points that threads have several, at times.
  std::vector<int64_t> Extents(int rank) {
    const int64_t most = random_() % 4 == 0 ? 300000 : 20000;
    std::vector<int64_t> extents;
    do {
      extents.clear();
      for (int d = 0; d < rank; ++d) {
        static constexpr int64_t kExtents[] = {1,  2,  3,  5,  8,   16,  17,  24,
                                               31, 32, 64, 96, 100, 128, 257, 512};
        extents.push_back(kExtents[random_() % std::size(kExtents)]);
      }
    } while (Volume(extents) > most || Volume(extents) < most / 8);
    return extents;
  }

  static int64_t Volume(const std::vector<int64_t>& extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  }

  std::vector<int> Order(int rank) {
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

  ElementType Type() {
    static constexpr ElementType kTypes[] = {
        ElementType::kF64, ElementType::kF32, ElementType::kF16,  ElementType::kBF16,
        ElementType::kI64, ElementType::kI32, ElementType::kBool, ElementType::kF32};
    return kTypes[random_() % std::size(kTypes)];
  }

  void Add(Definition& map, const std::vector<int>& order, const std::vector<int64_t>& extents,
           ElementType type, bool shifted) {
    std::vector<Affine> position;
    TensorType operand{type, {}};
    for (const int index : order) {
      const int64_t from = shifted ? random_() % 2 : 0;
      position.push_back(IndexAffine(index) + ConstantAffine(from));
      operand.dims.push_back(extents[index] + from);
    }
    reads_.push_back(Read(static_cast<int>(map.operands.size()), position));
    map.operands.push_back(operand);
  }

  std::mt19937_64 random_;
  std::vector<ExprPtr> reads_;
};

TEST_CASE("random maps of any orders, types, extents and offsets are right, most in tiles") {
  int tried = 0, in_tiles = 0;
  for (uint64_t seed = 0; seed < 90; ++seed) {
    if (!IsTried(seed, 3)) continue;
    const Definition map = RandomMap(seed).Make();
    std::mt19937_64 random(seed);
    const std::vector<Interval> ranges =
        random() % 2 == 0 ? WholeRanges(map) : RandomRanges(map, random);
    const Known known[] = {Known::kAll, Known::kExtents, Known::kNothing, Known::kAll};
    const Arithmetic arithmetic = random() % 4 == 0 ? Arithmetic::kHash : Arithmetic::kFloat;
    std::string plan;
    INFO("seed " << seed << ": " << ToString(map) << " on " << ToString(Box(ranges)));
    CHECK(CompareOnThreads(map, ranges, known[random() % 4], arithmetic, &plan) == "");
    ++tried;
    in_tiles += absl::StrContains(plan, "in tiles") ? 1 : 0;
  }
  CHECK(in_tiles >= tried / 3);
}

// m[i, j] = m[i, j] / 2 + g[j, i], w[i, j] = w[i, j] - m[i, j] / 4: an update by a gradient that
// lies the other way round. Operands: 0 m, 1 g, 2 w; results: 0 m, 1 w, both in place.
TEST_CASE("definitions of one kernel are computed in one tile, in place") {
  constexpr int64_t kRows = 544, kColumns = 288;
  const std::vector<int64_t> extents = {kRows, kColumns};
  const auto part = [](double factor, ExprPtr value) {
    return Call(Function::kMul, {Number(factor), std::move(value)});
  };
  const Definition moment =
      Define(extents, 2, Reducer::kNone, {extents, {kColumns, kRows}},
             Call(Function::kAdd, {part(0.5, Read(0, {i, j})), Read(1, {j, i})}));
  const Definition weight =
      Define(extents, 2, Reducer::kNone, {extents, extents},
             Call(Function::kSub, {Read(0, {i, j}), part(0.25, Read(1, {i, j}))}));
  const KernelTensor m{KernelTensor::kOperand, 0}, g{KernelTensor::kOperand, 1},
      w{KernelTensor::kOperand, 2}, next_m{KernelTensor::kResult, 0},
      next_w{KernelTensor::kResult, 1};
  NamedKernel kernel;
  kernel.symbol = "kernel";
  kernel.shared = 2;
  kernel.definitions = {{&moment, {0, 1}, {m, g}, next_m}, {&weight, {0, 1}, {w, next_m}, next_w}};
  kernel.overwritten_by = {0, -1, 1};
  kernel.known = AllOf(kernel);
  const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
  CHECK(ToString(LaunchAtHand().plans, kernel) ==
        "256 threads in tiles of 32 x 8 across i, 8 x 4 a warp; points i j by 4");
  std::vector<float> moments(kRows * kColumns), gradients(moments.size()), weights(moments.size());
  for (size_t e = 0; e < moments.size(); ++e) {
    moments[e] = static_cast<float>(e % 31);
    gradients[e] = static_cast<float>(e % 17);
    weights[e] = static_cast<float>(e % 13);
  }
  const std::vector<float> before_m = moments, before_w = weights;
  void* const buffers[] = {moments.data(), gradients.data(), weights.data(), moments.data(),
                           weights.data()};
  std::vector<int64_t> arguments;
  for (const KnownArgument& known : kernel.known) arguments.push_back(known.offset);
  LaunchAtHand().buffers = 5;
  RunLaunch(buffers, arguments.data());
  bool right = true;
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const int64_t e = r * kColumns + c;
      right &= moments[e] == 0.5f * before_m[e] + gradients[c * kRows + r];
      right &= weights[e] == before_w[e] - 0.25f * moments[e];
    }
  }
  CHECK(right);
}

std::string TextOf(const TouchedMemory& memory) {
  return absl::StrCat("sectors read ", memory.read.Ratio(), ", written ", memory.written.Ratio(),
                      " times the least");
}

TouchedMemory TouchedBy(const Definition& definition, bool tiles) {
  KernelTarget target(*FindTarget("cuda"));
  target.tiles = tiles;
  NamedKernel kernel = Alone("kernel", definition);
  kernel.known = AllOf(kernel);
  std::vector<int64_t> bytes;
  for (const TensorType& operand : definition.operands)
    bytes.push_back(ElementCount(operand) * ByteSize(operand.type));
  bytes.push_back(ElementCount(definition.result) * ByteSize(definition.result.type));
  return RunTraced(kernel, target, bytes);
}

TEST_CASE("warps touch whole sectors by accesses of 16 bytes where a map turns what it reads") {
  Definition add = Map({544, 288}, {i, j});
  add.operands.push_back({ElementType::kF32, {288, 544}});
  add.body = Call(Function::kAdd, {Read(0, {i, j}), Read(1, {j, i})});
  for (const Definition& map : {Typed(Map({1024, 544}, {j, i}), ElementType::kF32),
                                Typed(Map({1536, 1536}, {j, i}), ElementType::kBF16),
                                Typed(Map({512, 288}, {j, i}), ElementType::kF64),
                                Typed(Map({4, 64, 56, 56}, {i, k, l, j}), ElementType::kF32),
                                Typed(Map({4, 3, 64, 1024}, {i, l, j, k}), ElementType::kF32)}) {
    INFO(ToString(map));
    const TouchedMemory without = TouchedBy(map, false), tiles = TouchedBy(map, true);
    INFO("without tiles " << TextOf(without) << "; in tiles " << TextOf(tiles));
    CHECK(without.read.Ratio() >= 4);
    CHECK(tiles.read.Ratio() == 1);
    CHECK(tiles.written.Ratio() == 1);
    CHECK(tiles.read.Width() == 16);
    CHECK(tiles.written.Width() == 16);
  }
  // Half of what is read lies along the result.
  CHECK(TouchedBy(add, false).read.Ratio() > 2);
  CHECK(TouchedBy(add, true).read.Ratio() == 1);
  CHECK(TouchedBy(add, true).written.Ratio() == 1);
}

TEST_CASE("rows that begin anywhere cost fewer sectors in tiles than without") {
  for (const auto& [rows, columns] :
       {std::pair(257, 768), std::pair(768, 257), std::pair(257, 259)}) {
    const Definition map = Map({rows, columns}, {j, i});
    INFO(ToString(map));
    const TouchedMemory without = TouchedBy(map, false), tiles = TouchedBy(map, true);
    INFO("without tiles " << TextOf(without) << "; in tiles " << TextOf(tiles));
    const auto all = [](const TouchedMemory& memory) {
      return memory.read.sectors + memory.written.sectors;
    };
    CHECK(all(tiles) * 3 < all(without) * 2);
  }
}

}  // namespace
}  // namespace yuba::kernels
