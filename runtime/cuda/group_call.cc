#include "runtime/cuda/group_call.h"

#include <algorithm>

namespace yuba::cuda {
namespace {

bool IsContiguous(const runtime::BoxWalk& walk) {
  return walk.extents.size() == 1 && walk.extents[0] > 0 && walk.buffers[0].strides[0] == 1 &&
         walk.buffers[1].strides[0] == 1;
}

// One device's pieces in the order in which they lie in its destination buffer, where they lie side
// by side and have one size; else nothing.
std::vector<const runtime::Piece*> SideBySide(const runtime::DeviceExchange& own) {
  std::vector<const runtime::Piece*> pieces;
  if (!own.cells.empty()) return {};
  for (const runtime::Piece& piece : own.pieces) {
    if (!IsContiguous(piece.walk)) return {};
    pieces.push_back(&piece);
  }
  std::sort(pieces.begin(), pieces.end(), [](const runtime::Piece* a, const runtime::Piece* b) {
    return a->walk.buffers[1].offset < b->walk.buffers[1].offset;
  });
  for (size_t i = 1; i < pieces.size(); ++i) {
    const int64_t elements = pieces[0]->walk.extents[0];
    const int64_t expected = pieces[0]->walk.buffers[1].offset + static_cast<int64_t>(i) * elements;
    if (pieces[i]->walk.extents[0] != elements || pieces[i]->walk.buffers[1].offset != expected)
      return {};
  }
  return pieces;
}

}  // namespace

absl::optional<GroupCall> AllGatherOf(const runtime::ExchangePlan& plan, int device) {
  GroupCall gather;
  for (const runtime::Piece* piece : SideBySide(plan.devices[device])) {
    gather.members.push_back(piece->source);
    gather.from.push_back(plan.source_offset +
                          piece->walk.buffers[0].offset * plan.source_element_bytes);
    gather.bytes = piece->walk.extents[0] * plan.source_element_bytes;
  }
  const std::vector<int>& members = gather.members;
  if (members.size() < 2 || std::count(members.begin(), members.end(), device) != 1) return {};
  if (!std::is_sorted(members.begin(), members.end())) return {};
  for (int member : members) {
    const std::vector<const runtime::Piece*> pieces = SideBySide(plan.devices[member]);
    if (pieces.size() != members.size()) return {};
    for (size_t i = 0; i < pieces.size(); ++i) {
      const int64_t from =
          plan.source_offset + pieces[i]->walk.buffers[0].offset * plan.source_element_bytes;
      const int64_t bytes = pieces[i]->walk.extents[0] * plan.source_element_bytes;
      if (pieces[i]->source != members[i] || from != gather.from[i] || bytes != gather.bytes)
        return {};
    }
    gather.to.push_back(plan.destination_offset +
                        pieces[0]->walk.buffers[1].offset * plan.destination_element_bytes);
  }
  return gather;
}

}  // namespace yuba::cuda
