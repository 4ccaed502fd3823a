#include "search/model/countable.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "search/plan/price_scale.h"

namespace yuba::search {

int64_t MostOfUse(const Graph& graph) {
  size_t uses = 1;
  for (const Node& node : graph.nodes) uses += 1 + node.operands.size();
  return std::min(kForbidden / static_cast<int64_t>(uses), MostInProof(graph));
}

void MakeCountable(int64_t most, std::vector<int64_t>& cells) {
  for (int64_t& cell : cells) {
    if (cell > most && cell < kForbidden) cell = most;
  }
}

Cells Countable(int64_t most, Cells cells) {
  if (cells == nullptr || std::all_of(cells->begin(), cells->end(), [most](int64_t cell) {
        return cell <= most || cell >= kForbidden;
      })) {
    return cells;
  }
  std::vector<int64_t> counted = *cells;
  MakeCountable(most, counted);
  return std::make_shared<const std::vector<int64_t>>(std::move(counted));
}

}  // namespace yuba::search
