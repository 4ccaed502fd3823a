#include "opsemantics/base/draw.h"

#include <cmath>

#include "opsemantics/base/philox.h"

namespace yuba {
namespace {

// The counter's other half: no step of a program has this number, so no random number of a run has
// the block of a drawn value.
constexpr uint64_t kBeforeAllSteps = UINT64_MAX;

double Between0And1(uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

}  // namespace

double DrawnElement(const Draw& draw, uint64_t element) {
  const PhiloxBlock block = Philox(draw.seed, kBeforeAllSteps, element);
  const double uniform = Between0And1(block[0]);
  if (draw.distribution == Draw::kUniform) return draw.first + (draw.second - draw.first) * uniform;
  // Box and Muller, 1958.
  const double length = std::sqrt(-2 * std::log(uniform));
  return draw.first + draw.second * length * std::cos(2 * M_PI * Between0And1(block[1]));
}

}  // namespace yuba
