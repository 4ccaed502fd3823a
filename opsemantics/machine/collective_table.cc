#include "opsemantics/machine/collective_table.h"

#include <algorithm>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

// Of the largest tensor that was measured; a rate without latency.
double RateOfLargest(const LinkModel& link, const CollectiveTable& table) {
  const auto& [bytes, seconds] = table.seconds.back();
  const double moving = seconds - link.latency;
  if (moving <= 0) return 0;
  return BytesReceived(table.collective, table.devices, bytes) / moving;
}

}  // namespace

double BytesReceived(absl::string_view collective, int devices, double bytes) {
  const double others = static_cast<double>(devices - 1) / devices;
  if (collective == "all_gather" || collective == "reduce_scatter") return bytes * others;
  if (collective == "all_reduce") return 2 * bytes * others;
  if (collective == "all_to_all") return bytes * others / devices;
  YUBA_CHECK(collective == "permute") << collective;
  return bytes / devices;
}

double BestRate(const LinkModel& link) {
  double best = link.bandwidth;
  for (const CollectiveTable& table : link.tables) {
    best = std::max(best, RateOfLargest(link, table));
  }
  return best;
}

void RaiseTables(LinkModel& link) {
  const double best = BestRate(link);
  for (CollectiveTable& table : link.tables) {
    double least = 0;
    for (auto& [bytes, seconds] : table.seconds) {
      const double received = BytesReceived(table.collective, table.devices, bytes);
      least = std::max(least, link.latency + received / best);
      least = seconds = std::max(least, seconds);
    }
  }
}

absl::optional<double> MeasuredSeconds(const LinkModel& link, absl::string_view collective,
                                       int devices, bool one_process, double bytes) {
  for (const CollectiveTable& table : link.tables) {
    if (table.collective != collective || table.devices != devices ||
        table.one_process != one_process) {
      continue;
    }
    const auto& rows = table.seconds;
    const auto above = std::lower_bound(
        rows.begin(), rows.end(), bytes,
        [](const std::pair<double, double>& row, double value) { return row.first < value; });
    if (above == rows.begin()) return rows.front().second;
    if (above == rows.end()) return rows.back().second * bytes / rows.back().first;
    const auto below = above - 1;
    const double way = (bytes - below->first) / (above->first - below->first);
    return below->second + way * (above->second - below->second);
  }
  return absl::nullopt;
}

}  // namespace yuba
