#include "search/plan/demand.h"

#include <algorithm>

namespace yuba::search {

bool Meets(const Sharding& choice, const Demands& demands) {
  for (size_t e = 0; e < demands.size(); ++e) {
    AxisList found;
    for (const uint8_t axis : choice.axes[e]) {
      const AxisList& wanted = demands[e].axes;
      const bool is_wanted = std::find(wanted.begin(), wanted.end(), axis) != wanted.end();
      if (is_wanted) found.push_back(axis);
      if (!is_wanted && !demands[e].others) return false;
    }
    if (found != demands[e].axes) return false;
  }
  return true;
}

bool MayMeet(const Mesh& mesh, const std::vector<int>& parts, const Demands& demands) {
  for (size_t e = 0; e < demands.size(); ++e) {
    const int wanted = PartCount(mesh, demands[e].axes);
    if (demands[e].others ? parts[e] % wanted != 0 : parts[e] != wanted) return false;
  }
  return true;
}

}  // namespace yuba::search
