// What GPUs are told to do, done by this processor with the same code: equal, bit for bit, to what
// the host's own communicator does.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "runtime/cuda/job.h"
#include "runtime/cuda/make_job.h"

namespace yuba::cuda {
namespace {

using Random = std::mt19937_64;

int64_t Uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

std::string RandomBytes(Random& random, int64_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// A box, and buffers round it, each of which is a little larger on every side.
struct Boxes {
  Box box;
  std::vector<Box> buffers;
};
Boxes RandomBoxes(Random& random, int buffers) {
  Boxes boxes;
  const int rank = static_cast<int>(Uniform(random, 0, 4));
  boxes.buffers.resize(buffers);
  for (int d = 0; d < rank; ++d) {
    const int64_t begin = Uniform(random, 2, 5);
    boxes.box.push_back({begin, begin + Uniform(random, 1, 4)});
    for (Box& buffer : boxes.buffers) {
      buffer.push_back({begin - Uniform(random, 0, 2), boxes.box[d].end + Uniform(random, 0, 2)});
    }
  }
  return boxes;
}

// The threads of a GPU, one after the other, last first.
void RunOnThreads(const std::vector<int64_t>& job, int threads) {
  for (int thread = threads - 1; thread >= 0; --thread) RunJob(job.data(), thread, threads);
}

template <typename Stored, typename Load>
bool EqualOrNan(const std::string& a, const std::string& b, const Load& load) {
  for (size_t i = 0; i < a.size(); i += sizeof(Stored)) {
    Stored x, y;
    std::memcpy(&x, &a[i], sizeof x);
    std::memcpy(&y, &b[i], sizeof y);
    const bool both_nan = load(x) != load(x) && load(y) != load(y);
    if (!both_nan && std::memcmp(&x, &y, sizeof x) != 0) return false;
  }
  return true;
}

// Bit for bit, but of NaNs only that they are: which of two a sum keeps is the compiler's choice.
bool SameValues(ElementType type, bool hash, const std::string& a, const std::string& b) {
  if (hash || !IsFloat(type)) return a == b;
  switch (type) {
    case ElementType::kF64: return EqualOrNan<double>(a, b, [](double x) { return x; });
    case ElementType::kF32: return EqualOrNan<float>(a, b, [](float x) { return x; });
    case ElementType::kF16: return EqualOrNan<uint16_t>(a, b, FromF16);
    default: return EqualOrNan<uint16_t>(a, b, FromBF16);
  }
}

struct Types {
  ElementType from, to;
  bool hash;
};
const std::vector<Types> kTypes = {{ElementType::kF64, ElementType::kF64, false},
                                   {ElementType::kF32, ElementType::kF32, false},
                                   {ElementType::kF16, ElementType::kF16, false},
                                   {ElementType::kBF16, ElementType::kBF16, false},
                                   {ElementType::kF32, ElementType::kF16, false},
                                   {ElementType::kF32, ElementType::kBF16, false},
                                   {ElementType::kI64, ElementType::kI64, false},
                                   {ElementType::kI32, ElementType::kI32, false},
                                   {ElementType::kI8, ElementType::kI8, false},
                                   {ElementType::kU8, ElementType::kU8, false},
                                   {ElementType::kBool, ElementType::kBool, false},
                                   {ElementType::kI16, ElementType::kI16, false},
                                   {ElementType::kU16, ElementType::kU16, false},
                                   {ElementType::kU32, ElementType::kU32, false},
                                   {ElementType::kU64, ElementType::kU64, false},
                                   {ElementType::kF32, ElementType::kF32, true},
                                   {ElementType::kI32, ElementType::kI32, true}};

TEST_CASE("A combination as a job equals the host's, for every type, reducer and number of parts") {
  Random random(1);
  const std::vector<Reducer> reducers = {Reducer::kSum, Reducer::kProd, Reducer::kMax,
                                         Reducer::kMin, Reducer::kAny,  Reducer::kAll,
                                         Reducer::kPick};
  for (const Types& types : kTypes) {
    const bool hash = types.hash && IsFloat(types.from);
    const int64_t from_bytes = hash ? 8 : ByteSize(types.from);
    const int64_t to_bytes = hash ? 8 : ByteSize(types.to);
    for (Reducer reducer : reducers) {
      for (int parts = 0; parts <= 4; ++parts) {
        INFO(Name(types.from) << " to " << Name(types.to) << " hash " << types.hash << " "
                              << Name(reducer) << " of " << parts);
        const Boxes boxes = RandomBoxes(random, parts + 1);
        const runtime::BoxWalk walk = runtime::WalkOf(boxes.box, boxes.buffers);
        std::vector<std::string> data;
        std::vector<const char*> sources;
        for (const Box& buffer : boxes.buffers) {
          data.push_back(RandomBytes(random, Volume(buffer) * from_bytes));
        }
        for (int p = 0; p < parts; ++p) sources.push_back(data[p].data());
        const std::string before = RandomBytes(random, Volume(boxes.buffers.back()) * to_bytes);
        std::string expected = before, found = before;
        const runtime::Combination combination = {reducer, types.from, types.to, types.hash};
        runtime::CombineWalk(combination, walk, sources, &expected[0]);
        RunOnThreads(CombineJob(combination, walk, sources, &found[0]), 3);
        REQUIRE(SameValues(types.to, hash, found, expected));
      }
    }
  }
}

TEST_CASE("Elements of large and small walks lie where their loops say") {
  // 3 x N x 5 elements with steps of 1000, 10 and 1 elements: fewer than 2^32 of them, and more.
  for (const int64_t middle :
       {int64_t{7}, int64_t{286331153}, int64_t{286331154}, int64_t{1} << 40}) {
    const std::vector<int64_t> job = {15 * middle, 3, 1, 0, 0, 0, 3, middle, 5};
    const std::vector<int64_t> strides = {1000, 10, 1};
    for (const auto& at :
         {std::array<int64_t, 3>{0, 0, 0}, {1, middle - 1, 2}, {2, middle - 1, 4}}) {
      const int64_t element = (at[0] * middle + at[1]) * 5 + at[2];
      CHECK(JobOffset(job.data(), strides.data(), element) == at[0] * 1000 + at[1] * 10 + at[2]);
    }
  }
  const std::vector<int64_t> one = {1, 0, 1, 0, 0, 0};
  CHECK(JobOffset(one.data(), nullptr, 0) == 0);
}

TEST_CASE("A copy as a job, and as rows where it can be rows, equals the host's") {
  Random random(2);
  int rows_copied = 0, not_rows = 0;
  for (int round = 0; round < 400; ++round) {
    const int64_t bytes = int64_t{1} << round % 4;
    const Boxes boxes = RandomBoxes(random, 2);
    const runtime::BoxWalk walk = runtime::WalkOf(boxes.box, boxes.buffers);
    const std::string from = RandomBytes(random, Volume(boxes.buffers[0]) * bytes);
    const std::string before = RandomBytes(random, Volume(boxes.buffers[1]) * bytes);
    std::string expected = before, by_job = before, by_rows = before;
    runtime::CopyWalk(walk, from.data(), &expected[0], bytes);
    RunOnThreads(CopyJob(walk, from.data(), &by_job[0], bytes), 5);
    REQUIRE(by_job == expected);
    const RowCopy rows = AsRows(walk, bytes);
    if (!rows.possible) {
      ++not_rows;
      continue;
    }
    ++rows_copied;
    for (int64_t row = 0; row < rows.rows; ++row) {
      std::memcpy(&by_rows[rows.to + row * rows.to_pitch], &from[rows.from + row * rows.from_pitch],
                  rows.row_bytes);
    }
    REQUIRE(by_rows == expected);
  }
  CHECK(rows_copied > 100);
  CHECK(not_rows > 50);
}

}  // namespace
}  // namespace yuba::cuda
