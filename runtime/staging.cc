#include "runtime/staging.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kAlignment = 64;  // bytes; of each piece, for any type of elements

}  // namespace

int64_t TakeStaging(int64_t bytes, int64_t& used) {
  const int64_t at = used;
  used += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

Staging StagingOf(const ExchangePlan& plan, const std::function<bool(int, int)>& can_read) {
  Staging staging;
  const size_t devices = plan.devices.size();
  staging.fetches.resize(devices);
  staging.sent_bytes.resize(devices);
  staging.received_bytes.resize(devices);
  for (size_t d = 0; d < devices; ++d) {
    const auto add = [&](int source, int64_t elements) {
      if (elements == 0 || can_read(static_cast<int>(d), source)) return;
      const int64_t bytes = elements * plan.source_element_bytes;
      staging.fetches[d].push_back({source, TakeStaging(bytes, staging.sent_bytes[source]),
                                    TakeStaging(bytes, staging.received_bytes[d]), bytes});
    };
    for (const Piece& piece : plan.devices[d].pieces) {
      add(piece.source, piece.walk.elements());
    }
    for (const Cell& cell : plan.devices[d].cells) {
      for (int source : cell.sources) add(source, cell.walk.elements());
    }
  }
  return staging;
}

BoxWalk Packed(BoxWalk walk, size_t buffer) {
  WalkedBuffer& packed = walk.buffers[buffer];
  packed.offset = 0;
  int64_t stride = 1;
  for (size_t d = walk.extents.size(); d-- > 0;) {
    packed.strides[d] = stride;
    stride *= walk.extents[d];
  }
  return walk;
}

}  // namespace yuba::runtime
