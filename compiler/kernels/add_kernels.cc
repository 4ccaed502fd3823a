#include "compiler/kernels/add_kernels.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/function_uses.h"
#include "compiler/kernels/has_chain.h"
#include "compiler/kernels/index_splits.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/library_call.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/opaque_calls.h"
#include "compiler/kernels/post_op_call.h"
#include "compiler/kernels/threads/known_arguments.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "compiler/model.h"
#include "compiler/spmd/short_sums.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/opaque.h"
#include "runtime/program/opaque_on_gpus.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {
namespace {

// Whether it computes wrap(v, n) or label(v, n, ignored), which say what v may be.
bool Wraps(const std::vector<Definition>& definitions) {
  bool wraps = false;
  for (const Definition& definition : definitions) {
    Walk(definition, [&](const Expr& expr) {
      wraps |= expr.kind == Expr::kCall &&
               (expr.function == Function::kWrap || expr.function == Function::kLabel);
    });
  }
  return wraps;
}

bool MayCallLibrary(const KernelChoice& choice) {
  return choice.library && choice.target.arithmetic != Arithmetic::kHash;
}

LibraryFeatures FeaturesFor(const KernelChoice& choice) {
  const TargetLibraries& libraries = choice.target.facts->libraries;
  LibraryFeatures features;
  features.convolutions = libraries.convolutions != nullptr;
  features.doubles = libraries.doubles;
  features.tf32 = libraries.tf32 && choice.tf32;
  return features;
}

// Of one definition alone.
absl::optional<program::LibraryCall> ChooseCall(const Definition& definition,
                                                const KernelChoice& choice) {
  if (!MayCallLibrary(choice) || IsOpaque(definition)) return absl::nullopt;
  return LibraryCallFor(definition, FeaturesFor(choice));
}

// Of a function of one or more.
absl::optional<program::LibraryCall> ChooseCall(const std::vector<Definition>& definitions,
                                                const program::Function& function,
                                                const KernelChoice& choice) {
  if (definitions.size() == 1) return ChooseCall(definitions[0], choice);
  if (!MayCallLibrary(choice)) return absl::nullopt;
  return CallWithPostOps(definitions, function, *choice.target.facts, FeaturesFor(choice));
}

// What the node computes where partials that it reads are whole: of an accumulator the sum.
Definition WholeMapOf(const Node& node) {
  const Definition& definition = *node.definition;
  return definition.partial_operands.empty() ? definition : InGroups(definition, 1);
}

bool MayHaveSlopes(const KernelChoice& choice) {
  return choice.target.facts->libraries.joint_calls && choice.joint_calls == JointCalls::kAll;
}

// How many nodes of the cluster, from its first on, are one call of the library.
size_t NodesInOneCall(const Graph& graph, const compiler::Cluster& cluster,
                      const KernelChoice& choice) {
  absl::optional<program::LibraryCall> call;
  const Definition* product = nullptr;
  std::vector<PostOp> chain;  // its indices are the product's, which all share
  for (size_t n = 0; n < cluster.results.size(); ++n) {
    const NodeId id = ProducerIn(graph, cluster.results[n], cluster.entry);
    if (id < 0) return n;
    const Node& node = graph.nodes[id];
    if (n == 0) {
      product = node.definition.get();
      call = ChooseCall(*product, choice);
      if (!call.has_value()) return 0;
      continue;
    }
    const auto& operands = node.operands;
    const auto value = std::find(operands.begin(), operands.end(), cluster.results[n - 1]);
    if (value == operands.end()) return n;
    const auto steps =
        LibrarySteps(*choice.target.facts, WholeMapOf(node),
                     static_cast<int>(value - operands.begin()), MayHaveSlopes(choice));
    if (!steps.has_value()) return n;
    chain.insert(chain.end(), steps->begin(), steps->end());
    if (!HasChain(choice.target.facts->post_ops, *call, product->indices, chain)) return n;
  }
  return cluster.results.size();
}

// How a kernel for GPUs is started.
void AddLaunches(const NamedKernel& kernel, const KernelTarget& target,
                 program::Function& function) {
  std::vector<LoopPlan> plans;
  for (const KernelDefinition& each : kernel.definitions)
    plans.push_back(PlanLoops(*each.definition, LoopOptionsFor(target)));
  const Definition& reduced = *kernel.definitions[0].definition;
  const bool is_arg = IsArgReducer(reduced.reducer);  // parts of which have a position beside
  const ElementType sum =
      AccumulatorType(is_arg ? TypeOf(*reduced.body, reduced.operands) : reduced.result.type);
  const bool hash = target.arithmetic == Arithmetic::kHash && IsFloat(sum);
  const auto add = [&](const ThreadPlan& plan, const std::string& symbol,
                       const KernelDefinition& first) -> program::ThreadLaunch& {
    program::ThreadLaunch& launch = *function.add_launches();
    launch.set_symbol(symbol);
    launch.set_threads(plan.threads);
    launch.set_points(plan.PointsOfBlock());
    const std::vector<int64_t> sides = plan.Sides();
    for (size_t l = 0; l < plan.points.size(); ++l) {
      for (const int index : plan.points[l].indices) {
        launch.add_indices(first.indices[index]);
        if (plan.InTiles()) launch.add_sides(0);
      }
      if (plan.InTiles()) launch.set_sides(launch.sides_size() - 1, sides[l]);
    }
    return launch;
  };
  if (!kernel.sections.empty()) {
    const std::vector<ThreadPlan> beside = PlanSections(kernel, plans, target);
    for (size_t s = 0; s < beside.size(); ++s) {
      add(beside[s], kernel.symbol, kernel.definitions[kernel.sections[s].begin]).set_beside(s > 0);
    }
    return;
  }
  for (const ThreadPlan& plan : PlanThreads(kernel, plans, target)) {
    program::ThreadLaunch& launch =
        add(plan, SymbolOf(kernel, function.launches_size()), kernel.definitions[0]);
    if (plan.parts == 1 || plan.stage == ThreadPlan::kSumOfParts) continue;
    launch.set_parts(plan.parts);
    if (plan.stage != ThreadPlan::kDefinitions) continue;
    const int64_t bytes = (hash ? sizeof(int64_t) : ByteSize(sum)) + (is_arg ? sizeof(int64_t) : 0);
    launch.set_part_bytes(static_cast<int>(bytes * plan.sums.size()));
  }
}

// The user's error where the target does not compute what the node, which is opaque, calls.
absl::Status CheckOpaqueOnTarget(const Node& node, const TargetFacts& target) {
  if (!target.parallel) return absl::OkStatus();
  const std::string& function = node.definition->opaque.function;
  const std::string why_not = runtime::WhyNotOnGpus(function, SignatureOf(*node.definition));
  if (why_not.empty()) return absl::OkStatus();
  return UserError("node ", node.name, " (", node.op, ", from ", node.from,
                   ") calls the opaque function '", function, "', and ", why_not,
                   ": compile with --target host and run with --backend host, or describe the "
                   "operator by definitions (--operators)");
}

// The value of an enumeration that has these names, in its order.
template <typename Enum>
Enum ValueOf(const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  YUBA_CHECK(found != names.end()) << name;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::vector<std::string> MemoryOrderNames() { return {"auto", "row-major", "channels-last"}; }

MemoryOrder MemoryOrderOf(const std::string& name) {
  return ValueOf<MemoryOrder>(name, MemoryOrderNames());
}

std::vector<std::string> JointCallsNames() { return {"auto", "all", "none"}; }

JointCalls JointCallsOf(const std::string& name) {
  return ValueOf<JointCalls>(name, JointCallsNames());
}

bool MayStoreArgument(const Definition& product, const std::vector<PostOp>& steps,
                      const KernelChoice& choice) {
  constexpr int64_t kStep = 8;  // elements, of the library's rows of what is stored
  if (!choice.target.facts->libraries.joint_calls || choice.joint_calls != JointCalls::kAll)
    return false;
  const absl::optional<program::LibraryCall> call = ChooseCall(product, choice);
  return call.has_value() && call->kind() == program::LibraryCall::CONTRACTION &&
         call->type() != program::F64 && !product.left.empty() &&
         product.result.dims.back() % kStep == 0 &&
         HasChain(choice.target.facts->post_ops, *call, product.indices, steps);
}

bool MayHaveOperandSums(const Definition& product, const KernelChoice& choice) {
  if (!choice.target.facts->libraries.joint_calls || choice.joint_calls == JointCalls::kNone)
    return false;
  const absl::optional<program::LibraryCall> call = ChooseCall(product, choice);
  if (!call.has_value() || !IsOneProduct(*call, product.indices)) return false;
  const bool small = call->type() == program::F16 || call->type() == program::BF16;
  return small || (call->type() == program::F32 && choice.joint_calls == JointCalls::kAll);
}

std::string KernelKind(const Definition& definition, const KernelChoice& choice) {
  if (IsOpaque(definition)) return "opaque";
  const absl::optional<program::LibraryCall> call = ChooseCall(definition, choice);
  if (!call.has_value()) return "loops";
  const TargetLibraries& libraries = choice.target.facts->libraries;
  const bool product = call->kind() == program::LibraryCall::CONTRACTION;
  return absl::StrCat(product ? libraries.products : libraries.convolutions,
                      libraries.falls_back ? " or loops" : "");
}

std::vector<compiler::Cluster> LibraryProducts(const Graph& graph,
                                               const std::vector<compiler::Cluster>& products,
                                               const KernelChoice& choice) {
  std::vector<compiler::Cluster> in_one_call;
  for (const compiler::Cluster& marked : products) {
    compiler::Cluster product = marked;
    product.results.resize(NodesInOneCall(graph, marked, choice));
    if (product.results.size() > 1) in_one_call.push_back(std::move(product));
  }
  return in_one_call;
}

absl::Status AddKernels(const compiler::Model& model, const KernelChoice& choice,
                        program::Program& program) {
  const KernelTarget& target = choice.target;
  const bool hash = target.arithmetic == Arithmetic::kHash;
  if (choice.tf32 && !target.facts->libraries.tf32) {
    return UserError("--tf32 is for GPUs: the target ", target.facts->name, " has no TF32");
  }
  YUBA_CHECK(program.hash_arithmetic() == hash) << "memory was planned for another arithmetic";
  const absl::optional<compiler::ShortSums> sums = compiler::WithShortSums(model.graph);
  const std::vector<FunctionUse> uses =
      UsesOf(sums.has_value() ? sums->graph : model.graph, program);
  std::vector<KnownArguments> known;
  if (target.facts->parallel) known = KnownArgumentsOf(program);
  std::vector<NamedKernel> generated;
  for (int f = 0; f < program.functions_size(); ++f) {
    program::Function& function = *program.mutable_functions(f);
    const std::vector<Definition>& definitions = uses[f].definitions;
    if (definitions.size() == 1 && IsOpaque(definitions[0])) {
      YUBA_RETURN_IF_ERROR(CheckOpaqueOnTarget(*uses[f].node, *target.facts));
      *function.mutable_opaque() = OpaqueCallsFor(definitions[0]);
      continue;
    }
    if (auto call = ChooseCall(definitions, function, choice)) {
      *function.mutable_library() = *std::move(call);
      if (!target.facts->libraries.falls_back) continue;
    }
    function.set_symbol(absl::StrCat("k", generated.size()));
    function.set_checks_indices(!hash && Wraps(definitions));  // hashes are no indices
    generated.push_back(KernelOf(function, uses[f]));
    if (target.facts->parallel) {
      generated.back().known = known[f];
      AddLaunches(generated.back(), target, function);
      continue;
    }
    *function.mutable_splits() = SplitsOf(generated.back(), target.arithmetic);
  }
  program.set_target(target.facts->name);
  program.set_processor(target.cpu);
  if (generated.empty() || !choice.code) return absl::OkStatus();
  absl::StatusOr<std::string> code = GenerateKernels(generated, target);
  if (!code.ok()) return code.status();
  program.set_code(*std::move(code));
  return absl::OkStatus();
}

}  // namespace yuba::kernels
