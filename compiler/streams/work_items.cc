#include "compiler/streams/work_items.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/streams/units.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/base/slot.h"
#include "runtime/program/entries.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/tables.h"
#include "runtime/program/used_buffers.h"
#include "runtime/program/work.h"

namespace yuba::compiler {
namespace {

// Parts of a tensor differ by an element at most, so that few devices say what all take; the last
// one may have the smallest part.
std::set<int> SampledDevices(const Mesh& mesh) { return {0, mesh.devices() - 1}; }

// Equal for devices of which one sends for all.
std::vector<int64_t> SenderOf(int64_t partial, const Box& box) {
  std::vector<int64_t> sender = {partial};
  for (const Interval& range : box) sender.insert(sender.end(), {range.begin, range.end});
  return sender;
}

class Estimator {
 public:
  Estimator(const program::Program& program, const Machine& machine)
      : program_(program), machine_(machine), mesh_(MeshOf(program)), known_(mesh_) {
    for (const program::Buffer& buffer : program.buffers()) on_chip_.push_back(buffer.substitute());
  }

  void AddSeconds(const program::Instruction& instruction, WorkItem& item) {
    if (instruction.has_kernel()) {
      item.seconds += machine_.device.launch + KernelSecondsOf(instruction.kernel());
      return;
    }
    const LinkModel& link = machine_.links[KindOf(instruction.exchange())];
    item.latency += machine_.device.launch + Messages(instruction.exchange()) * link.latency;
    const double bytes = BytesReceived(instruction.exchange());
    item.bytes += static_cast<int64_t>(bytes);
    item.seconds += bytes / link.bandwidth;
  }

 private:
  double KernelSecondsOf(const program::Kernel& kernel) const {
    double most = 0;
    for (const int device : SampledDevices(mesh_)) {
      const program::Work work = program::WorkOn(program_, mesh_, kernel, device, on_chip_);
      if (work.points > 0) most = std::max(most, KernelSeconds(machine_, work.kernel));
    }
    return most;
  }

  // Of the outermost links between devices that differ on the collective's axes; of other exchanges
  // on any axis.
  int KindOf(const program::Exchange& exchange) const {
    int farthest = 0, weight = 1;
    for (int axis = static_cast<int>(mesh_.axes.size()); axis-- > 0;) {
      const bool along = exchange.axes().empty() ||
                         std::count(exchange.axes().begin(), exchange.axes().end(), axis) > 0;
      if (along) farthest += weight * (mesh_.axes[axis].size - 1);
      weight *= mesh_.axes[axis].size;
    }
    return KindBetween(machine_, 0, farthest);
  }

  // That a device receives: one from each that has something for it. Of devices that have the same
  // one sends. Exchanges of repeated layers have one answer.
  int Messages(const program::Exchange& exchange) {
    program::Exchange asked;
    *asked.mutable_from() = exchange.from();
    *asked.mutable_to() = exchange.to();
    if (exchange.has_group()) *asked.mutable_group() = exchange.group();
    if (exchange.has_partial()) *asked.mutable_partial() = exchange.partial();
    const auto [known, is_new] = messages_.try_emplace(asked.SerializeAsString(), 0);
    if (is_new) known->second = CountMessages(exchange);
    return known->second;
  }

  int CountMessages(const program::Exchange& exchange) {
    const program::KnownBoxes::List from = known_.Of(exchange.from());
    const std::vector<int64_t> groups = NumbersOn(exchange.has_group(), exchange.group());
    const std::vector<int64_t> partials = NumbersOn(exchange.has_partial(), exchange.partial());
    size_t most = 1;
    for (const int device : SampledDevices(mesh_)) {
      const Box to = BoxOn(mesh_, exchange.to(), device);
      std::set<std::vector<int64_t>> senders;
      for (int other = 0; other < mesh_.devices(); ++other) {
        const Box& box = (*from)[other];
        if (groups[other] == groups[device] && !IsEmpty(Intersect(box, to)))
          senders.insert(SenderOf(partials[other], box));
      }
      senders.erase(SenderOf(partials[device], (*from)[device]));
      most = std::max(most, senders.size());
    }
    return static_cast<int>(most);
  }

  // [device]; 0 where there is no such table.
  std::vector<int64_t> NumbersOn(bool there, const program::Bound& table) const {
    return there ? ValuesOn(mesh_, table) : std::vector<int64_t>(mesh_.devices(), 0);
  }

  double BytesReceived(const program::Exchange& exchange) const {
    int64_t most = 0;
    for (const int device : SampledDevices(mesh_)) {
      const Box from = BoxOn(mesh_, exchange.from(), device);
      const Box to = BoxOn(mesh_, exchange.to(), device);
      const int64_t wanted = IsEmpty(to) ? 0 : Volume(to);
      const Box held = Intersect(from, to);
      const int64_t elements = exchange.partials() > 1
                                   ? wanted * (exchange.partials() - 1)
                                   : wanted - (IsEmpty(held) ? 0 : Volume(held));
      most = std::max(most, elements);
    }
    return static_cast<double>(most) *
           static_cast<double>(ElementBytes(program_, program_.buffers(exchange.source())));
  }

  const program::Program& program_;
  const Machine& machine_;
  const Mesh mesh_;
  program::KnownBoxes known_;
  std::map<std::string, int> messages_;  // by what decides how many
  std::vector<bool> on_chip_;            // [buffer]
};

void SetBuffers(const program::Program& program, const std::vector<program::UsedBuffers>& used,
                WorkItem& item) {
  std::set<int> reads, writes;
  for (int i = item.begin; i < item.end; ++i) {
    reads.insert(used[i].reads.begin(), used[i].reads.end());
    writes.insert(used[i].writes.begin(), used[i].writes.end());
  }
  item.reads.assign(reads.begin(), reads.end());
  item.writes.assign(writes.begin(), writes.end());
  reads.insert(writes.begin(), writes.end());
  const int last = program.instructions_size() - 1;
  for (const int id : reads) {
    const program::Buffer& buffer = program.buffers(id);
    if (buffer.substitute() || (buffer.first() == 0 && buffer.last() == last)) continue;
    if (buffer.first() >= item.begin) item.made_bytes += SlotBytes(buffer.size());
    if (buffer.last() < item.end) item.freed_bytes += SlotBytes(buffer.size());
  }
}

}  // namespace

std::vector<std::vector<WorkItem>> WorkItemsOf(const program::Program& program,
                                               const Machine& machine) {
  Estimator estimator(program, machine);
  const std::vector<program::UsedBuffers> used = program::UsedBuffersOf(program);
  const std::vector<program::EntryRange> entries = program::EntriesOf(program);
  std::vector<std::vector<WorkItem>> items(entries.size());
  size_t entry = 0;
  for (const Unit& unit : UnitsOf(program)) {
    while (unit.begin >= entries[entry].end) ++entry;
    WorkItem item;
    item.begin = unit.begin;
    item.end = unit.end;
    item.exchange = program.instructions(unit.begin).has_exchange();
    for (int i = unit.begin; i < unit.end; ++i) estimator.AddSeconds(program.instructions(i), item);
    SetBuffers(program, used, item);
    items[entry].push_back(std::move(item));
  }
  return items;
}

}  // namespace yuba::compiler
