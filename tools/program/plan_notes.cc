#include "tools/program/plan_notes.h"

#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/memory/memory_use.h"
#include "compiler/model.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/structure.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/program.pb.h"
#include "search/model/recursion.h"
#include "search/plan/plan.h"
#include "tools/program/build_program.h"
#include "tools/program/predict_plan.h"

namespace yuba::tools {
namespace {

std::vector<search::DeviceMemory> MemoryNotes(const program::Program& program) {
  const int64_t arena = compiler::MeasureMemory(program).arena;
  std::vector<search::DeviceMemory> notes;
  for (const compiler::DeviceUse& use : compiler::MeasureDevices(program)) {
    search::DeviceMemory memory;
    memory.peak = use.peak;
    memory.weights = use.stored;
    memory.activations = use.activations;
    memory.buffers = use.buffers;
    memory.at = use.at;
    memory.arena = arena;
    notes.push_back(memory);
  }
  return notes;
}

// The plan's program without code. On a machine it has the kernels of that machine, and what it
// takes there goes into the notes, or why that is not known.
absl::StatusOr<program::Program> PredictedProgram(const compiler::Model& model,
                                                  const search::Plan& plan,
                                                  const kernels::KernelChoice& choice, bool verify,
                                                  search::PlanNotes& notes) {
  const auto& machine = plan.space.objective.machine();
  if (machine == nullptr) return BuildWithoutKernels(model, plan, choice, verify);
  absl::StatusOr<program::Program> program = BuildProgram(model, plan, choice, verify);
  if (absl::IsInternal(program.status())) return program;
  const absl::StatusOr<std::vector<search::PredictedRun>> runs =
      program.ok() ? PredictRuns(*program, *machine) : program.status();
  if (runs.ok()) {
    notes.predicted = *runs;
  } else {
    notes.unpredicted = std::string(runs.status().message());
  }
  return program.ok() ? std::move(program) : BuildWithoutKernels(model, plan, choice, verify);
}

// Nodes whose kernels a call of attention may stand for. kernels: [node] what computes it else.
void AddCallsOfAttention(const program::Program& program, const kernels::KernelChoice& choice,
                         const Graph& graph, std::vector<std::string>& kernels) {
  std::set<std::string> stood_for;
  for (const program::Attention& attention : program.attention()) {
    for (const auto& [begin, end] : program::PartsOf(attention)) {
      for (int i = begin; i < end; ++i) {
        const auto& nodes = program.instructions(i).kernel().node();
        stood_for.insert(nodes.begin(), nodes.end());
      }
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (stood_for.count(graph.nodes[n].name) > 0)
      kernels[n] =
          absl::StrCat(choice.target.facts->libraries.attention, " attention or ", kernels[n]);
  }
}

}  // namespace

absl::Status AddProgramNotes(const compiler::Model& model, const search::Plan& plan, bool verify,
                             search::PlanNotes& notes) {
  const kernels::KernelChoice choice = KernelsWithoutCode(plan.space.objective.machine().get());
  YUBA_ASSIGN_OR_RETURN(const program::Program program,
                        PredictedProgram(model, plan, choice, verify, notes));
  if (plan.space.nesting == search::Nesting::kLevel && plan.mesh.axes.size() > 1) {
    notes.levels = search::BytesByLevel(model.graph, plan);
  }
  notes.memory = MemoryNotes(program);
  for (const Node& node : model.graph.nodes) {
    notes.kernels.push_back(
        IsCopy(model.graph, node) ? "none" : kernels::KernelKind(*node.definition, choice));
  }
  // A node that shares the kernel of an earlier one says whose it is.
  std::map<std::string, std::string> shares;
  std::set<std::string> in_call;  // of the library that the first one calls
  for (const auto& instruction : program.instructions()) {
    const program::Kernel& kernel = instruction.kernel();
    for (int n = 1; n < kernel.node_size(); ++n) {
      shares[kernel.node(n)] = kernel.node(0);
      if (program.functions(kernel.function()).has_library()) in_call.insert(kernel.node(n));
    }
  }
  std::map<std::string, std::string> kinds;
  for (size_t n = 0; n < model.graph.nodes.size(); ++n) {
    kinds.emplace(model.graph.nodes[n].name, notes.kernels[n]);
    const auto shared = shares.find(model.graph.nodes[n].name);
    if (shared == shares.end()) continue;
    if (in_call.count(shared->first) > 0) notes.kernels[n] = kinds[shared->second];
    notes.kernels[n] += " with " + shared->second;
  }
  AddCallsOfAttention(program, choice, model.graph, notes.kernels);
  // Exchanges of the program and moves of the plan are matched by node, tensor and direction.
  absl::flat_hash_map<std::string, std::string> collectives;
  for (const auto& instruction : program.instructions()) {
    if (!instruction.has_exchange()) continue;
    const auto& exchange = instruction.exchange();
    const Collective* collective = CollectiveAt(exchange.collective());
    if (collective == nullptr) continue;
    collectives[exchange.node() + "\n" + exchange.tensor() + (exchange.reduce() ? "\nd" : "\nf")] =
        collective->name;
  }
  for (const search::Move& move : search::MovesOf(model.graph, plan)) {
    const std::string key = model.graph.nodes[move.node].name + "\n" +
                            model.graph.tensors[move.tensor].name +
                            (move.kind == search::MoveKind::kReduce ? "\nd" : "\nf");
    const auto it = collectives.find(key);
    notes.collectives.push_back(it == collectives.end() ? "exchange" : it->second);
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
