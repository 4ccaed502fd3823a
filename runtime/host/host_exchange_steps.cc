#include "runtime/host/host_exchange_steps.h"

namespace yuba::runtime {

absl::Status HostExchangeSteps::Copy(int device, int /*instruction*/, const ExchangePlan& plan) {
  char* const result = arenas_[device] + plan.destination_offset;
  for (const Piece& piece : plan.devices[device].pieces) {
    CopyWalk(piece.walk, arenas_[piece.source] + plan.source_offset, result,
             plan.source_element_bytes);
  }
  for (const Cell& cell : plan.devices[device].cells) {
    std::vector<const char*> partials;
    for (int source : cell.sources) partials.push_back(arenas_[source] + plan.source_offset);
    CombineWalk(plan.combination, cell.walk, partials, result);
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
