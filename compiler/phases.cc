#include "compiler/phases.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/cluster/cluster.h"
#include "compiler/dump/state.h"
#include "compiler/front_end.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/layout/channels_last.h"
#include "compiler/make_program.h"
#include "compiler/memory/memory.h"
#include "compiler/order/order.h"
#include "compiler/search_model.h"
#include "compiler/spmd/recognise.h"
#include "compiler/streams/streams.h"
#include "compiler/verify/check_collectives.h"
#include "compiler/verify/check_memory.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "compiler/verify/unfold.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "runtime/program/check_streams.h"
#include "runtime/program/program_file.h"
#include "runtime/program/well_formed.h"
#include "search/check/check.h"

namespace yuba::compiler {
namespace {

absl::Status Order(Compilation& c) { return OrderModel(c.model); }

absl::Status VerifyOrder(Compilation& c) {
  CheckGraph(c.model.graph);
  return CheckOrderOfEntries(c.model.graph);
}

absl::Status FindClusters(Compilation& c) {
  ClusterModel(c.model);
  return absl::OkStatus();
}

absl::Status VerifyClusters(Compilation& c) {
  return CheckClusters(c.model.graph, c.model.clusters);
}

// Of a time limit so much is the search's: the rest is for the replay of its bound.
constexpr double kSearchShare = 0.85;

// Says so `seconds` from now (0: never) or where somebody asks for the end.
search::Stop ReplayStop(double seconds, const search::Stop& asked) {
  const auto start = std::chrono::steady_clock::now();
  return [=] { return (asked && asked()) || (seconds > 0 && SecondsSince(start) > seconds); };
}

absl::Status SearchPlan(Compilation& c) {
  if (c.request.plan.has_value()) return absl::OkStatus();
  search::SearchOptions options = c.request.search;
  c.stop_replay = ReplayStop(options.time_limit, options.asked);
  options.time_limit *= kSearchShare;
  const Clock::time_point start = Clock::now();
  YUBA_ASSIGN_OR_RETURN(c.plan, SearchModel(options, c.model, c.request.step_of));
  c.search_seconds = SecondsSince(start);
  return absl::OkStatus();
}

// A plan that was given may be anything: that it is none of this graph, illegal or moves other
// bytes than it says is the user's error, and its bound is as little believed as before.
absl::Status Attach(Compilation& c) {
  if (!c.request.plan.has_value()) return absl::OkStatus();
  const search::PlanFile& plan = *c.request.plan;
  c.model.graph = search::SharedGraph(c.model.graph, plan);
  YUBA_ASSIGN_OR_RETURN(c.plan, search::AttachPlan(c.model.graph, plan, c.request.expected));
  return search::CheckLegal(c.model.graph, c.plan);
}

// A bound that could not be replayed in time stays in the plan, which says so.
absl::Status VerifyPlan(Compilation& c) {
  const absl::Status status = search::CheckPlan(c.model.graph, c.plan, c.stop_replay);
  c.plan.replayed = status.ok();
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

absl::Status VerifySearch(Compilation& c) {
  CheckGraph(c.model.graph);
  return c.request.plan.has_value() ? absl::OkStatus() : VerifyPlan(c);
}

absl::Status VerifyAttach(Compilation& c) {
  CheckGraph(c.model.graph);
  return VerifyClusters(c);
}

// The types of operands whose convolutions ask for channels innermost in memory.
std::set<ElementType> ChannelsLastTypes(const kernels::KernelChoice& choice) {
  const kernels::TargetLibraries& libraries = choice.target.facts->libraries;
  std::set<ElementType> types;
  if (choice.order == kernels::MemoryOrder::kChannelsLast)
    types = {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  if (choice.order != kernels::MemoryOrder::kAuto || !choice.library || !libraries.channels_last ||
      choice.target.arithmetic == Arithmetic::kHash)
    return types;
  types = {ElementType::kF16, ElementType::kBF16};
  if (choice.tf32) types.insert(ElementType::kF32);
  return types;
}

// What reorders a tensor needs memory for two of it: where there is a limit, the program must keep
// it, and is row-major otherwise.
absl::Status LayOut(Compilation& c) {
  YUBA_CHECK(c.plan.tensors.size() == c.model.graph.tensors.size());
  YUBA_CHECK(c.plan.nodes.size() == c.model.graph.nodes.size());
  const std::set<ElementType> types = ChannelsLastTypes(c.request.kernels);
  Model model = c.model;
  search::Plan plan = c.plan;
  Layouts layouts = PutChannelsLast(types, model, plan);
  const int64_t limit = plan.space.memory;
  if (layouts.empty() || (limit > 0 && ArenaBytes(model.graph, plan) > limit))
    return absl::OkStatus();
  c.model = std::move(model);
  c.plan = std::move(plan);
  c.layouts = std::move(layouts);
  return absl::OkStatus();
}

// Layouts move nothing between devices.
absl::Status VerifyLayouts(Compilation& c) {
  if (c.layouts.empty()) return absl::OkStatus();
  CheckGraph(c.model.graph);
  YUBA_RETURN_IF_ERROR(VerifyClusters(c));
  const int64_t bytes = search::CostOf(c.model.graph, c.plan).bytes();
  if (bytes == c.plan.cost.bytes()) return absl::OkStatus();
  return ProofError("with these layouts ", bytes, " bytes would move instead of ",
                    c.plan.cost.bytes());
}

absl::Status VerifySpmd(Compilation& c) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(c.program));
  const Unfolded unfolded(c.program);
  YUBA_RETURN_IF_ERROR(CheckMatchesGraph(c.model.graph, c.program, unfolded));
  return CheckCoverage(unfolded);
}

absl::Status Recognise(Compilation& c) {
  RecogniseCollectives(c.program);
  return absl::OkStatus();
}

absl::Status VerifyCollectives(Compilation& c) { return CheckCollectives(c.program); }

absl::Status Memory(Compilation& c) {
  const int64_t limit = c.plan.space.memory;
  PlanMemory(c.program, limit);
  const int64_t arena = c.program.arena_size();
  // A limit is about the model's own elements, not about the wider ones of hash arithmetic.
  const bool other_sizes = c.program.hash_arithmetic();
  if (limit == 0 || arena <= limit || other_sizes) return absl::OkStatus();
  return UserError("the plan's space allows ", limit, " bytes a device (space.memory), but its ",
                   "program allocates ", arena,
                   ": plan again with yuba partition --memory, or without a limit");
}

absl::Status VerifyMemory(Compilation& c) { return CheckMemory(c.program); }

absl::Status Kernels(Compilation& c) {
  return kernels::AddKernels(c.model, c.request.kernels, c.program);
}

absl::Status VerifyKernels(Compilation& c) {
  std::set<std::string> symbols;
  for (const program::Function& function : c.program.functions()) {
    const bool generated = !function.symbol().empty();
    if ((function.has_library() || generated) == function.has_opaque() ||
        (generated && !symbols.insert(function.symbol()).second)) {
      return ProofError("neither one implementation nor a library call with code beside it for: ",
                        function.definitions(0).text());
    }
  }
  if (!symbols.empty() && c.program.code().empty() && c.request.kernels.code) {
    return ProofError("there is no code for the generated kernels");
  }
  return absl::OkStatus();
}

// Whose times decide what overlaps, where a plan was made for no machine: nodes of 8 GPUs.
std::string UsualMachineFor(int devices) {
  return absl::StrCat("hgx-h100:", std::max(1, (devices + 7) / 8));
}

absl::Status Overlap(Compilation& c) {
  const kernels::KernelChoice& choice = c.request.kernels;
  if (!choice.target.facts->parallel || !choice.overlap) return absl::OkStatus();
  Machine usual;
  const Machine* machine = c.plan.space.objective.machine().get();
  if (machine == nullptr || machine->devices() < c.plan.mesh.devices()) {
    YUBA_ASSIGN_OR_RETURN(usual, FindMachine(UsualMachineFor(c.plan.mesh.devices())));
    machine = &usual;
  }
  // A limit is about the model's own elements, not about the wider ones of hash arithmetic.
  OverlapExchanges(*machine, c.program.hash_arithmetic() ? 0 : c.plan.space.memory, c.program);
  return absl::OkStatus();
}

absl::Status VerifyStreams(Compilation& c) {
  YUBA_RETURN_IF_ERROR(VerifyMemory(c));
  return program::CheckStreams(c.program);
}

absl::Status Emit(Compilation& c) {
  if (c.request.output_file.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(c.file_bytes, runtime::WriteProgramFile(c.program, c.request.file_values,
                                                                c.request.output_file));
  return absl::OkStatus();
}

absl::Status VerifyNothing(Compilation&) { return absl::OkStatus(); }

constexpr Phase kPhases[] = {
    {"import", "the file becomes a graph of definitions", Import, VerifyImport},
    {"simplify", "literals, views, chains of maps and what no output needs go; canonical order",
     Simplify, VerifySimplify},
    {"train", "gradients and updates are added, where training is asked for", Train, VerifyTrain},
    {"carry", "a state and its next value become one tensor", Carry, VerifyCarry},
    {"order", "the nodes are put into an order that keeps few bytes live", Order, VerifyOrder},
    {"cluster", "nodes that one kernel may compute are marked", FindClusters, VerifyClusters},
    {"search", "each tensor gets its sharding, each node its partition, unless a plan is given",
     SearchPlan, VerifySearch},
    {"attach", "a given plan becomes the plan of this graph", Attach, VerifyAttach},
    {"layouts", "tensors get the order in which their dimensions lie in memory", LayOut,
     VerifyLayouts},
    {"spmd", "graph and plan become buffers, kernels and exchanges", MakeProgram, VerifySpmd},
    {"recognise", "exchanges that equal collectives are marked", Recognise, VerifyCollectives},
    {"memory", "each buffer gets its life and its place in the arena", Memory, VerifyMemory},
    {"kernels", "each function becomes a library call or machine code", Kernels, VerifyKernels},
    {"streams", "exchanges get their place beside the kernels", Overlap, VerifyStreams},
    {"emit", "the program is written", Emit, VerifyNothing},
};

absl::StatusOr<size_t> FindPhase(const std::string& name, size_t if_empty) {
  if (name.empty()) return if_empty;
  for (size_t i = 0; i < Phases().size(); ++i) {
    if (name == Phases()[i].name) return i;
  }
  return UserError("there is no phase ", name, "; there are ",
                   absl::StrJoin(Phases(), ", ", [](std::string* out, const Phase& phase) {
                     out->append(phase.name);
                   }));
}

// "DIR/00-import.txt"
std::string DumpFile(const PhaseOptions& options, size_t phase) {
  return absl::StrFormat("%s/%02d-%s.txt", options.dump_dir, phase, Phases()[phase].name);
}

absl::Status Verify(const Phase& phase, Compilation& compilation) {
  const absl::Status verified = phase.verify(compilation);
  if (verified.ok()) return verified;
  return InternalError("after phase ", phase.name, ": ", verified.message());
}

absl::Status RunPhase(const PhaseOptions& options, size_t number, Compilation& compilation) {
  const Phase& phase = Phases()[number];
  const auto start = std::chrono::steady_clock::now();
  YUBA_RETURN_IF_ERROR(phase.run(compilation));
  const double seconds = SecondsSince(start);
  const auto verify_start = std::chrono::steady_clock::now();
  if (options.verify) YUBA_RETURN_IF_ERROR(Verify(phase, compilation));
  const double verify_seconds = SecondsSince(verify_start);
  if (!options.dump_dir.empty()) {
    YUBA_RETURN_IF_ERROR(MakeFolder(options.dump_dir));
    YUBA_RETURN_IF_ERROR(WriteState(compilation, DumpFile(options, number)));
  }
  if (options.log != nullptr) {
    *options.log << absl::StreamFormat("%-10s %8.3f s, verified in %7.3f s  %s\n", phase.name,
                                       seconds, verify_seconds, phase.what);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Phase> Phases() { return kPhases; }

absl::Status RunPhases(const PhaseOptions& options, Compilation& compilation) {
  YUBA_ASSIGN_OR_RETURN(const size_t from, FindPhase(options.from, 0));
  YUBA_ASSIGN_OR_RETURN(const size_t to, FindPhase(options.to, Phases().size() - 1));
  if (from > to) return UserError("phase ", options.from, " comes after phase ", options.to);
  for (size_t phase = from; phase <= to; ++phase) {
    if (options.go_on != nullptr) {
      YUBA_ASSIGN_OR_RETURN(const bool go_on, options.go_on(Phases()[phase]));
      if (!go_on) break;
    }
    YUBA_RETURN_IF_ERROR(RunPhase(options, phase, compilation));
  }
  return absl::OkStatus();
}

absl::StatusOr<Model> WithFactors(const Model& model, bool factors) {
  if (model.source == nullptr) {
    return absl::FailedPreconditionError("the model was not read from its file by this process");
  }
  Compilation compilation;
  compilation.request.import.factors = factors;
  compilation.request.training = model.training;
  compilation.model.source = model.source;
  PhaseOptions options;
  options.to = "cluster";
  YUBA_RETURN_IF_ERROR(RunPhases(options, compilation));
  return std::move(compilation.model);
}

}  // namespace yuba::compiler
