#include "runtime/model/processor_exchange.h"

#include <algorithm>

#include "opsemantics/machine/collective_table.h"

namespace yuba::runtime {
namespace {

constexpr char kAllGather[] = "all_gather";
constexpr char kAllToAll[] = "all_to_all";
constexpr char kPermute[] = "permute";
constexpr char kReduceScatter[] = "reduce_scatter";

const CollectiveTable* TableOf(const LinkModel& link, absl::string_view collective, int devices) {
  for (const CollectiveTable& table : link.tables) {
    if (table.collective == collective && table.devices == devices && table.one_process)
      return &table;
  }
  return nullptr;
}

// Of how many devices the tables are that are nearest: as many or the next more, else the most.
// 0: there are none.
int MeasuredDevices(const LinkModel& link, int devices) {
  int most = 0;
  for (const CollectiveTable& table : link.tables) most = std::max(most, table.devices);
  int nearest = most;
  for (const CollectiveTable& table : link.tables) {
    if (table.devices >= devices) nearest = std::min(nearest, table.devices);
  }
  return nearest;
}

absl::string_view AlikeOf(const CopyWork& work) {
  if (work.combines) return kReduceScatter;
  return work.collective == kAllGather ? kAllGather : kAllToAll;
}

// The tensor of which a device of `devices` reads so many bytes in a collective.
double TensorBytes(absl::string_view collective, int devices, double bytes) {
  return collective == kAllToAll ? bytes * devices : bytes;
}

}  // namespace

double ProcessorSecondsOf(const Machine& machine, int kind, int devices, const CopyWork& work) {
  if (work.messages == 0 && work.bytes == 0) return 0;
  const int processors = machine.device.processors;
  const LinkModel& link = machine.links[kind];
  const int measured = MeasuredDevices(link, devices);
  if (processors == 0 || measured < 2) return -1;
  const absl::string_view alike = AlikeOf(work);
  const CollectiveTable* const one = TableOf(link, kPermute, measured);
  const CollectiveTable* const all = TableOf(link, alike, measured);
  if (one == nullptr || all == nullptr) return -1;
  // Of messages alone: one as in a permute, one from each other device as in the collective.
  const double least = one->seconds.front().second;
  const double most = std::max(least, all->seconds.front().second);
  const double way = measured > 2 ? (work.messages - 1) / (measured - 2) : 1;
  const double together =
      MeasuredSeconds(link, alike, measured, true, TensorBytes(alike, measured, work.bytes))
          .value_or(most);
  const double seconds = together - all->seconds.front().second + least +
                         std::min(1.0, std::max(0.0, way)) * (most - least);
  return seconds * std::min(1.0, static_cast<double>(processors) / measured);
}

}  // namespace yuba::runtime
