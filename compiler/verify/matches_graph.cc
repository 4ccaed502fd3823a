#include "compiler/verify/matches_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/spmd/short_sums.h"
#include "compiler/spmd/tables.h"
#include "compiler/verify/box_union.h"
#include "compiler/verify/interleaving.h"
#include "compiler/verify/unfold.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/known_definitions.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/boxes.h"
#include "runtime/program/entries.h"
#include "runtime/program/enums.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {
namespace {

class Reader {
 public:
  Reader(const Graph& graph, const program::Program& program)
      : graph_(graph), program_(program), mesh_(MeshOf(program)) {}

  absl::Status Check() {
    const std::vector<program::EntryRange> entries = program::EntriesOf(program_);
    YUBA_RETURN_IF_ERROR(CheckEntryNames(entries));
    for (entry_ = 0; entry_ < static_cast<int>(entries.size()); ++entry_) {
      const absl::Status checked = CheckEntry(entries[entry_]);
      if (checked.ok()) continue;
      return entries.size() == 1 ? checked : Annotate(checked, "entry " + entries[entry_].name);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckEntryNames(const std::vector<program::EntryRange>& entries) const {
    bool same = entries.size() == graph_.entries.size();
    for (size_t e = 0; same && e < entries.size(); ++e) {
      same = entries[e].name == graph_.entries[e].name;
    }
    return same ? absl::OkStatus() : ProofError("the program has other entries than the graph");
  }

  absl::Status CheckEntry(const program::EntryRange& entry) {
    holds_.assign(program_.buffers_size(), Value());
    YUBA_RETURN_IF_ERROR(CheckPorts());
    for (int i = entry.begin; i < entry.end; ++i) {
      const program::Instruction& instruction = program_.instructions(i);
      if (instruction.has_kernel()) {
        YUBA_RETURN_IF_ERROR(Annotate(CheckKernel(instruction.kernel()),
                                      absl::StrCat("kernel ", instruction.kernel().node(0))));
      } else {
        const program::Exchange& exchange = instruction.exchange();
        YUBA_RETURN_IF_ERROR(
            Annotate(Write(exchange.destination(), holds_[exchange.source()]),
                     absl::StrCat("exchange of ", exchange.tensor(), " for ", exchange.node())));
      }
    }
    SkipCopies();
    if (next_ != NodesOf(graph_, entry_).end) {
      return ProofError("nothing computes ", graph_.nodes[next_].name);
    }
    YUBA_RETURN_IF_ERROR(CheckCarried());
    return CheckOutputs();
  }

  // A value that a buffer may hold: a tensor, of a carried one (graph.h) what it was before the
  // step or what it is next.
  struct Value {
    TensorId tensor = -1;
    bool next = false;
    bool operator==(const Value& o) const { return tensor == o.tensor && next == o.next; }
  };

  // The value that `reader` reads as `tensor`, through copies.
  Value ReadAs(TensorId tensor, NodeId reader) const {
    while (graph_.tensors[tensor].kind == TensorKind::kCopy) {
      reader = graph_.tensors[tensor].producer;
      tensor = graph_.nodes[reader].operands[0];
    }
    return {tensor, IsCarried(graph_.tensors[tensor]) && ProducerFor(graph_, tensor, reader) >= 0};
  }
  // What it is at the end of the entry.
  Value Final(TensorId tensor) const {
    return {tensor, IsCarried(graph_.tensors[tensor]) && IsComputedHere(tensor)};
  }
  bool IsComputedHere(TensorId tensor) const {
    const std::vector<NodeId>& producers = graph_.tensors[tensor].producers;
    return std::any_of(producers.begin(), producers.end(),
                       [&](NodeId producer) { return graph_.nodes[producer].entry == entry_; });
  }

  absl::Status CheckPorts() {
    if (program_.inputs_size() != static_cast<int>(graph_.inputs.size()) ||
        program_.outputs_size() != static_cast<int>(graph_.outputs.size())) {
      return ProofError("the program has other inputs or outputs than the graph");
    }
    for (int i = 0; i < program_.inputs_size(); ++i) {
      holds_[program_.inputs(i).buffer()] = {graph_.inputs[i], false};
    }
    int next = 0;
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors.size()); ++id) {
      if (!HasInitialValue(graph_.tensors[id].kind)) continue;
      if (next == program_.parameters_size() ||
          program_.parameters(next).port().name() != graph_.tensors[id].name) {
        return ProofError("the program has no parameter ", graph_.tensors[id].name);
      }
      holds_[program_.parameters(next++).port().buffer()] = {id, false};
    }
    return absl::OkStatus();
  }

  // The buffer with which a carried tensor begins a step has its next value at the end.
  absl::Status CheckCarried() const {
    for (const program::Initializer& stored : program_.parameters()) {
      const int buffer = stored.port().buffer();
      if (Holds(buffer, Final(holds_[buffer].tensor))) continue;
      return ProofError("the next value of ", stored.port().name(),
                        " is not in its place at the end of the step");
    }
    return absl::OkStatus();
  }

  absl::Status CheckOutputs() const {
    for (int i = 0; i < program_.outputs_size(); ++i) {
      const program::Port& port = program_.outputs(i);
      const bool of_entry =
          IsStored(graph_.tensors[graph_.outputs[i]].kind) || IsComputedHere(graph_.outputs[i]);
      if (of_entry && !Holds(port.buffer(), Final(graph_.outputs[i]))) {
        return ProofError("output ", port.name(), " is not ",
                          graph_.tensors[graph_.outputs[i]].name);
      }
    }
    return absl::OkStatus();
  }

  // The buffer holds `value` from now on. The cover counts what is written to a buffer, and not of
  // which value it is: so a buffer holds one value, and that of a carried tensor gets the next one
  // and nothing else. Elsewhere the value before the step could pass for a part of the next one.
  absl::Status Write(int buffer, const Value& value) {
    Value& held = holds_[buffer];
    const bool stored = program_.buffers(buffer).initialized();
    const bool fits =
        stored ? held.tensor == value.tensor && value.next : held.tensor < 0 || held == value;
    if (!fits && value.tensor >= 0 && ElementCount(graph_.tensors[value.tensor].type) > 0) {
      return ProofError("it writes ", graph_.tensors[value.tensor].name, " to buffer ",
                        program_.buffers(buffer).name(), ", where ",
                        stored ? "only the next value of a state belongs" : "another value is");
    }
    held = value;
    return absl::OkStatus();
  }

  // A tensor without elements needs no exchange, so any buffer will do for it.
  bool Holds(int buffer, const Value& value) const {
    const Value& held = holds_[buffer];
    return held == value || ElementCount(graph_.tensors[value.tensor].type) == 0;
  }

  // No kernel computes a copy: what reads a copy reads its tensor.
  void SkipCopies() {
    const int64_t end = NodesOf(graph_, entry_).end;
    while (next_ < end && IsCopy(graph_, graph_.nodes[next_])) ++next_;
  }

  absl::Status CheckKernel(const program::Kernel& kernel) {
    SkipCopies();
    if (next_ == NodesOf(graph_, entry_).end) return ProofError("the graph has no such node");
    const NodeId id = next_++;
    const Node& node = graph_.nodes[id];
    if (kernel.node(0) != node.name) return ProofError("the graph's next node is ", node.name);
    const program::Function& function = program_.functions(kernel.function());
    const Definition definition = ComputedBy(function, 0, *node.definition);
    YUBA_RETURN_IF_ERROR(CheckFunction(definition, function));
    if (kernel.operands_size() != static_cast<int>(node.operands.size())) {
      return ProofError("it reads ", kernel.operands_size(), " tensors instead of ",
                        node.operands.size());
    }
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const int buffer = kernel.operands(static_cast<int>(o)).buffer();
      if (kernel.operands(static_cast<int>(o)).partial() != ReadsPartials(definition, o)) {
        return ProofError("operand ", o, " is read as what it is not: a term, or the whole");
      }
      const Value value = ReadAs(node.operands[o], id);
      if (!Holds(buffer, value)) {
        return ProofError("operand ", o, " is buffer ", program_.buffers(buffer).name(),
                          ", which does not hold ", value.next ? "the next value of " : "",
                          graph_.tensors[node.operands[o]].name);
      }
      if (buffer == kernel.results(0).buffer() && !MayOverwrite(*node.definition, o)) {
        return ProofError("it writes over elements of operand ", o, " that it has yet to read");
      }
    }
    YUBA_RETURN_IF_ERROR(Write(kernel.results(0).buffer(), Final(node.result)));
    const std::string boxes = BoxesOf(node, kernel);
    if (checked_.count(boxes) > 0) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(CheckBoxes(definition, kernel));
    checked_.insert(boxes);
    return absl::OkStatus();
  }

  static absl::Status CheckFunction(const Definition& definition,
                                    const program::Function& function) {
    const auto other = [](const char* what) {
      return ProofError("its function has other ", what, " than its definition");
    };
    if (function.indices_size() != static_cast<int>(definition.indices.size())) {
      return other("indices");
    }
    for (int i = 0; i < function.indices_size(); ++i) {
      const program::FunctionIndex& index = function.indices(i);
      if (index.extent() != definition.indices[i].extent ||
          index.reduction() != definition.indices[i].reduction ||
          index.groups() !=
              (!definition.partial_operands.empty() && i + 1 == function.indices_size())) {
        return other("indices");
      }
    }
    if (function.definitions(0).reducer() != ToProto(definition.reducer)) {
      return other("reducers");
    }
    return absl::OkStatus();
  }

  // All that CheckBoxes looks at.
  std::string BoxesOf(const Node& node, const program::Kernel& kernel) {
    program::Kernel boxes;
    boxes.set_function(kernel.function());
    *boxes.mutable_indices() = kernel.indices();
    for (const program::Access& operand : kernel.operands()) {
      *boxes.add_operands()->mutable_box() = operand.box();
    }
    *boxes.add_results()->mutable_box() = kernel.results(0).box();
    return absl::StrCat(definitions_.NumberOf(*node.definition), ":", boxes.SerializeAsString());
  }

  // The boxes that the definition reaches on each device against those that the program says.
  absl::Status CheckBoxes(const Definition& definition, const program::Kernel& kernel) const {
    program::Box indices;
    *indices.mutable_dims() = kernel.indices();
    const std::vector<Box> ranges = BoxesOn(mesh_, indices);
    std::vector<std::vector<Box>> reads;  // [operand][device]: as the program says
    for (const program::Access& operand : kernel.operands()) {
      reads.push_back(BoxesOn(mesh_, operand.box()));
    }
    const std::vector<Box> writes = BoxesOn(mesh_, kernel.results(0).box());
    std::map<Box, Boxes, BoxLess> analyzed;  // by ranges: many devices may compute one part
    for (int device = 0; device < mesh_.devices(); ++device) {
      const auto [entry, is_new] = analyzed.try_emplace(ranges[device]);
      if (is_new) {
        YUBA_RETURN_IF_ERROR(CheckRanges(definition, ranges[device], device));
        entry->second = AnalyzeBoxes(definition, ranges[device]);
      }
      const Boxes& boxes = entry->second;
      for (size_t o = 0; o < reads.size(); ++o) {
        if (Contains(reads[o][device], boxes.reads[o])) continue;
        return ProofError("device ", device, " reads ", ToString(boxes.reads[o]), " of operand ", o,
                          ", more than the program says: ", ToString(reads[o][device]));
      }
      if (SameSet(writes[device], boxes.writes)) continue;
      return ProofError("device ", device, " writes ", ToString(boxes.writes),
                        ", the program says ", ToString(writes[device]));
    }
    return absl::OkStatus();
  }

  // The analysis must only meet numbers within the extents: larger ones could overflow.
  static absl::Status CheckRanges(const Definition& definition, const Box& ranges, int device) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Interval whole = {0, definition.indices[i].extent};
      if (IsOpaque(definition) && !MayBeCut(definition, static_cast<int>(i)) &&
          ranges[i] != whole) {
        return ProofError("device ", device, " runs index ", definition.indices[i].name, " over ",
                          ToString(ranges[i]), ", which an opaque function sees whole");
      }
      if (whole.Contains(ranges[i])) continue;
      return ProofError("device ", device, " runs index ", definition.indices[i].name, " over ",
                        ToString(ranges[i]));
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const program::Program& program_;
  const Mesh mesh_;
  std::vector<Value> holds_;  // [buffer]: of which it has elements; tensor -1: none yet
  NodeId next_ = 0;           // the node that the next kernel must be
  int entry_ = 0;             // the one that is checked
  KnownDefinitions definitions_;
  std::set<std::string> checked_;  // kernels whose boxes are right, by BoxesOf
};

// The definitions of each cluster are the nodes of the graph in order, as was checked by then.
absl::Status CheckInterleavings(const Graph& graph, const program::Program& program) {
  NodeId next = 0;
  Interleavings interleavings(program);
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    std::vector<const Definition*> definitions;
    while (static_cast<int>(definitions.size()) < kernel.node_size()) {
      const Node& node = graph.nodes[next++];
      if (!IsCopy(graph, node)) definitions.push_back(node.definition.get());
    }
    YUBA_RETURN_IF_ERROR(Annotate(interleavings.Check(kernel, definitions),
                                  absl::StrCat("kernel ", program::NodeNames(kernel))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMatchesGraph(const Graph& graph, const program::Program& program) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(program));
  return CheckMatchesGraph(graph, program, Unfolded(program));
}

absl::Status CheckMatchesGraph(const Graph& graph, const program::Program& program,
                               const Unfolded& unfolded) {
  const absl::optional<ShortSums> sums = WithShortSums(graph);
  const Graph& computed = sums.has_value() ? sums->graph : graph;
  YUBA_RETURN_IF_ERROR(Reader(computed, unfolded.program()).Check());
  return CheckInterleavings(computed, program);
}

}  // namespace yuba::compiler
