#include "tests/e2e/pair_bytes.h"

#include <algorithm>
#include <map>

#include "opsemantics/base/box.h"

namespace yuba {
namespace {

using Point = std::vector<int64_t>;

bool HasPoint(const Box& box, const Point& point) {
  for (size_t i = 0; i < point.size(); ++i) {
    if (point[i] < box[i].begin || point[i] >= box[i].end) return false;
  }
  return true;
}

// One exchange: which devices give elements to which.
class Exchange {
 public:
  Exchange(const runtime::LoadedProgram& program, const program::Exchange& exchange)
      : devices_(program.devices()),
        combines_(exchange.reduce() && exchange.partials() > 1),
        offers_(devices_, true),
        receives_(devices_, true) {
    for (int d = 0; d < devices_; ++d) {
      from_.push_back(program.BoxOf(exchange.from(), d));
      to_.push_back(program.BoxOf(exchange.to(), d));
      partial_.push_back(combines_ ? program.Value(exchange.partial(), d) : 0);
      groups_.push_back({exchange.has_group() ? program.Value(exchange.group(), d) : 0});
    }
    OnlyFirst(from_, exchange.from_first_only(), offers_);
    OnlyFirst(to_, combines_, receives_);
    // The members of a collective's group differ on its axes only.
    if (exchange.collective() == 0) return;
    const int axes = static_cast<int>(program.mesh().axes.size());
    for (int axis = 0; axis < axes; ++axis) {
      if (std::count(exchange.axes().begin(), exchange.axes().end(), axis) > 0) continue;
      for (int d = 0; d < devices_; ++d) {
        groups_[d].push_back(program.mesh().coordinate(d, axis));
      }
    }
  }

  // Adds `bytes` for each element that one device gets from another.
  void AddTo(PairBytes& pairs, int64_t bytes) const {
    for (int d = 0; d < devices_; ++d) {
      if (!receives_[d]) continue;
      ForEachPoint(to_[d], [&](const Point& point) {
        for (const int source : SourcesOf(d, point)) pairs[source][d] += source == d ? 0 : bytes;
      });
    }
  }

 private:
  // Of the devices of a group that have equal boxes the first alone counts.
  void OnlyFirst(const std::vector<Box>& boxes, bool applies, std::vector<bool>& counts) const {
    for (int d = 0; applies && d < devices_; ++d) {
      for (int before = 0; before < d; ++before) {
        if (groups_[before] == groups_[d] && boxes[before] == boxes[d]) counts[d] = false;
      }
    }
  }

  // Of each partial of the element the device itself where it has it, else the first that does.
  std::vector<int> SourcesOf(int device, const Point& point) const {
    std::map<int64_t, int> sources;
    for (int d = devices_; d-- > 0;) {
      const bool has = offers_[d] && groups_[d] == groups_[device] && HasPoint(from_[d], point);
      const auto known = sources.find(partial_[d]);
      if (!has || (known != sources.end() && known->second == device)) continue;
      sources[partial_[d]] = d;
    }
    std::vector<int> list;
    for (const auto& [partial, source] : sources) list.push_back(source);
    return list;
  }

  const int devices_;
  const bool combines_;
  std::vector<Box> from_, to_;
  std::vector<int64_t> partial_;
  std::vector<std::vector<int64_t>> groups_;
  std::vector<bool> offers_, receives_;
};

}  // namespace

PairBytes PairBytesOf(const runtime::LoadedProgram& program) {
  PairBytes pairs(program.devices(), std::vector<int64_t>(program.devices(), 0));
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_exchange()) continue;
    const program::Exchange& exchange = instruction.exchange();
    Exchange(program, exchange).AddTo(pairs, program.ElementBytes(exchange.source()));
  }
  return pairs;
}

}  // namespace yuba
