#include "tools/compare/checkpointing.h"

#include <algorithm>
#include <cmath>

namespace yuba::tools {

double BestInterval(const LossModel& losses) {
  const double m = losses.between_losses, half = losses.write / (2 * m);
  // Where writing takes twice as long as nodes last, no interval is good.
  if (half >= 1) return std::max(1.0, m);
  const double young = std::sqrt(2 * losses.write * m);
  return std::max(1.0, young * (1 + std::sqrt(half) / 3 + half / 9) - losses.write);
}

double LengthenedBy(const LossModel& losses, double interval) {
  const double m = losses.between_losses;
  return m * std::exp(losses.restart / m) * std::expm1((interval + losses.write) / m) / interval;
}

}  // namespace yuba::tools
