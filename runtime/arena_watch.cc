#include "runtime/arena_watch.h"

#include <algorithm>
#include <string>

#include "opsemantics/base/slot.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::runtime {
namespace {

Interval SlotOf(const program::Buffer& buffer, int64_t offset) {
  return {offset, offset + buffer.size()};
}

// Bytes of `whole` outside all of `taken`.
std::vector<Interval> Outside(const Interval& whole, std::vector<Interval> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> rest;
  int64_t from = whole.begin;
  for (const Interval& interval : taken) {
    if (interval.empty()) continue;
    const int64_t until = std::min(interval.begin, whole.end);
    if (from < until) rest.push_back({from, until});
    from = std::max(from, interval.end);
  }
  if (from < whole.end) rest.push_back({from, whole.end});
  return rest;
}

// [buffer] the first of the buffers that share memory with it, directly or through others, while
// both live.
std::vector<int> SharedMemoryGroups(const LoadedProgram& program) {
  const auto& buffers = program.message().buffers();
  std::vector<int> group(buffers.size());
  for (int b = 0; b < buffers.size(); ++b) group[b] = b;
  for (int b = 0; b < buffers.size(); ++b) {
    for (int a = 0; a < b; ++a) {
      if (!LiveAtOnce(buffers[a], buffers[b]) || Intersect(SlotOf(buffers[a], buffers[a].offset()),
                                                           SlotOf(buffers[b], buffers[b].offset()))
                                                     .empty()) {
        continue;
      }
      const int old = group[b], merged = group[a];
      std::replace(group.begin(), group.end(), std::max(old, merged), std::min(old, merged));
    }
  }
  return group;
}

}  // namespace

ArenaLayout PlannedLayout(const LoadedProgram& program) {
  ArenaLayout layout;
  for (const program::Buffer& buffer : program.message().buffers()) {
    layout.offsets.push_back(buffer.offset());
  }
  layout.substitutes = program.message().substitute_size();
  layout.size = program.message().arena_size() + layout.substitutes;
  return layout;
}

ArenaLayout SpreadLayout(const LoadedProgram& program) {
  const auto& buffers = program.message().buffers();
  const std::vector<int> group = SharedMemoryGroups(program);
  ArenaLayout layout;
  layout.offsets.resize(buffers.size());
  layout.size = kGuardBytes;
  for (int leader = 0; leader < buffers.size(); ++leader) {
    if (group[leader] != leader) continue;
    Interval hull;  // of the group, in the planned arena
    for (int b = leader; b < buffers.size(); ++b) {
      if (group[b] == leader) hull = Hull(hull, SlotOf(buffers[b], buffers[b].offset()));
    }
    for (int b = leader; b < buffers.size(); ++b) {
      if (group[b] != leader) continue;
      layout.offsets[b] = layout.size + std::max<int64_t>(buffers[b].offset() - hull.begin, 0);
    }
    layout.size += SlotBytes(hull.size()) + kGuardBytes;
  }
  return layout;
}

ArenaWatch::ArenaWatch(const LoadedProgram& program, const ArenaLayout& layout,
                       const WatchOptions& options, std::vector<Device*> devices)
    : program_(program),
      layout_(layout),
      options_(options),
      devices_(std::move(devices)),
      births_(program.instructions().size()) {
  const auto& buffers = program.message().buffers();
  std::vector<Interval> taken;
  for (int b = 0; b < buffers.size(); ++b) {
    const Interval slot = SlotOf(buffers[b], layout.offsets[b]);
    taken.push_back(slot);
    const int first = buffers[b].first();
    if (buffers[b].initialized() || first < 0 || first >= static_cast<int>(births_.size()))
      continue;
    // Bytes in which another buffer lives already (a result may overwrite an operand) are not
    // poisoned.
    std::vector<Interval> live;
    for (int o = 0; o < buffers.size(); ++o) {
      const bool before = buffers[o].initialized() || buffers[o].first() < first;
      if (o != b && before && LiveAtOnce(buffers[o], buffers[b])) {
        live.push_back(SlotOf(buffers[o], layout.offsets[o]));
      }
    }
    const std::vector<Interval> born = Outside(slot, std::move(live));
    births_[first].insert(births_[first].end(), born.begin(), born.end());
  }
  if (options.guards) gaps_ = Outside({0, layout.size}, std::move(taken));
}

absl::Status ArenaWatch::Fill() {
  for (Device* device : devices_) {
    if (device == nullptr) continue;
    if (options_.poison) YUBA_RETURN_IF_ERROR(device->Fill(0, kPoison, layout_.size));
    for (const Interval& gap : gaps_) {
      YUBA_RETURN_IF_ERROR(device->Fill(gap.begin, kGuard, gap.size()));
    }
  }
  return absl::OkStatus();
}

absl::Status ArenaWatch::Before(int device, int instruction) {
  if (!options_.poison) return absl::OkStatus();
  for (const Interval& bytes : births_[instruction]) {
    YUBA_RETURN_IF_ERROR(devices_[device]->Fill(bytes.begin, kPoison, bytes.size()));
  }
  return absl::OkStatus();
}

absl::Status ArenaWatch::After(int device, int) {
  for (const Interval& gap : gaps_) {
    std::string bytes(gap.size(), 0);
    YUBA_RETURN_IF_ERROR(devices_[device]->Read(gap.begin, &bytes[0], gap.size()));
    const size_t at = bytes.find_first_not_of(kGuard);
    if (at == std::string::npos) continue;
    const int64_t offset = gap.begin + static_cast<int64_t>(at);
    int nearest = 0;  // the last buffer that starts before the byte
    for (size_t b = 0; b < layout_.offsets.size(); ++b) {
      if (layout_.offsets[b] <= offset && layout_.offsets[b] >= layout_.offsets[nearest]) {
        nearest = static_cast<int>(b);
      }
    }
    return InternalError("a byte outside every buffer was written, ",
                         offset - layout_.offsets[nearest], " bytes after the start of ",
                         program_.message().buffers(nearest).name());
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
