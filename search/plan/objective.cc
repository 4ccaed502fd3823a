#include "search/plan/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

using Wide = __int128;

constexpr int kByteShift = 20;  // of Price::byte
constexpr double kNanosecond = 1e9;

int64_t Saturated(Wide value) {
  constexpr int64_t kMost = 1'000'000'000'000'000'000;
  return value > kMost ? kMost : static_cast<int64_t>(value);
}

}  // namespace

Objective::Objective(ObjectiveKind kind, std::shared_ptr<const Machine> machine)
    : kind_(kind), machine_(std::move(machine)) {
  YUBA_CHECK(machine_ != nullptr);
  for (const LinkModel& link : machine_->links) {
    prices_.push_back({std::llround(link.latency * kNanosecond),
                       std::llround(std::ldexp(kNanosecond / link.bandwidth, kByteShift))});
  }
  // From the outermost kind in: the least price of this kind and greater ones.
  std::vector<Price> least = prices_;
  for (size_t c = least.size() - 1; c-- > 0;) {
    least[c].message = std::min(least[c].message, least[c + 1].message);
    least[c].byte = std::min(least[c].byte, least[c + 1].byte);
  }
  for (size_t c = 0; c < least.size(); ++c) {
    slower_outside_ &= least[c].message == prices_[c].message && least[c].byte == prices_[c].byte;
    const Price before = c == 0 ? Price() : least[c - 1];
    steps_.push_back({least[c].message - before.message, least[c].byte - before.byte});
  }
}

int64_t Objective::Exchange(const Moved& received) const {
  Wide time = 0, bytes = 0, moved = 0;
  for (size_t kind = 0; kind < prices_.size(); ++kind) {
    time += Wide{received.messages[kind]} * prices_[kind].message;
    bytes += Wide{received.bytes[kind]} * prices_[kind].byte;
    moved += received.bytes[kind];
  }
  if (moved == 0) return 0;
  return std::max<int64_t>(1, Saturated(time + ((bytes + (1 << kByteShift) - 1) >> kByteShift)));
}

int64_t Objective::Exchange(const std::vector<Moved>& received) const {
  int64_t longest = 0;
  for (const Moved& each : received) longest = std::max(longest, Exchange(each));
  return longest;
}

int64_t Objective::LeastExchange(const LeastMoved& least, int64_t devices) const {
  if (least.bytes[0] <= 0) return 0;
  Wide time = 0;  // of all devices together, as Price::byte
  for (size_t kind = 0; kind < steps_.size(); ++kind) {
    time += (Wide{least.messages[kind]} * steps_[kind].message) << kByteShift;
    time += Wide{std::max<int64_t>(0, least.bytes[kind])} * steps_[kind].byte;
  }
  const int64_t of_devices = devices << kByteShift;
  time += of_devices - 1;
  // Almost always; the division of wide numbers takes ten times as long.
  if (time <= std::numeric_limits<int64_t>::max()) {
    return std::max<int64_t>(1, static_cast<int64_t>(time) / of_devices);
  }
  return std::max<int64_t>(1, Saturated(time / of_devices));
}

int64_t Objective::LeastCrossing(const LeastMoved& least, int64_t devices) const {
  Wide time = 0;
  for (size_t kind = 1; kind < steps_.size(); ++kind) {
    time += (Wide{least.messages[kind]} * steps_[kind].message) << kByteShift;
    time += Wide{std::max<int64_t>(0, least.bytes[kind])} * steps_[kind].byte;
  }
  return Saturated(time / (devices << kByteShift));
}

int64_t Objective::Kernel(const KernelWork& work) const {
  const double seconds = machine_->device.launch + KernelSeconds(*machine_, work);
  const double nanoseconds = std::ceil(seconds * kNanosecond);
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(nanoseconds, 1e18)));
}

bool operator==(const Objective& a, const Objective& b) {
  if (a.kind_ != b.kind_ || (a.machine_ == nullptr) != (b.machine_ == nullptr)) return false;
  return a.machine_ == nullptr || a.machine_->hash == b.machine_->hash;
}

}  // namespace yuba::search
