#include "runtime/initial_values.h"

#include <cmath>
#include <cstring>

#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

// How many integers there are. Those of floats are indices into any table of two rows or more;
// hashes are looked up modulo the extent, so that there may be more.
constexpr int64_t kIntegers = 2, kIntegersBesideHashes = 4;

uint64_t Bits(uint64_t seed, int64_t position) {
  const uint64_t mixed = HashMix(HashMix(static_cast<uint64_t>(position), seed) + seed, seed);
  return mixed ^ mixed >> 29;  // HashMix is always odd
}

// The element as its bytes, in the low bytes of the result.
uint64_t Element(const ValueRule& rule, uint64_t bits) {
  uint64_t stored = 0;
  if (!IsFloat(rule.type)) {
    stored = bits >> 20;
    const bool few = rule.type == ElementType::kBool || !rule.hash;
    return stored % (few ? kIntegers : kIntegersBesideHashes);
  }
  if (rule.hash) return bits;
  const double value = rule.low + rule.width * (static_cast<double>(bits >> 11) * 0x1p-53);
  const float narrow = static_cast<float>(value);
  switch (rule.type) {
    case ElementType::kF64: std::memcpy(&stored, &value, sizeof value); break;
    case ElementType::kF16: stored = ToF16(narrow); break;
    case ElementType::kBF16: stored = ToBF16(narrow); break;
    default: stored = BitsOf(narrow); break;
  }
  return stored;
}

}  // namespace

ValueRule RuleFor(ElementType type, const std::vector<int64_t>& shape, bool parameter, bool hash) {
  ValueRule rule;
  rule.type = type;
  rule.hash = hash;
  rule.low = -1;
  rule.width = 2;
  if (!parameter) return rule;
  if (shape.size() < 2) {
    rule.low = 0.5;
    rule.width = 1;
    return rule;
  }
  double inner = 1;
  for (size_t d = 1; d < shape.size(); ++d) inner *= static_cast<double>(shape[d]);
  const double largest = std::sqrt(3 / std::max(inner, 1.0));  // variance 1 / inner
  rule.low = -largest;
  rule.width = 2 * largest;
  return rule;
}

uint64_t SeedOf(const std::string& name, uint64_t seed) {
  uint64_t mixed = HashMix(seed, 0x9e3779b97f4a7c15);
  for (char c : name) mixed = HashMix(mixed + static_cast<unsigned char>(c), 0x9e3779b97f4a7c15);
  return mixed;
}

std::string RandomElements(const ValueRule& rule, uint64_t seed, const std::vector<int64_t>& dims,
                           const Box& box, const DimOrder& order) {
  const int64_t bytes = rule.hash && IsFloat(rule.type) ? 8 : ByteSize(rule.type);
  const BoxWalk walk = WalkOf(box, {WholeBox(dims), box}, {DimOrder(), order});
  std::string data(walk.elements() * bytes, 0);
  const int64_t whole_step = walk.buffers[0].strides.back();
  const int64_t step = walk.buffers[1].strides.back();
  ForEachRun(walk, [&](const std::vector<int64_t>& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const uint64_t element = Element(rule, Bits(seed, offsets[0] + i * whole_step));
      std::memcpy(&data[(offsets[1] + i * step) * bytes], &element, bytes);
    }
  });
  return data;
}

}  // namespace yuba::runtime
