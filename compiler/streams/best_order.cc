#include "compiler/streams/best_order.h"

#include <algorithm>
#include <utility>

#include "compiler/streams/dependences.h"

namespace yuba::compiler {
namespace {

// OrderChoice. With the first ones alone a step of Llama-3-8B takes 2 % longer (decision 174).
constexpr double kLeads[] = {1, 2, 4};
constexpr double kSmalls[] = {1, 0.3, 0.1};

double EndOf(const std::vector<StartedItem>& started) {
  double end = 0;
  for (const StartedItem& each : started) end = std::max(end, each.end);
  return end;
}

}  // namespace

std::vector<StartedItem> BestOrder(const std::vector<WorkItem>& items, int64_t bytes_ahead) {
  const Dependences depends = DependencesOf(items);
  std::vector<StartedItem> best;
  for (const double lead : kLeads) {
    for (const double small : kSmalls) {
      std::vector<StartedItem> started = OrderItems(items, depends, bytes_ahead, {lead, small});
      if (best.empty() || EndOf(started) < EndOf(best)) best = std::move(started);
    }
  }
  return best;
}

}  // namespace yuba::compiler
