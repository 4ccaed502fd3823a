#include "runtime/model/exchange_reads.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/transfers.h"
#include "runtime/exchange_plan.h"

namespace yuba::runtime {
namespace {

int64_t CommonVolume(const Box& a, const Box& b) {
  int64_t volume = 1;
  for (size_t d = 0; d < a.size(); ++d) {
    volume *= std::max<int64_t>(0, std::min(a[d].end, b[d].end) - std::max(a[d].begin, b[d].begin));
    if (volume == 0) return 0;
  }
  return volume;
}

struct ByBounds {
  bool operator()(const Box* a, const Box* b) const {
    return std::lexicographical_compare(
        a->begin(), a->end(), b->begin(), b->end(), [](const Interval& x, const Interval& y) {
          return std::make_pair(x.begin, x.end) < std::make_pair(y.begin, y.end);
        });
  }
};

// The boxes that some devices have, each once with the lowest device that has it.
class Holders {
 public:
  // Nothing where two boxes overlap without being equal: then GatherTransfers has to say who sends
  // what.
  static absl::optional<Holders> Of(const std::vector<Box>& boxes,
                                    const std::vector<int>& devices) {
    Holders holders;
    std::map<const Box*, int, ByBounds> first;
    for (const int device : devices) {
      if (!IsEmpty(boxes[device])) first.emplace(&boxes[device], device);
    }
    for (const auto& [box, device] : first) {
      for (const auto& [other, owner] : holders.boxes_) {
        if (CommonVolume(*box, *other) > 0) return absl::nullopt;
      }
      holders.boxes_.emplace_back(box, device);
    }
    std::sort(holders.boxes_.begin(), holders.boxes_.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    return holders;
  }

  // Calls receive(source, elements) for what `device` takes of `wanted`; from itself what it has,
  // `own`, which is null where it has none.
  template <typename Receive>
  void Take(int device, const Box* own, const Box& wanted, const Receive& receive) const {
    for (const auto& [box, holder] : boxes_) {
      const int64_t elements = CommonVolume(*box, wanted);
      if (elements == 0) continue;
      receive(own != nullptr && *own == *box ? device : holder, elements);
    }
  }

 private:
  std::vector<std::pair<const Box*, int>> boxes_;  // by device
};

std::vector<std::vector<int>> GroupsOf(const LoadedProgram& program,
                                       const program::Exchange& exchange) {
  const Mesh& mesh = program.mesh();
  std::map<std::vector<int>, std::vector<int>> groups;  // by coordinates on the other axes
  for (int device = 0; device < program.devices(); ++device) {
    std::vector<int> others;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
      if (exchange.collective() != 0 &&
          std::count(exchange.axes().begin(), exchange.axes().end(), axis) == 0)
        others.push_back(mesh.coordinate(device, axis));
    }
    groups[others].push_back(device);
  }
  std::vector<std::vector<int>> result;
  for (auto& [others, devices] : groups) result.push_back(std::move(devices));
  return result;
}

class Reader {
 public:
  Reader(const LoadedProgram& program, const program::Exchange& exchange)
      : program_(program),
        exchange_(exchange),
        boxes_(BoxesOf(program, exchange)),
        source_bytes_(program.ElementBytes(exchange.source())),
        destination_bytes_(program.ElementBytes(exchange.destination())) {
    if (exchange.from_first_only()) boxes_.from = FirstOwnerBoxes(boxes_.from);
    combines_ = exchange.reduce() && exchange.partials() > 1;
    owned_ = combines_ ? FirstOwnerBoxes(boxes_.to) : boxes_.to;
    const program::Program& message = program.message();
    same_offset_ = message.buffers(exchange.source()).offset() ==
                   message.buffers(exchange.destination()).offset();
    result_.combines = combines_;
    result_.reads.resize(program.devices());
    result_.local_bytes.resize(program.devices());
  }

  ExchangeReads Run() {
    const std::vector<std::vector<int>> groups = GroupsOf(program_, exchange_);
    for (const std::vector<int>& group : groups) {
      if (!(combines_ ? Reduce(group) : Gather(group))) return FromPlan();
    }
    for (std::vector<Read>& reads : result_.reads) MergeSources(reads);
    FindLibraryGather(groups);
    FindLibrarySum(groups);
    return std::move(result_);
  }

 private:
  bool InPlace(int device) const {
    return same_offset_ && boxes_.source[device] == boxes_.destination[device];
  }

  void Receive(int device, int source, int64_t elements) {
    if (source == device) {
      const bool moves = combines_ || !InPlace(device);
      // What is combined is read here, and written once for all partials (Reduce).
      result_.local_bytes[device] +=
          moves ? elements * (source_bytes_ + (combines_ ? 0 : destination_bytes_)) : 0;
    } else {
      result_.reads[device].push_back({source, elements * source_bytes_});
    }
  }

  bool Gather(const std::vector<int>& group) {
    const absl::optional<Holders> holders = Holders::Of(boxes_.from, group);
    if (!holders.has_value()) return false;
    for (const int device : group) {
      if (IsEmpty(owned_[device])) continue;
      holders->Take(device, &boxes_.from[device], owned_[device],
                    [&](int source, int64_t elements) { Receive(device, source, elements); });
    }
    return true;
  }

  bool Reduce(const std::vector<int>& group) {
    std::map<int64_t, std::vector<int>> wrote;  // by partial
    for (const int device : group)
      wrote[program_.Value(exchange_.partial(), device)].push_back(device);
    for (const int device : group)
      if (!IsEmpty(owned_[device]))
        result_.local_bytes[device] += Volume(owned_[device]) * destination_bytes_;
    for (const auto& [partial, devices] : wrote) {
      const absl::optional<Holders> holders = Holders::Of(boxes_.from, devices);
      if (!holders.has_value()) return false;
      for (const int device : group) {
        if (IsEmpty(owned_[device])) continue;
        const bool own = program_.Value(exchange_.partial(), device) == partial;
        holders->Take(device, own ? &boxes_.from[device] : nullptr, owned_[device],
                      [&](int source, int64_t elements) { Receive(device, source, elements); });
      }
    }
    return true;
  }

  static void MergeSources(std::vector<Read>& reads) {
    std::stable_sort(reads.begin(), reads.end(),
                     [](const Read& a, const Read& b) { return a.source < b.source; });
    size_t kept = 0;
    for (size_t r = 0; r < reads.size(); ++r) {
      if (kept > 0 && reads[kept - 1].source == reads[r].source) {
        reads[kept - 1].bytes += reads[r].bytes;
      } else {
        reads[kept++] = reads[r];
      }
    }
    reads.resize(kept);
  }

  // Boxes that overlap without being equal: rare, and for all devices at once.
  ExchangeReads FromPlan() {
    const ExchangePlan plan = PlanExchange(program_, exchange_);
    ExchangeReads result;
    result.combines = combines_;
    for (int device = 0; device < program_.devices(); ++device) {
      const DeviceExchange& own = plan.devices[device];
      result.reads.emplace_back();
      for (size_t s = 0; s < own.sources.size(); ++s)
        result.reads.back().push_back({own.sources[s], own.received[s]});
      int64_t local = 0;
      for (const Piece& piece : own.pieces) {
        if (piece.source == device)
          local += piece.walk.elements() * (source_bytes_ + destination_bytes_);
      }
      for (const Cell& cell : own.cells) {
        local += cell.walk.elements() * destination_bytes_;
        for (const int source : cell.sources)
          local += source == device ? cell.walk.elements() * source_bytes_ : 0;
      }
      result.local_bytes.push_back(local);
    }
    return result;
  }

  // The dimension along which members' boxes differ from the whole one; -1 where it is not one, or
  // where a part is not contiguous in the whole.
  int GatheredDim(const Box& part, const Box& whole) const {
    int gathered = -1;
    for (int d = 0; d < static_cast<int>(whole.size()); ++d) {
      if (part[d] == whole[d]) {
        if (gathered < 0 && whole[d].size() != 1) return -1;
        continue;
      }
      if (gathered >= 0) return -1;
      gathered = d;
    }
    return gathered;
  }

  void FindLibraryGather(const std::vector<std::vector<int>>& groups) {
    const Collective* collective = CollectiveAt(exchange_.collective());
    if (collective == nullptr || std::string(collective->name) != "all_gather") return;
    const int64_t whole = Volume(boxes_.to[0]), part = Volume(boxes_.from[0]);
    for (const std::vector<int>& group : groups) {
      for (const int device : group) {
        const Box &from = boxes_.from[device], &to = boxes_.to[device];
        if (GatheredDim(from, to) < 0 || !(boxes_.source[device] == from) ||
            !(boxes_.destination[device] == to) || Volume(from) != part || Volume(to) != whole) {
          return;
        }
      }
    }
    result_.library_devices = static_cast<int>(groups[0].size());
    result_.library_bytes = whole * source_bytes_;
  }

  void FindLibrarySum(const std::vector<std::vector<int>>& groups) {
    const Collective* collective = CollectiveAt(exchange_.collective());
    if (collective == nullptr || std::string(collective->name) != "reduce_scatter") return;
    const int64_t whole = Volume(boxes_.from[0]), part = Volume(boxes_.to[0]);
    for (int device = 0; device < program_.devices(); ++device) {
      if (Volume(boxes_.from[device]) != whole || Volume(boxes_.to[device]) != part) return;
    }
    result_.library_devices = static_cast<int>(groups[0].size());
    result_.library_bytes = whole * source_bytes_;
  }

  const LoadedProgram& program_;
  const program::Exchange& exchange_;
  ExchangeBoxes boxes_;
  std::vector<Box> owned_;  // [device]: what it has to get
  const int64_t source_bytes_, destination_bytes_;
  bool combines_ = false, same_offset_ = false;
  ExchangeReads result_;
};

}  // namespace

ExchangeReads ReadsOf(const LoadedProgram& program, const program::Exchange& exchange) {
  return Reader(program, exchange).Run();
}

}  // namespace yuba::runtime
