#include "runtime/cuda/group_call.h"

#include <algorithm>
#include <iterator>

namespace yuba::cuda {
namespace {

bool IsContiguous(const runtime::BoxWalk& walk) {
  return walk.extents.size() == 1 && walk.extents[0] > 0 && walk.buffers[0].strides[0] == 1 &&
         walk.buffers[1].strides[0] == 1;
}

// What a device gets of one member, which may be itself: bytes from the arenas' starts.
struct Part {
  int source = 0;
  int64_t from = 0, to = 0, bytes = 0;
};

// What the device gets, by ascending source, where the parts lie side by side in this order and
// have one size; else nothing. Of a gather in place its own part is where the others leave room for
// it.
std::vector<Part> SideBySide(const runtime::ExchangePlan& plan, int device) {
  const runtime::DeviceExchange& own = plan.devices[device];
  if (!own.cells.empty() || own.pieces.empty()) return {};
  std::vector<Part> parts;
  for (const runtime::Piece& piece : own.pieces) {
    if (!IsContiguous(piece.walk)) return {};
    const auto& buffers = piece.walk.buffers;
    parts.push_back({piece.source,
                     plan.source_offset + buffers[0].offset * plan.source_element_bytes,
                     plan.destination_offset + buffers[1].offset * plan.destination_element_bytes,
                     piece.walk.extents[0] * plan.source_element_bytes});
  }
  const auto by_source = [](const Part& a, const Part& b) { return a.source < b.source; };
  std::sort(parts.begin(), parts.end(), by_source);
  const bool has_own = std::any_of(parts.begin(), parts.end(),
                                   [&](const Part& part) { return part.source == device; });
  if (!has_own && plan.source_offset == plan.destination_offset) {
    const auto next = std::upper_bound(parts.begin(), parts.end(), Part{device}, by_source);
    const int64_t bytes = parts[0].bytes;
    const int64_t at = next == parts.begin() ? next->to - bytes : std::prev(next)->to + bytes;
    parts.insert(next, {device, at, at, bytes});
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].source == parts[i - 1].source || parts[i].bytes != parts[0].bytes ||
        parts[i].to != parts[0].to + static_cast<int64_t>(i) * parts[0].bytes)
      return {};
  }
  return parts;
}

}  // namespace

absl::optional<GroupCall> AllGatherOf(const runtime::ExchangePlan& plan, int device) {
  GroupCall gather;
  const std::vector<Part> own = SideBySide(plan, device);
  if (own.size() < 2) return {};
  bool member_itself = false;
  for (const Part& part : own) {
    gather.members.push_back(part.source);
    gather.from.push_back(part.from);
    member_itself = member_itself || part.source == device;
  }
  if (!member_itself) return {};
  gather.bytes = own[0].bytes;
  for (int member : gather.members) {
    const std::vector<Part> parts = SideBySide(plan, member);
    if (parts.size() != own.size()) return {};
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].source != own[i].source || parts[i].from != own[i].from ||
          parts[i].bytes != gather.bytes)
        return {};
    }
    gather.to.push_back(parts[0].to);
  }
  return gather;
}

}  // namespace yuba::cuda
