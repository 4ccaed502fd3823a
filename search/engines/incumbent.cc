#include "search/engines/incumbent.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "opsemantics/base/check.h"
#include "search/engines/nothing_fits.h"
#include "search/model/plan_problem.h"
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
  plan.space.objective = options.objective;
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

int64_t Incumbent::Try(Choices choices) {
  const bool limited = options_.memory_limit > 0;
  const auto same = [&](const Trial& trial) { return trial.choices == choices; };
  const auto known = std::find_if(trials_.begin(), trials_.end(), same);
  if (known != trials_.end()) return known->needed - options_.memory_limit;
  if (!Meets(choices, restrictions_)) return kNoLimit;
  Plan plan = PlanOf(graph_, options_, {choices, 0, Proof()});
  const int64_t needed = limited ? NeededBy(plan) : 0;
  if (limited) trials_.push_back({std::move(choices), plan.value(), needed});
  smallest_ = std::min(smallest_, needed);
  const int64_t excess = needed - options_.memory_limit;
  if (excess <= 0 && plan.value() < bytes()) {
    plan_ = std::move(plan);
    Announce();
  }
  return excess;
}

void Incumbent::Begin(std::string engine) {
  engine_ = std::move(engine);
  Announce();
}

void Incumbent::Announce() const {
  if (options_.progress)
    options_.progress({engine_, options_.objective.kind(), bytes(), bound_.bytes()});
}

int64_t Incumbent::Offer(Choices choices) {
  starts_.push_back(choices);
  return Try(std::move(choices));
}

int64_t Incumbent::NeededBy(const Plan& plan) const {
  if (options_.memory_of) return options_.memory_of(graph_, plan);
  return PeakOfPlan(graph_, plan);
}

bool Incumbent::IsLimited() const {
  return options_.memory_limit > 0 || options_.replicate == Replicate::kAuto;
}

bool Incumbent::IsOfUse() const {
  if (options_.known_value == 0) return true;
  // Without a limit a plan that moves as much is of use where it has the smaller gap.
  if (!IsLimited()) return bound_.bytes() <= options_.known_value;
  return !dismissed_ && bound_.bytes() < options_.known_value;
}

bool Incumbent::IsWithin(int64_t percent) const {
  return HasPlan() && absl::int128(bytes()) * 100 <= absl::int128(bound_.bytes()) * percent;
}

void Incumbent::Offer(ProvedBound bound) {
  if (!bound.IsAbove(bound_)) return;
  bound_ = std::move(bound);
  Announce();
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

int64_t Incumbent::bytes() const { return HasPlan() ? plan_->value() : kForbidden; }

Choices Incumbent::choices() const { return AllChoices(*plan_); }

bool Incumbent::IsNear() const { return search::IsNear(bytes(), bound_.bytes()); }

absl::StatusOr<Plan> Incumbent::Take() {
  const bool beats_known = options_.known_value == 0 || bytes() < options_.known_value;
  if (!IsOfUse() || (IsLimited() && HasPlan() && !beats_known)) {
    return WithBound(absl::NotFoundError("nothing moves less than what is known"),
                     dismissed_ ? std::max(bound_.bytes(), options_.known_value) : bound_.bytes());
  }
  if (!HasPlan()) return WithBound(failure_, bound_.bytes());
  plan_->lower_bound = bound_.bytes();
  plan_->proof = bound_.proof();
  return *std::move(plan_);
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found) {
  Plan plan = Unpriced(graph, options);
  const auto middle = found.choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(found.choices.begin(), middle);
  plan.nodes.assign(middle, found.choices.end());
  Price(graph, plan);
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
