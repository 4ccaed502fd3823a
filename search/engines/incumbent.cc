#include "search/engines/incumbent.h"

#include <utility>

#include "opsemantics/base/check.h"
#include "search/model/recursion.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "search/solve/pairwise.h"

namespace yuba::search {
namespace {

// A plan that names its mesh, space and search, and has no choices yet.
Plan Unpriced(const Graph& graph, const SearchOptions& options) {
  Plan plan;
  plan.mesh = options.mesh;
  plan.space.nesting = NestsByLevel(options) ? Nesting::kLevel : Nesting::kFree;
  plan.space.copies = graph.copies;
  plan.space.accumulators = HasAccumulators(graph);
  plan.space.partials = HasPartials(graph);
  plan.space.factors = options.factors;
  plan.space.replicate = options.replicate;
  plan.space.memory = options.memory_limit;
  plan.search = options.search;
  return plan;
}

}  // namespace

ProvedBound::ProvedBound(int64_t bytes, Proof proof) : bytes_(bytes), proof_(std::move(proof)) {
  YUBA_CHECK(bytes == 0 || proof_.kind != ProofKind::kNone)
      << "a bound of " << bytes << " unproved";
}

bool ProvedBound::IsAbove(const ProvedBound& other) const {
  const bool unproved = other.proof_.kind == ProofKind::kNone;
  return bytes_ > other.bytes_ ||
         (bytes_ == other.bytes_ && unproved && proof_.kind != ProofKind::kNone);
}

void Incumbent::Offer(Choices choices) {
  starts_.push_back(choices);
  if (!Meets(choices, restrictions_)) return;
  Plan plan = PlanOf(graph_, options_, {std::move(choices), 0, Proof()});
  if (HasPlan() && plan.cost.bytes() >= bytes()) return;
  const bool useless = options_.known_bytes > 0 && plan.cost.bytes() >= options_.known_bytes;
  if (useless && (options_.memory_limit > 0 || options_.replicate == Replicate::kAuto)) return;
  const bool limited = options_.memory_limit > 0 && options_.memory_of;
  if (limited && options_.memory_of(graph_, plan) > options_.memory_limit) return;
  plan_ = std::move(plan);
}

void Incumbent::Offer(ProvedBound bound) {
  if (!bound.IsAbove(bound_)) return;
  bound_ = std::move(bound);
  if (!options_.check_bound) return;
  Plan claim = Unpriced(graph_, options_);
  claim.space.pins = PinnedBy(restrictions_);
  claim.lower_bound = bound_.bytes();
  claim.proof = bound_.proof();
  options_.check_bound(graph_, claim);
}

void Incumbent::Offer(Candidate found) {
  if (!found.choices.empty()) Offer(std::move(found.choices));
  Offer(ProvedBound(found.lower_bound, std::move(found.proof)));
}

int64_t Incumbent::bytes() const { return HasPlan() ? plan_->cost.bytes() : kForbidden; }

Choices Incumbent::choices() const { return AllChoices(*plan_); }

bool Incumbent::IsNear() const { return search::IsNear(bytes(), bound_.bytes()); }

absl::StatusOr<Plan> Incumbent::Take() {
  if (!HasPlan()) return failure_;
  plan_->space.pins = PinnedBy(restrictions_);
  plan_->lower_bound = bound_.bytes();
  plan_->proof = bound_.proof();
  return *std::move(plan_);
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found) {
  Plan plan = Unpriced(graph, options);
  const auto middle = found.choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(found.choices.begin(), middle);
  plan.nodes.assign(middle, found.choices.end());
  plan.cost = CostOf(graph, plan);
  plan.proof = std::move(found.proof);
  plan.lower_bound = found.lower_bound;
  return plan;
}

bool NestsByLevel(const SearchOptions& options) {
  return options.nesting == Nesting::kLevel || options.search == "recursive";
}

Choices AllChoices(const Plan& plan) {
  Choices choices = plan.tensors;
  choices.insert(choices.end(), plan.nodes.begin(), plan.nodes.end());
  return choices;
}

}  // namespace yuba::search
