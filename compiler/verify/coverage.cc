#include "compiler/verify/coverage.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/spmd/tables.h"
#include "compiler/verify/box_union.h"
#include "compiler/verify/iteration.h"
#include "compiler/verify/moved.h"
#include "compiler/verify/outputs.h"
#include "compiler/verify/parts.h"
#include "compiler/verify/unfold.h"
#include "compiler/verify/written_boxes.h"
#include "opsemantics/base/status.h"
#include "runtime/program/entries.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {
namespace {

// Of one entry: what an earlier one left is worth nothing, but for what is stored.
class Prover {
 public:
  explicit Prover(const Unfolded& unfolded)
      : program_(unfolded.program()),
        numbers_(unfolded.numbers()),
        mesh_(MeshOf(program_)),
        known_(mesh_) {
    for (const program::Buffer& buffer : program_.buffers()) {
      held_.push_back(known_.Of(buffer.box()));
      written_.emplace_back(held_.back());
    }
    partial_.assign(held_.size(), nullptr);
    producers_.assign(held_.size(), nullptr);
    partials_.resize(held_.size());
    unreduced_.resize(held_.size());
    renewed_.assign(held_.size(), false);
  }

  // `outputs`: the buffers of the outputs that the entry computes.
  absl::Status Prove(const program::EntryRange& entry, const std::vector<int>& outputs) {
    for (int id = 0; id < program_.buffers_size(); ++id) {
      if (!program_.buffers(id).initialized()) continue;
      written_[id].Write(*held_[id]);
      YUBA_RETURN_IF_ERROR(CheckWhole(id));
    }
    for (int i = entry.begin; i < entry.end; ++i) {
      YUBA_RETURN_IF_ERROR(Run(numbers_[i], program_.instructions(i)));
    }
    for (const int output : outputs) {
      YUBA_RETURN_IF_ERROR(Annotate(CheckOutput(output), "at the end"));
    }
    for (int id = 0; id < program_.buffers_size(); ++id) {
      if (renewed_[id]) YUBA_RETURN_IF_ERROR(Annotate(CheckOutput(id), "at the end"));
    }
    return absl::OkStatus();
  }

 private:
  const std::string& NameOf(int buffer) const { return program_.buffers(buffer).name(); }
  program::Reducer ReducerOf(const program::Kernel& kernel) const {
    return program_.functions(kernel.function()).definitions(0).reducer();
  }
  bool IsPartial(int id) const {
    return partial_[id] != nullptr || !partials_[id].empty() || !unreduced_[id].empty();
  }
  void SetWhole(int id) {
    partial_[id] = producers_[id] = nullptr;
    partials_[id].clear();
    unreduced_[id].clear();
  }

  // Of a stored tensor the first write of a step begins its next value: from then on what was there
  // before the step is worth nothing.
  void Write(int id, const std::vector<Box>& boxes) {
    if (program_.buffers(id).initialized() && !renewed_[id]) {
      renewed_[id] = true;
      written_[id].Forget();
    }
    written_[id].Write(boxes);
  }

  // A stored tensor: every element is on some device.
  absl::Status CheckWhole(int id) {
    const std::vector<int64_t> dims(program_.buffers(id).dims().begin(),
                                    program_.buffers(id).dims().end());
    if (whole_.count({held_[id].get(), dims}) > 0) return absl::OkStatus();
    BoxUnion all;
    for (int device : FirstDevices(mesh_, program_.buffers(id).box())) {
      all.Add((*held_[id])[device]);
    }
    if (const auto lost = all.Missing(WholeBox(dims))) {
      return ProofError("no device holds ", ToString(*lost), " of ", NameOf(id));
    }
    whole_.insert({held_[id].get(), dims});
    return absl::OkStatus();
  }

  absl::Status CheckOutput(int id) {
    if (IsPartial(id)) return ProofError(NameOf(id), " holds partial results");
    YUBA_RETURN_IF_ERROR(CheckWhole(id));
    if (written_[id].IsAll()) return absl::OkStatus();
    for (int device = 0; device < mesh_.devices(); ++device) {
      if (const auto lost = written_[id].Missing(device, (*held_[id])[device])) {
        return ProofError("nothing writes ", ToString(*lost), " of ", NameOf(id), " on device ",
                          device);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Run(int i, const program::Instruction& instruction) {
    if (instruction.has_kernel()) {
      return Annotate(RunKernel(instruction.kernel()),
                      absl::StrCat("instruction ", i, ", kernel ", instruction.kernel().node(0)));
    }
    const program::Exchange& exchange = instruction.exchange();
    return Annotate(RunExchange(exchange),
                    absl::StrCat("instruction ", i, exchange.reduce() ? ", reduce" : ", gather",
                                 " of ", exchange.tensor(), " at ", exchange.node()));
  }

  absl::Status RunKernel(const program::Kernel& kernel) {
    const std::string points = PointsOf(kernel);
    if (partial_at_.count(points) == 0) {
      YUBA_RETURN_IF_ERROR(CheckTiling(program_, mesh_, kernel));
    }
    bool adds = false;
    for (const program::Access& operand : kernel.operands()) {
      if (IsPartial(operand.buffer()) != operand.partial()) {
        return ProofError("it reads ",
                          operand.partial() ? "no partial results in " : "partial results of ",
                          NameOf(operand.buffer()));
      }
      YUBA_RETURN_IF_ERROR(CheckRead(operand));
      adds |= operand.partial();
    }
    YUBA_ASSIGN_OR_RETURN(const std::vector<int64_t> groups, GroupNumbers(program_, mesh_, kernel));
    if (adds == groups.empty()) return ProofError("it has groups without partials, or the reverse");
    for (const program::Access& operand : kernel.operands()) {
      if (operand.partial()) YUBA_RETURN_IF_ERROR(CheckUnreduced(operand.buffer(), groups));
    }
    return WriteResult(kernel, points);
  }

  // Whether a kernel or exchange that runs in `groups` ([device]) may read the unreduced buffer:
  // what the devices of a group hold of it is one partial of the whole, each element on one device,
  // and the partials of all groups add up to the whole.
  absl::Status CheckUnreduced(int id, const std::vector<int64_t>& groups) {
    if (!unreduced_[id].empty()) {
      std::map<int64_t, int64_t> others, back;
      for (int device = 0; device < mesh_.devices(); ++device) {
        const int64_t group = unreduced_[id][device];
        if (others.emplace(groups[device], group).first->second == group &&
            back.emplace(group, groups[device]).first->second == groups[device]) {
          continue;
        }
        return ProofError("device ", device, " of group ", groups[device], " has a term of ",
                          NameOf(id), " that is another group's");
      }
      return absl::OkStatus();
    }
    std::vector<Box> held = partials_[id];
    if (const program::Kernel* producer = partial_[id]) {
      held = *known_.Of(producer->results(0).box());
      YUBA_RETURN_IF_ERROR(CheckSum(ReducerOf(*producer)));
      YUBA_RETURN_IF_ERROR(CheckDistinct(mesh_, *producer));
    }
    std::map<int64_t, BoxUnion> terms;
    for (int device = 0; device < mesh_.devices(); ++device) {
      BoxUnion& term = terms[groups[device]];
      if (term.Touches(held[device])) {
        return ProofError("device ", device, " holds ", ToString(held[device]), " of ", NameOf(id),
                          ", of which others of its group hold some too");
      }
      term.Add(held[device]);
    }
    return absl::OkStatus();
  }

  absl::Status CheckRead(const program::Access& operand) {
    const int id = operand.buffer();
    const program::KnownBoxes::List reads = known_.Of(operand.box());
    if (written_[id].IsAll() && known_.AllContain(held_[id], reads)) return absl::OkStatus();
    for (int device = 0; device < mesh_.devices(); ++device) {
      const Box& read = (*reads)[device];
      if (!Contains((*held_[id])[device], read)) {
        return ProofError("device ", device, " reads ", ToString(read), " of ", NameOf(id),
                          " and has ", ToString((*held_[id])[device]));
      }
      if (const auto lost = written_[id].Missing(device, read)) {
        return ProofError("device ", device, " reads ", ToString(*lost), " of ", NameOf(id),
                          ", which nothing has written");
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteResult(const program::Kernel& kernel, const std::string& points) {
    const int id = kernel.results(0).buffer();
    const program::KnownBoxes::List results = known_.Of(kernel.results(0).box());
    YUBA_RETURN_IF_ERROR(CheckRoom(id, results, "writes"));
    auto partial = partial_at_.find(points);
    if (partial == partial_at_.end()) {
      YUBA_RETURN_IF_ERROR(CheckOutputs(program_, mesh_, kernel, *results, NameOf(id)));
      partial = partial_at_.emplace(points, IsPartOfReduction(program_, mesh_, kernel)).first;
    }
    Write(id, *results);
    SetWhole(id);
    if (partial->second) partial_[id] = &kernel;
    producers_[id] = &kernel;
    return absl::OkStatus();
  }

  // Whether the buffer has room on each device for the boxes that it writes or receives there.
  absl::Status CheckRoom(int id, const program::KnownBoxes::List& boxes, const char* does) {
    if (known_.AllContain(held_[id], boxes)) return absl::OkStatus();
    for (int device = 0; device < mesh_.devices(); ++device) {
      const Box &box = (*boxes)[device], &held = (*held_[id])[device];
      if (Contains(held, box)) continue;
      return ProofError("device ", device, " ", does, " ", ToString(box), " of ", NameOf(id),
                        " and has room for ", ToString(held));
    }
    return absl::OkStatus();
  }

  // Whether each device has written what it offers. With from_first_only it offers nothing where an
  // earlier device offers the same box.
  absl::Status CheckOffers(const program::Exchange& exchange, const std::vector<Box>& offers) {
    const int source = exchange.source();
    if (written_[source].IsAll() && known_.AllContain(held_[source], known_.Of(exchange.from()))) {
      return absl::OkStatus();
    }
    for (int device = 0; device < mesh_.devices(); ++device) {
      if (const auto lost = written_[source].Missing(device, offers[device])) {
        return ProofError("device ", device, " offers ", ToString(*lost), " of ", NameOf(source),
                          ", which nothing has written");
      }
    }
    return absl::OkStatus();
  }

  // The boxes with an empty one in the place of each that an earlier device has.
  const std::vector<Box>& FirstOnly(const program::KnownBoxes::List& boxes) {
    const auto [first_only, is_new] = first_only_.emplace(boxes.get(), std::vector<Box>());
    if (!is_new) return first_only->second;
    std::set<Box, BoxLess> seen;
    for (Box box : *boxes) {
      // A scalar's box has no dimension to be empty in: it gets one.
      if (!seen.insert(box).second) box.assign(std::max<size_t>(box.size(), 1), Interval{});
      first_only->second.push_back(std::move(box));
    }
    return first_only->second;
  }

  absl::Status RunExchange(const program::Exchange& exchange) {
    const program::KnownBoxes::List from = known_.Of(exchange.from());
    const program::KnownBoxes::List received = known_.Of(exchange.to());
    const std::vector<Box>& offers = exchange.from_first_only() ? FirstOnly(from) : *from;
    const std::vector<Box>& to = *received;
    YUBA_RETURN_IF_ERROR(CheckOffers(exchange, offers));
    YUBA_RETURN_IF_ERROR(CheckRoom(exchange.destination(), received, "receives"));
    const std::string boxes = MovedBoxesOf(exchange);
    if (exchange.reduce() && received_.count(boxes) == 0) {
      YUBA_RETURN_IF_ERROR(CheckReceived(mesh_, exchange, offers, to));
      received_.insert(boxes);
    }
    if (exchange.has_group() && !exchange.reduce()) return GatherPartials(exchange, offers, to);
    if (!partials_[exchange.source()].empty() || !unreduced_[exchange.source()].empty()) {
      return ProofError("it takes partials of ", NameOf(exchange.source()), " for whole results");
    }
    if (exchange.has_group()) return CombineInGroups(exchange, offers, to);
    if (exchange.partials() > 1) return Combine(exchange, offers, received);
    if (partial_[exchange.source()] != nullptr) {
      return ProofError("it takes partial results of ", NameOf(exchange.source()),
                        " for whole ones");
    }
    if (offered_.count(boxes) == 0) {
      YUBA_RETURN_IF_ERROR(CheckOffered(mesh_, exchange, offers, to));
      offered_.insert(boxes);
    }
    Write(exchange.destination(), to);
    SetWhole(exchange.destination());
    return absl::OkStatus();
  }

  // A gather of unreduced partials: each device receives elements of its own group's partial.
  absl::Status GatherPartials(const program::Exchange& exchange, const std::vector<Box>& from,
                              const std::vector<Box>& to) {
    const int source = exchange.source();
    if (!IsPartial(source) || !unreduced_[source].empty()) {
      return ProofError("it takes terms of ", NameOf(source), ", which is no sum of them");
    }
    std::vector<int64_t> groups = ValuesOn(mesh_, exchange.group());
    std::map<int64_t, BoxUnion> offered;
    for (int device = 0; device < mesh_.devices(); ++device) {
      offered[groups[device]].Add(from[device]);
    }
    YUBA_RETURN_IF_ERROR(CheckUnreduced(source, groups));
    for (int device = 0; device < mesh_.devices(); ++device) {
      if (const auto lost = offered[groups[device]].Missing(to[device])) {
        return ProofError("device ", device, " waits for ", ToString(*lost), " of ",
                          exchange.tensor(), ", which no device of its group offers");
      }
    }
    Write(exchange.destination(), to);
    SetWhole(exchange.destination());
    unreduced_[exchange.destination()] = std::move(groups);
    return absl::OkStatus();
  }

  // A reduction that leaves one partial for each group: each element that a device wrote reaches
  // one device of its group.
  absl::Status CombineInGroups(const program::Exchange& exchange, const std::vector<Box>& from,
                               const std::vector<Box>& to) {
    const program::Kernel* producer = producers_[exchange.source()];
    if (producer == nullptr || !exchange.reduce())
      return ProofError("it combines what no kernel wrote");
    YUBA_RETURN_IF_ERROR(CheckSum(ReducerOf(*producer)));
    if (exchange.reducer() != program::SUM) return ProofError("it adds up by another reducer");
    YUBA_RETURN_IF_ERROR(CheckDistinct(mesh_, *producer));
    YUBA_RETURN_IF_ERROR(CheckParts(program_, mesh_, exchange, *producer, from));
    const std::vector<int64_t> groups = ValuesOn(mesh_, exchange.group());
    std::map<int64_t, BoxUnion> received;  // by group
    for (int device = 0; device < mesh_.devices(); ++device) {
      BoxUnion& region = received[groups[device]];
      if (region.Touches(to[device])) {
        return ProofError("device ", device, " adds ", ToString(to[device]),
                          ", some of which another device of its group adds too");
      }
      region.Add(to[device]);
    }
    Write(exchange.destination(), to);
    for (int device = 0; device < mesh_.devices(); ++device) {
      const BoxUnion& region = received[groups[device]];
      if (const auto lost = region.Missing(from[device])) {
        return ProofError(ToString(*lost), ", written by device ", device,
                          ", is reduced into nobody of its group");
      }
    }
    SetWhole(exchange.destination());
    partials_[exchange.destination()] = to;
    return absl::OkStatus();
  }

  // A reduction to whole results. The exchange tells partials apart by their numbers: devices of
  // equal numbers must have computed the same points, devices of different numbers disjoint ones.
  absl::Status Combine(const program::Exchange& exchange, const std::vector<Box>& from,
                       const program::KnownBoxes::List& to) {
    const program::Kernel* producer = partial_[exchange.source()];
    if (producer == nullptr || !exchange.reduce())
      return ProofError("it combines what is not partial");
    if (exchange.reducer() != ReducerOf(*producer)) {
      return ProofError("it combines with another reducer than its kernel's");
    }
    const std::string parts = PartsOf(exchange, *producer);
    if (parts_.count(parts) == 0) {
      YUBA_RETURN_IF_ERROR(CheckParts(program_, mesh_, exchange, *producer, from));
      parts_.insert(parts);
    }
    Write(exchange.destination(), FirstOnly(to));
    SetWhole(exchange.destination());
    return absl::OkStatus();
  }

  const program::Program& program_;
  const std::vector<int>& numbers_;  // [instruction]: its number before clusters were unfolded
  const Mesh mesh_;
  program::KnownBoxes known_;
  std::vector<program::KnownBoxes::List> held_;  // [buffer]: what it has room for
  std::vector<WrittenBoxes> written_;            // [buffer]
  // Of lists of known_: what FirstOnly made of them; those that hold whole tensors, with their
  // dimensions.
  std::map<const void*, std::vector<Box>> first_only_;
  std::set<std::pair<const void*, std::vector<int64_t>>> whole_;
  std::set<std::string> parts_;  // reductions whose partials are proved to be, by PartsOf
  // Of kernels whose points are proved, by PointsOf: whether the results are partial.
  std::map<std::string, bool> partial_at_;
  std::set<std::string> received_, offered_;  // exchanges that are proved so, by MovedBoxesOf
  // [buffer]: the kernel that wrote partials into it, null where there are whole results.
  std::vector<const program::Kernel*> partial_;
  // [buffer]: the kernel that wrote it last, null where an exchange did or nothing has yet.
  std::vector<const program::Kernel*> producers_;
  std::vector<bool> renewed_;  // [buffer]: it is stored, and has got something of its next value
  // [buffer][device]: the box of a partial that the device holds, where a reduction has left one
  // partial for each group; the sum over all devices is the whole. Empty for other buffers.
  std::vector<std::vector<Box>> partials_;
  // [buffer][device]: the group whose partial the device gathered; empty for other buffers.
  std::vector<std::vector<int64_t>> unreduced_;
};

// [entry]: the buffers of the outputs that it touches, which must be whole at its end. An output
// that no entry touches is the last one's.
std::vector<std::vector<int>> OutputsByEntry(const program::Program& program, size_t entries) {
  std::vector<std::vector<int>> outputs(entries);
  const std::vector<std::vector<bool>> touching = program::EntriesByBuffer(program);
  for (const program::Port& port : program.outputs()) {
    std::vector<bool> touch = touching[port.buffer()];
    if (std::count(touch.begin(), touch.end(), true) == 0) touch.back() = true;
    for (size_t e = 0; e < entries; ++e) {
      if (touch[e]) outputs[e].push_back(port.buffer());
    }
  }
  return outputs;
}

}  // namespace

absl::Status CheckCoverage(const program::Program& program) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(program));
  return CheckCoverage(Unfolded(program));
}

absl::Status CheckCoverage(const Unfolded& unfolded) {
  const std::vector<program::EntryRange> entries = program::EntriesOf(unfolded.program());
  const std::vector<std::vector<int>> outputs = OutputsByEntry(unfolded.program(), entries.size());
  for (size_t e = 0; e < entries.size(); ++e) {
    const absl::Status proved = Prover(unfolded).Prove(entries[e], outputs[e]);
    if (proved.ok()) continue;
    return entries.size() == 1 ? proved : Annotate(proved, "entry " + entries[e].name);
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
