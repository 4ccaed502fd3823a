#include "tests/compiler/support/emulator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/spmd/short_sums.h"
#include "compiler/spmd/tables.h"
#include "opsemantics/base/transfers.h"
#include "runtime/program/enums.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

// What one device holds of one buffer: a value of the whole tensor, of which only some elements are
// there.
struct Memory {
  Box box;
  TensorValue value;
  std::vector<char> there;
};

int64_t Offset(const std::vector<int64_t>& dims, const std::vector<int64_t>& point) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset = offset * dims[d] + point[d];
  return offset;
}

class Machine {
 public:
  Machine(const program::Program& program, const Graph& graph)
      : program_(program),
        graph_(graph),
        arithmetic_(program.hash_arithmetic() ? Arithmetic::kHash : Arithmetic::kFloat) {
    for (const program::MeshAxis& axis : program.mesh()) devices_ *= axis.size();
    for (const program::Buffer& buffer : program_.buffers()) {
      memory_.emplace_back(devices_);
      for (int device = 0; device < devices_; ++device) {
        memory_.back()[device] = Empty(buffer, device);
      }
    }
  }

  void Load(int buffer, const TensorValue& value) {
    for (Memory& memory : memory_[buffer]) {
      ForEachPoint(memory.box, [&](const std::vector<int64_t>& point) {
        const int64_t offset = Offset(value.type.dims, point);
        memory.value.elements[offset] = value.elements[offset];
        memory.there[offset] = true;
      });
    }
  }

  // One step. What another step left in buffers that nothing keeps is not there any more.
  void Run() {
    for (int id = 0; id < program_.buffers_size(); ++id) {
      for (Memory& memory : memory_[id]) {
        if (!program_.buffers(id).initialized()) memory.there.assign(memory.there.size(), false);
      }
    }
    NodeId next = 0;
    for (const program::Instruction& instruction : program_.instructions()) {
      if (instruction.has_exchange()) RunExchange(instruction.exchange());
      if (!instruction.has_kernel()) continue;
      RunKernel(instruction.kernel(), &graph_.nodes[next]);
      next += instruction.kernel().node_size();
    }
  }

  Emulation Finish() {
    for (const program::Port& port : program_.outputs()) {
      result_.outputs.push_back(memory_[port.buffer()][0].value);
      for (const Memory& memory : memory_[port.buffer()]) Collect(port, memory);
    }
    return std::move(result_);
  }

 private:
  // Of a buffer or an internal tensor.
  template <typename T>
  Memory Empty(const T& tensor, int device) const {
    Memory memory;
    memory.box = BoxOn(tensor.box(), device);
    memory.value.type.type = FromProto(tensor.type());
    memory.value.type.dims.assign(tensor.dims().begin(), tensor.dims().end());
    memory.value.elements.resize(ElementCount(memory.value.type));
    memory.there.assign(memory.value.elements.size(), false);
    return memory;
  }
  int64_t Value(const program::Bound& bound, int device) const {
    int64_t row = 0;
    for (int axis : bound.axes()) {
      int stride = 1;
      for (int a = axis + 1; a < program_.mesh_size(); ++a) stride *= program_.mesh(a).size();
      row = row * program_.mesh(axis).size() + device / stride % program_.mesh(axis).size();
    }
    return bound.values(row);
  }
  Interval RangeOn(const program::Range& range, int device) const {
    return {Value(range.begin(), device), Value(range.end(), device)};
  }
  Box BoxOn(const program::Box& box, int device) const {
    Box result;
    for (const program::Range& range : box.dims()) result.push_back(RangeOn(range, device));
    return result;
  }
  std::vector<Box> Boxes(const program::Box& box) const {
    std::vector<Box> boxes;
    for (int device = 0; device < devices_; ++device) boxes.push_back(BoxOn(box, device));
    return boxes;
  }
  int64_t Bytes(const TensorType& type) const {
    return arithmetic_ == Arithmetic::kHash && IsFloat(type.type) ? 8 : ByteSize(type.type);
  }
  template <typename... Args>
  void Fault(const Args&... args) {
    if (result_.fault.empty()) result_.fault = absl::StrCat(args...);
  }

  // As a kernel runs: one value of the shared indices after the other, all definitions at each.
  // Sections, whose order must not matter, come in another one than in the program.
  void RunKernel(const program::Kernel& kernel, const Node* nodes) {
    const program::Function& function = program_.functions(kernel.function());
    for (int device = 0; device < devices_; ++device) {
      std::vector<Memory> internals;
      for (const program::Internal& internal : kernel.internals()) {
        internals.push_back(Empty(internal, device));
      }
      Box ranges;
      for (const program::Range& range : kernel.indices()) ranges.push_back(RangeOn(range, device));
      std::vector<program::Section> sections = program::SectionsOf(function);
      std::reverse(sections.begin(), sections.end());
      for (const program::Section& section : sections) {
        const auto& indices = function.definitions(section.begin).indices();
        const auto first = ranges.begin() + (section.shared > 0 ? indices[0] : 0);
        const Box shared(first, first + section.shared);
        ForEachPoint(shared, [&](const std::vector<int64_t>& values) {
          for (size_t i = 0; i < values.size(); ++i) first[i] = {values[i], values[i] + 1};
          for (int d = section.begin; d < section.end; ++d) {
            Compute(kernel, d, nodes[d], ranges, device, internals);
          }
        });
      }
    }
  }

  // Definition `d` of a kernel, over the ranges of the kernel's indices.
  void Compute(const program::Kernel& kernel, int d, const Node& node, const Box& kernel_ranges,
               int device, std::vector<Memory>& internals) {
    const program::Function& function = program_.functions(kernel.function());
    const program::FunctionDefinition& place = function.definitions(d);
    const auto memory_of = [&](const program::KernelTensor& tensor) -> Memory& {
      if (tensor.has_internal()) return internals[tensor.internal()];
      const program::Access& access = tensor.has_operand() ? kernel.operands(tensor.operand())
                                                           : kernel.results(tensor.result());
      return memory_[access.buffer()][device];
    };
    Memory& result = memory_of(place.computes());
    Definition definition = ComputedBy(function, d, *node.definition);
    definition.result.type = result.value.type.type;
    std::vector<Interval> ranges;
    for (const int index : place.indices()) ranges.push_back(kernel_ranges[index]);
    std::vector<const TensorValue*> operands;
    std::vector<const Memory*> memories;
    for (const program::KernelTensor& operand : place.operands()) {
      memories.push_back(&memory_of(operand));
      operands.push_back(&memories.back()->value);
    }
    Interpret(definition, ranges, operands, arithmetic_, result.value,
              [&](int operand, const std::vector<int64_t>& position) {
                const Memory& memory = *memories[operand];
                if (memory.there[Offset(memory.value.type.dims, position)]) return;
                Fault(node.name, " reads what is not there, on device ", device);
              });
    Box written =
        BoxOn(place.computes().has_internal() ? kernel.internals(place.computes().internal()).box()
                                              : kernel.results(place.computes().result()).box(),
              device);
    for (size_t dim = 0; dim < definition.left.size() && function.definitions_size() > 1; ++dim) {
      const int index = definition.left[dim].BareIndex();
      if (index >= 0) written[dim] = Intersect(written[dim], ranges[index]);
    }
    ForEachPoint(written, [&](const std::vector<int64_t>& point) {
      result.there[Offset(result.value.type.dims, point)] = true;
    });
  }

  // Copies the elements of `box`, and whether they are there.
  void Move(const Memory& source, const Box& box, Memory& destination) {
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      const int64_t offset = Offset(source.value.type.dims, point);
      if (!source.there[offset]) Fault("moves what is not there");
      destination.value.elements[offset] = source.value.elements[offset];
      destination.there[offset] = true;
    });
  }

  void RunExchange(const program::Exchange& exchange) {
    const std::vector<Memory> sources = memory_[exchange.source()];  // before anything is written
    std::vector<Memory>& destinations = memory_[exchange.destination()];
    Producers producers;
    producers.writes = Boxes(exchange.from());
    producers.partials = exchange.partials();
    for (int device = 0; device < devices_; ++device) {
      producers.partial.push_back(exchange.partials() > 1 ? Value(exchange.partial(), device) : 0);
    }
    std::vector<Box> own = Boxes(exchange.to());
    if (exchange.has_group()) {
      std::vector<int> groups;
      for (int device = 0; device < devices_; ++device) {
        groups.push_back(static_cast<int>(Value(exchange.group(), device)));
      }
      producers.writes = BoxesInGroups(producers.writes, groups);
      own = BoxesInGroups(own, groups);
    }
    if (exchange.reduce() && (exchange.partials() > 1 || exchange.has_group())) {
      Combine(exchange, sources, producers, own);
      return;
    }
    for (Transfer transfer : GatherTransfers(
             exchange.from_first_only() ? FirstOwnerBoxes(producers.writes) : producers.writes,
             own)) {
      if (exchange.has_group()) transfer.box.erase(transfer.box.begin());
      Move(sources[transfer.source], transfer.box, destinations[transfer.destination]);
      Count(transfer, sources[0].value.type);
    }
  }

  void Combine(const program::Exchange& exchange, const std::vector<Memory>& sources,
               const Producers& producers, const std::vector<Box>& own) {
    const Reducer reducer = FromProto(exchange.reducer());
    const std::vector<Box> first_owners = FirstOwnerBoxes(own);
    std::vector<Memory> totals(sources);
    for (int device = 0; device < devices_; ++device) {
      if (first_owners[device] != own[device]) continue;
      for (Scalar& element : totals[device].value.elements) {
        element = Identity(reducer, totals[device].value.type.type, arithmetic_);
      }
      std::fill(totals[device].there.begin(), totals[device].there.end(), true);
    }
    for (const ReduceTransfer& reduction : ReduceTransfers(producers, own)) {
      Transfer transfer = reduction.transfer;
      if (exchange.has_group()) transfer.box.erase(transfer.box.begin());
      Memory partial = sources[transfer.source];
      Move(sources[transfer.source], transfer.box, partial);
      yuba::Combine(reducer, arithmetic_, partial.value, transfer.box,
                    totals[transfer.destination].value);
      Count(transfer, partial.value.type);
    }
    for (int device = 0; device < devices_; ++device) {
      if (first_owners[device] != own[device]) continue;
      Move(totals[device], BoxOn(exchange.to(), device), memory_[exchange.destination()][device]);
    }
  }

  void Count(const Transfer& transfer, const TensorType& type) {
    if (transfer.source == transfer.destination) return;
    result_.moved_bytes += Volume(transfer.box) * Bytes(type);
  }

  void Collect(const program::Port& port, const Memory& memory) {
    TensorValue& output = result_.outputs.back();
    ForEachPoint(memory.box, [&](const std::vector<int64_t>& point) {
      const int64_t offset = Offset(output.type.dims, point);
      if (!memory.there[offset]) Fault("output ", port.name(), " is not written everywhere");
      output.elements[offset] = memory.value.elements[offset];
    });
  }

  const program::Program& program_;
  const Graph& graph_;
  const Arithmetic arithmetic_;
  int devices_ = 1;
  std::vector<std::vector<Memory>> memory_;  // [buffer][device]
  Emulation result_;
};

}  // namespace

Emulation Emulate(const program::Program& program, const Graph& graph,
                  const std::vector<TensorValue>& values, int steps) {
  const absl::optional<ShortSums> sums = WithShortSums(graph);
  Machine machine(program, sums.has_value() ? sums->graph : graph);
  for (int i = 0; i < program.inputs_size(); ++i) {
    machine.Load(program.inputs(i).buffer(), values[graph.inputs[i]]);
  }
  int parameter = 0;
  for (size_t id = 0; id < values.size(); ++id) {
    if (!HasInitialValue(graph.tensors[id].kind)) continue;
    machine.Load(program.parameters(parameter++).port().buffer(), values[id]);
  }
  for (int step = 0; step < steps; ++step) machine.Run();
  return machine.Finish();
}

}  // namespace yuba::compiler
