#include "search/check/check.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check/bound.h"
#include "search/check/pins.h"
#include "search/plan/choice_space.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

absl::Status CheckMesh(const Mesh& mesh) {
  int64_t devices = 1;
  for (const MeshAxis& axis : mesh.axes) {
    if (!IsPrime(axis.size)) {
      return ProofError("mesh axis ", axis.name, " has size ", axis.size, ", which is no prime");
    }
    if (axis.kind < 0 || axis.kind >= kMostKinds) {
      return ProofError("mesh axis ", axis.name, " has kind ", axis.kind, "; kinds are 0 to ",
                        kMostKinds - 1);
    }
    devices *= axis.size;
    if (devices > kMostPlannedDevices) {
      return ProofError("the mesh has more than ", kMostPlannedDevices, " devices");
    }
  }
  return absl::OkStatus();
}

// Where the space nests by level, later axes of the mesh cut inside earlier ones.
absl::Status CheckNesting(const Space& space, const Sharding& sharding) {
  if (space.nesting != Nesting::kLevel) return absl::OkStatus();
  for (const AxisList& list : sharding.axes) {
    if (std::is_sorted(list.begin(), list.end())) continue;
    return ProofError("the plan's space nests by level, but an axis cuts inside a later one");
  }
  return absl::OkStatus();
}

absl::Status CheckShardings(const Graph& graph, const Plan& plan) {
  if (plan.tensors.size() != graph.tensors.size() || plan.nodes.size() != graph.nodes.size()) {
    return ProofError("the plan is of another graph");
  }
  if (plan.space.replicate != Replicate::kAuto && HasPartials(graph)) {
    return ProofError("sums stay unreduced only where the plan's space replicates \"auto\"");
  }
  if (plan.space.copies != graph.copies) {
    return ProofError(plan.space.copies ? "the plan is of a graph with copies, this one has none"
                                        : "the plan is of a graph without copies");
  }
  if (plan.space.nesting == Nesting::kAnywhere) {
    return ProofError("the plan's space nests \"anywhere\", which is no space of plans");
  }
  for (const Choices* choices : {&plan.tensors, &plan.nodes}) {
    for (const Choice& choice : *choices) YUBA_RETURN_IF_ERROR(CheckNesting(plan.space, choice));
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    ChoiceSpace space = SpaceOfTensor(graph, static_cast<TensorId>(t));
    space.optional = space.optional || plan.space.replicate == Replicate::kAuto;
    const std::string why = WhyIllegal(space, plan.mesh, plan.tensors[t]);
    if (!why.empty()) return ProofError("tensor ", graph.tensors[t].name, ": ", why);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeId id = static_cast<NodeId>(n);
    std::string why = WhyIllegal(SpaceOfNode(graph, id), plan.mesh, plan.nodes[n]);
    if (why.empty()) why = WhyUnlikeTensors(graph, id, plan.tensors, plan.nodes[n]);
    if (!why.empty()) return ProofError("node ", graph.nodes[n].name, ": ", why);
  }
  return absl::OkStatus();
}

absl::Status CheckPins(const Graph& graph, const Plan& plan) {
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, plan.mesh, plan.space));
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (Meets(plan.tensors[t], pins[t])) continue;
    return ProofError("tensor ", graph.tensors[t].name, " is not sharded as its pin demands");
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (Meets(plan.nodes[n], pins[graph.tensors.size() + n])) continue;
    return ProofError("node ", graph.nodes[n].name, " is not cut as its pin demands");
  }
  return absl::OkStatus();
}

// "12 bytes", "12 ns": a value of the plan's objective.
std::string ValueText(const Plan& plan, int64_t value) {
  return absl::StrCat(value, plan.space.objective.IsTime() ? " ns" : " bytes");
}

// What a search without the pins has found contradicts neither itself nor the plan, which is one of
// those without pins too.
absl::Status CheckUnpinned(const Plan& plan) {
  if (!plan.unpinned.has_value()) return absl::OkStatus();
  if (plan.space.pins.empty()) {
    return ProofError("the plan says what its pins cost, but it has none");
  }
  const Unpinned& unpinned = *plan.unpinned;
  const bool ordered = 0 <= unpinned.lower_bound && unpinned.lower_bound <= unpinned.value &&
                       unpinned.value <= plan.value();
  if (ordered) return absl::OkStatus();
  return ProofError("the plan costs ", ValueText(plan, plan.value()),
                    " and says that without pins the best costs ", unpinned.value,
                    " and none less than ", unpinned.lower_bound);
}

absl::Status CheckCost(const Graph& graph, const Plan& plan) {
  Plan priced = plan;
  Price(graph, priced);
  const PlanCost& cost = priced.cost;
  auto same = [](const char* what, int64_t claimed, int64_t found) {
    if (claimed == found) return absl::OkStatus();
    return ProofError("the plan says that it moves ", claimed, " bytes", what, "; it moves ",
                      found);
  };
  YUBA_RETURN_IF_ERROR(same("", plan.cost.bytes(), cost.bytes()));
  YUBA_RETURN_IF_ERROR(same(" of weights", plan.cost.weight, cost.weight));
  YUBA_RETURN_IF_ERROR(same(" of activations", plan.cost.activation, cost.activation));
  YUBA_RETURN_IF_ERROR(same(" of partial results", plan.cost.partial, cost.partial));
  YUBA_RETURN_IF_ERROR(same(" of halos", plan.cost.halo, cost.halo));
  if (plan.time.exchanges == priced.time.exchanges && plan.time.kernels == priced.time.kernels) {
    return absl::OkStatus();
  }
  return ProofError("the plan says that its exchanges take ", plan.time.exchanges,
                    " ns and its kernels ", plan.time.kernels, " ns; they take ",
                    priced.time.exchanges, " and ", priced.time.kernels);
}

}  // namespace

absl::Status CheckProof(const Graph& graph, const Plan& plan, const Stop& stop) {
  if (plan.lower_bound < 0) {
    return ProofError("the lower bound of ", plan.lower_bound, " is negative");
  }
  if (plan.proof.kind == ProofKind::kNone) {
    if (plan.lower_bound <= 0) return absl::OkStatus();
    return ProofError("the lower bound of ", plan.lower_bound,
                      " has no proof, and a plan without one has the bound 0");
  }
  if (!plan.proof.prices.empty() && plan.space.memory <= 0) {
    return ProofError("the proof has prices on memory, the plan's space no limit");
  }
  absl::StatusOr<int64_t> least = 0;
  switch (plan.proof.kind) {
    case ProofKind::kNone: break;
    case ProofKind::kElimination: least = ReplayElimination(graph, plan, stop); break;
    case ProofKind::kDual: least = ReplayDual(graph, plan, stop); break;
  }
  if (!least.ok()) return least.status();
  if (*least >= plan.lower_bound) return absl::OkStatus();
  return ProofError("the plan says that none costs less than ", ValueText(plan, plan.lower_bound),
                    "; its proof shows only ", *least);
}

absl::Status CheckLegal(const Graph& graph, const Plan& plan) {
  YUBA_RETURN_IF_ERROR(CheckMesh(plan.mesh));
  YUBA_RETURN_IF_ERROR(CheckShardings(graph, plan));
  YUBA_RETURN_IF_ERROR(CheckPins(graph, plan));
  return CheckCost(graph, plan);
}

absl::Status CheckPlan(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_RETURN_IF_ERROR(CheckLegal(graph, plan));
  YUBA_RETURN_IF_ERROR(GoOn(stop));
  if (plan.lower_bound > plan.value()) {
    return ProofError("the plan costs ", ValueText(plan, plan.value()),
                      ", less than its lower bound of ", plan.lower_bound);
  }
  YUBA_RETURN_IF_ERROR(CheckProof(graph, plan, stop));
  if (plan.asked_bound < 0 || plan.asked_bound > plan.lower_bound) {
    return ProofError("the plan says that no plan of all spaces costs less than ",
                      ValueText(plan, plan.asked_bound),
                      ", but its own space is one of them and has the bound ", plan.lower_bound);
  }
  return CheckUnpinned(plan);
}

}  // namespace yuba::search
