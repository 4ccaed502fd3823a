// Random numbers against the values that their authors published, and what is drawn with them.
#include "opsemantics/base/philox.h"

#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "opsemantics/oracle/interpret.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

// philox4x32 with 10 rounds, from the file kat_vectors of Random123, the library of the authors of
// Philox. There counter and key are words, the first one lowest.
TEST_CASE("blocks are the published ones") {
  CHECK(Philox(0, 0, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(Philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(Philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a number is the upper 24 bits of the first word") {
  CHECK(UniformOf({0xffffffff, 0, 0, 0}) == 1 - 0x1p-24);
  CHECK(UniformOf({0x000000ff, ~0u, ~0u, ~0u}) == 0);
  CHECK(UniformOf({0x80000100, 0, 0, 0}) == 0.5 + 0x1p-24);
  CHECK(HashOfRandom({1, 2, 3, 4}) == 0x200000001);
}

// y[i, j] = random(key, count, i*columns + j), of the rows of `part`.
std::vector<Scalar> Drawn(int64_t rows, int64_t columns, Interval part, int64_t key, int64_t count,
                          Arithmetic arithmetic = Arithmetic::kFloat) {
  const Definition definition = Define(
      {rows, columns}, 2, Reducer::kNone, {},
      Call(Function::kRandom,
           {Integer(key), Integer(count), IndexValue(IndexAffine(0) * columns + IndexAffine(1))}));
  TensorValue result{definition.result, {}};
  result.elements.resize(ElementCount(result.type));
  Interpret(definition, {part, {0, columns}}, {}, arithmetic, result);
  return result.elements;
}

TEST_CASE("the interpreter draws by key, count and place alone") {
  const std::vector<Scalar> whole = Drawn(5, 7, {0, 5}, 11, 3);
  for (int64_t e = 0; e < 35; ++e) CHECK(whole[e].number == UniformOf(Philox(11, 3, e)));
  const std::vector<Scalar> part = Drawn(5, 7, {2, 4}, 11, 3);
  for (int64_t e = 14; e < 28; ++e) CHECK(part[e].number == whole[e].number);
  const std::vector<Scalar> hashes = Drawn(5, 7, {0, 5}, 11, 3, Arithmetic::kHash);
  for (int64_t e = 0; e < 35; ++e) CHECK(hashes[e].hash == HashOfRandom(Philox(11, 3, e)));
}

// The numbers are always the same; the bounds are some standard deviations of the estimates.
TEST_CASE("mean, variance and correlations are those of independent uniform numbers") {
  constexpr int64_t kCount = 100000;
  const std::vector<Scalar> a = Drawn(1, kCount, {0, 1}, 0, 0), b = Drawn(1, kCount, {0, 1}, 0, 1),
                            c = Drawn(1, kCount, {0, 1}, int64_t{1} << 32, 0);
  double sum = 0, squares = 0, next = 0, step = 0, stream = 0;
  for (int64_t e = 0; e < kCount; ++e) {
    const double x = a[e].number - 0.5;
    sum += x;
    squares += x * x;
    next += x * (a[(e + 1) % kCount].number - 0.5);
    step += x * (b[e].number - 0.5);
    stream += x * (c[e].number - 0.5);
  }
  CHECK(std::fabs(sum / kCount) < 0.003);
  CHECK(std::fabs(squares / kCount - 1.0 / 12) < 0.001);
  for (const double product : {next, step, stream}) CHECK(std::fabs(product / kCount) < 0.001);
}

}  // namespace
}  // namespace yuba
