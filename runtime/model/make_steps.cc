#include "runtime/model/make_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/machine/collective_table.h"
#include "runtime/arena_watch.h"
#include "runtime/host/kept_operands.h"
#include "runtime/model/device_classes.h"
#include "runtime/model/exchange_reads.h"
#include "runtime/model/kernel_times.h"
#include "runtime/model/on_chip.h"
#include "runtime/model/processor_exchange.h"
#include "runtime/program/all_reduce.h"
#include "runtime/program/check_streams.h"

namespace yuba::runtime {
namespace {

bool IsInPlace(const LoadedProgram& program, const program::Kernel& kernel,
               const program::Access& result) {
  const auto offset = [&](const program::Access& access) {
    return program.message().buffers(access.buffer()).offset();
  };
  return std::any_of(
      kernel.operands().begin(), kernel.operands().end(),
      [&](const program::Access& operand) { return offset(operand) == offset(result); });
}

// What the time of a kernel depends on, as a key.
std::string KeyOf(const LoadedProgram& program, const program::Kernel& kernel,
                  const std::vector<bool>& unmoved) {
  std::string key = absl::StrCat(kernel.function(), " ");
  for (const program::Range& range : kernel.indices()) range.AppendToString(&key);
  for (const program::WorkRange& work : kernel.work_ranges()) work.AppendToString(&key);
  const auto add = [&](const program::Access& access) {
    absl::StrAppend(&key, program.ElementBytes(access.buffer()), " ");
    if (!unmoved.empty() && unmoved[access.buffer()]) absl::StrAppend(&key, "unmoved ");
    access.box().AppendToString(&key);
  };
  for (const program::Access& operand : kernel.operands()) add(operand);
  for (const program::Access& result : kernel.results()) {
    add(result);
    absl::StrAppend(&key, IsInPlace(program, kernel, result) ? "in place " : "");
  }
  return key;
}

// And of an exchange.
std::string KeyOf(const LoadedProgram& program, const program::Exchange& exchange) {
  program::Exchange alone = exchange;
  for (std::string* name : {alone.mutable_tensor(), alone.mutable_node()}) name->clear();
  alone.set_source(0);
  alone.set_destination(0);
  std::string key = alone.SerializeAsString();
  const auto& buffers = program.message().buffers();
  const auto &source = buffers[exchange.source()], &destination = buffers[exchange.destination()];
  source.box().AppendToString(&key);
  destination.box().AppendToString(&key);
  absl::StrAppend(&key, program.ElementBytes(exchange.source()), " ",
                  program.ElementBytes(exchange.destination()), " ",
                  source.offset() == destination.offset());
  return key;
}

// What an exchange is of an all-reduce that a library does in one call.
enum class SumPart : uint8_t { kNone, kFirst, kLast };

class Maker {
 public:
  Maker(const LoadedProgram& program, const Machine& machine, const RunPolicy& policy)
      : program_(program), machine_(machine), policy_(policy) {}

  StepList Make(int entry, bool classes) {
    const program::EntryRange& range = program_.entries()[entry];
    if (machine_.device.fused_products) on_chip_ = OnChip(program_);
    // Kernels for which calls of attention stand pass nothing to each other through memory.
    if (machine_.device.processors == 0 && program_.message().attention_size() > 0) {
      on_chip_.resize(program_.message().buffers_size());
      for (int b = 0; b < program_.message().buffers_size(); ++b)
        on_chip_[b] = on_chip_[b] || program_.message().buffers(b).substitute();
    }
    if (machine_.device.processors > 0) kept_ = KeptBuffers(program_, PlannedLayout(program_));
    first_instruction_ = range.begin;
    list_.two_streams = program::HasStreams(program_.message());
    for (int i = range.begin; i < range.end; ++i) AddStep(i);
    Classify(classes);
    for (const KernelTimes& times : kernels_) {
      list_.kernels.emplace_back();
      for (const int device : first_)
        list_.kernels.back().push_back(times.variants[times.variant[device]]);
    }
    for (size_t row = 0; row < exchanges_.size(); ++row)
      list_.exchanges.push_back(RowOf(exchanges_[row], sum_parts_[row]));
    return std::move(list_);
  }

 private:
  void AddStep(int instruction) {
    const program::Instruction& message = program_.instructions()[instruction];
    Step step;
    step.instruction = instruction;
    step.exchange = message.has_exchange();
    step.joins = message.joins();
    if (message.after() > 0) step.after = message.after() - 1 - first_instruction_;
    std::string key = step.exchange ? KeyOf(program_, message.exchange())
                                    : KeyOf(program_, message.kernel(), Unmoved(message.kernel()));
    const SumPart part = step.exchange ? PartOfSum(instruction) : SumPart::kNone;
    absl::StrAppend(&key, " ", static_cast<int>(part));
    std::map<std::string, int>& rows = step.exchange ? exchange_rows_ : kernel_rows_;
    const auto [row, added] = rows.emplace(key, static_cast<int>(rows.size()));
    step.row = row->second;
    if (added && step.exchange) {
      exchanges_.push_back(ReadsOf(program_, message.exchange()));
      if (part == SumPart::kLast) {  // what a library does is of the whole that was summed
        const ExchangeReads sum =
            ReadsOf(program_, program_.instructions()[instruction - 1].exchange());
        exchanges_.back().library_devices = sum.library_devices;
        exchanges_.back().library_bytes = sum.library_bytes;
      }
      sum_parts_.push_back(part);
    }
    if (added && !step.exchange) {
      kernels_.push_back(
          KernelTimesOf(program_, message.kernel(), Unmoved(message.kernel()), machine_, policy_));
    }
    list_.steps.push_back(step);
  }

  // The buffers whose bytes cost a kernel nothing. A library's convolution turns a filter into its
  // own form in each call, unless the filter stays the same: then it is kept in that form.
  const std::vector<bool>& Unmoved(const program::Kernel& kernel) const {
    const program::Function& function = program_.message().functions(kernel.function());
    const bool convolution =
        function.has_library() && function.library().kind() == program::LibraryCall::CONVOLUTION;
    return convolution && !kept_.empty() ? kept_ : on_chip_;
  }

  // Both parts stand next to each other, and the machine has been timed with such a sum.
  SumPart PartOfSum(int instruction) const {
    if (policy_.sums != Sums::kFast) return SumPart::kNone;
    const auto& instructions = program_.instructions();
    for (const int sum : {instruction, instruction - 1}) {
      if (!program::IsAllReduce(program_.message(), sum)) continue;
      const ExchangeReads reads = ReadsOf(program_, instructions[sum].exchange());
      if (reads.library_devices == 0 || MeasuredSum(reads, 0) < 0) continue;
      return sum == instruction ? SumPart::kFirst : SumPart::kLast;
    }
    return SumPart::kNone;
  }

  // The process of a device: one a node, or one a device.
  int ProcessOf(int device) const {
    const int of_node = std::max(1, machine_.devices() / std::max(1, machine_.nodes));
    return policy_.one_process ? device / of_node : device;
  }

  void Classify(bool classes) {
    const int devices = program_.devices();
    std::vector<int> process;
    for (int d = 0; d < devices; ++d) process.push_back(ProcessOf(d));
    list_.class_of.resize(devices);
    std::iota(list_.class_of.begin(), list_.class_of.end(), 0);
    if (classes) list_.class_of = DeviceClasses(machine_, kernels_, exchanges_, process);
    for (int d = 0; d < devices; ++d) {
      const size_t number = list_.class_of[d];
      if (number == list_.class_sizes.size()) {
        list_.class_sizes.push_back(0);
        first_.push_back(d);
      }
      ++list_.class_sizes[number];
    }
    Share(process, list_.in_process, list_.process_of);
    for (int kind = 0; kind < static_cast<int>(machine_.links.size()); ++kind) {
      std::vector<int> ports;
      for (int d = 0; d < devices; ++d) ports.push_back(PortOf(machine_, kind, d));
      list_.on_port.emplace_back();
      list_.port_of.emplace_back();
      Share(ports, list_.on_port.back(), list_.port_of.back());
    }
  }

  // group: [device]. Groups with as many devices of each class are alike: gives each class the
  // number of its kind of group and how many devices of the class such a group has.
  void Share(const std::vector<int>& group, std::vector<int>& members,
             std::vector<int>& number) const {
    std::map<int, std::map<int, int>> contents;  // by group: devices by class
    for (size_t d = 0; d < group.size(); ++d) ++contents[group[d]][list_.class_of[d]];
    std::map<std::map<int, int>, int> kinds;
    for (const int device : first_) {
      const std::map<int, int>& own = contents[group[device]];
      number.push_back(kinds.emplace(own, static_cast<int>(kinds.size())).first->second);
      members.push_back(own.at(list_.class_of[device]));
    }
  }

  std::vector<ExchangeTime> RowOf(const ExchangeReads& reads, SumPart part) const {
    std::vector<ExchangeTime> row(list_.classes());
    std::vector<std::set<int>> readers(list_.classes());
    for (int c = 0; c < list_.classes(); ++c) {
      const int device = first_[c];
      ExchangeTime& own = row[c];
      std::map<std::pair<int, int>, Inflow> inflows;  // by class and kind
      std::set<int> sources;
      for (const Read& read : reads.reads[device]) {
        const int source = list_.class_of[read.source];
        const int kind = KindBetween(machine_, device, read.source);
        Inflow& inflow = inflows[{source, kind}];
        inflow.source = source;
        inflow.kind = kind;
        inflow.bytes += static_cast<double>(read.bytes);
        ++inflow.messages;
        sources.insert(source);
        readers[source].insert(c);
      }
      for (const auto& [key, inflow] : inflows) own.inflows.push_back(inflow);
      own.sources.assign(sources.begin(), sources.end());
      own.local_bytes = static_cast<double>(reads.local_bytes[device]);
      own.collective_seconds = machine_.device.processors > 0
                                   ? SharedSeconds(reads, device)
                                   : CollectiveSeconds(reads, part, device);
    }
    for (int c = 0; c < list_.classes(); ++c)
      row[c].readers.assign(readers[c].begin(), readers[c].end());
    return row;
  }

  // Below 0: none.
  double CollectiveSeconds(const ExchangeReads& reads, SumPart part, int device) const {
    if (part == SumPart::kFirst) return 0;  // all of it is in the last part
    if (part == SumPart::kLast) return MeasuredSum(reads, device);
    if (reads.library_devices == 0 || reads.reads[device].empty()) return -1;
    if (!reads.combines)
      return policy_.library_gathers ? Measured("all_gather", reads, device) : -1;
    if (policy_.sums == Sums::kOrdered) return -1;
    // Round a ring, the parts of a sum go the ways of those of a gather.
    const double measured = Measured("reduce_scatter", reads, device);
    return measured >= 0 ? measured : Measured("all_gather", reads, device);
  }

  // Where devices share processors.
  double SharedSeconds(const ExchangeReads& reads, int device) const {
    CopyWork work;
    if (reads.library_devices > 0 && !reads.combines) work.collective = "all_gather";
    work.combines = reads.combines;
    int kind = 0;
    // Bytes within a device are read and written.
    if (!reads.combines) work.bytes += static_cast<double>(reads.local_bytes[device]) / 2;
    for (const Read& read : reads.reads[device]) {
      kind = std::max(kind, KindBetween(machine_, device, read.source));
      work.bytes += static_cast<double>(read.bytes);
      ++work.messages;
    }
    if (reads.combines) work.bytes *= (work.messages + 1) / std::max(1.0, work.messages);
    return ProcessorSecondsOf(machine_, kind, program_.devices(), work);
  }

  double MeasuredSum(const ExchangeReads& gather, int device) const {
    return Measured("all_reduce", gather, device);
  }

  double Measured(absl::string_view collective, const ExchangeReads& reads, int device) const {
    // The outermost links that the group uses are its bottleneck.
    int kind = 0;
    for (const Read& read : reads.reads[device])
      kind = std::max(kind, KindBetween(machine_, device, read.source));
    return MeasuredSeconds(machine_.links[kind], collective, reads.library_devices,
                           policy_.one_process, static_cast<double>(reads.library_bytes))
        .value_or(-1);
  }

  const LoadedProgram& program_;
  const Machine& machine_;
  const RunPolicy& policy_;
  int first_instruction_ = 0;         // of the entry
  std::vector<bool> on_chip_, kept_;  // [buffer]; empty: none
  std::map<std::string, int> kernel_rows_, exchange_rows_;
  std::vector<KernelTimes> kernels_;      // [row]
  std::vector<ExchangeReads> exchanges_;  // [row]
  std::vector<SumPart> sum_parts_;        // [row]
  std::vector<int> first_;                // [class]: its first device
  StepList list_;
};

}  // namespace

StepList MakeSteps(const LoadedProgram& program, int entry, const Machine& machine,
                   const RunPolicy& policy, bool classes) {
  return Maker(program, machine, policy).Make(entry, classes);
}

}  // namespace yuba::runtime
