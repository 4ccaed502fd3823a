// The best that a search of one graph has so far: a plan, and a lower bound with its proof. Engines
// (engine.h) take from it and offer to it.
//
// Example: a search on 8 devices. "axes" offers choices that move 465.9 MB, then "eliminate"
// choices of 465.2 MB and the bound 465.2 MB with a proof of kind "elimination": the gap is closed.
#ifndef YUBA_SEARCH_ENGINES_INCUMBENT_H_
#define YUBA_SEARCH_ENGINES_INCUMBENT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"
#include "search/search_options.h"
#include "search/space/restriction.h"

namespace yuba::search {

// A lower bound of all plans of a space, in bytes a step. There is none above 0 without what proves
// it.
class ProvedBound {
 public:
  ProvedBound() = default;  // 0, which needs no proof
  // Dies where `bytes` is above 0 and the proof of kind kNone.
  ProvedBound(int64_t bytes, Proof proof);

  int64_t bytes() const { return bytes_; }
  const Proof& proof() const { return proof_; }
  bool IsAbove(const ProvedBound& other) const;  // higher, or as high and the other has no proof

 private:
  int64_t bytes_ = 0;
  Proof proof_;
};

// Stands for no limit on memory: more bytes than any plan needs.
inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

// Choices of all elements that were tried as a plan.
struct Trial {
  Choices choices;
  int64_t bytes = 0;   // that they move in a step
  int64_t needed = 0;  // bytes a device that their program needs; 0 where memory has no limit
};

class Incumbent {
 public:
  // All arguments must outlive this. Plans must meet the restrictions, and need at most
  // options.memory_limit: by options.memory_of, or where that is empty by the rows of memory
  // (search/model/memory_rows.h). Plans that move more than options.known_value are of no use,
  // under a limit or with replicas neither those that move as much.
  Incumbent(const Graph& graph, const SearchOptions& options, const Restrictions& restrictions)
      : graph_(graph), options_(options), restrictions_(restrictions) {}

  // Choices of all elements, which the space allows. They become the plan where they meet what
  // plans must meet and move less than the plan so far. Returns by how many bytes a device they
  // exceed the limit on memory, 0 or less where they fit; kNoLimit where they do not meet the
  // restrictions.
  int64_t Try(Choices choices);
  // The same, and they are a start for other engines.
  int64_t Offer(Choices choices);
  // Becomes the bound where it is above the bound so far.
  void Offer(ProvedBound bound);
  void Offer(Candidate found);  // both; no choices: only the bound
  // Why there is no plan. The last reason counts.
  void Fail(absl::Status why) { failure_ = std::move(why); }
  // Nothing moves less than options.known_value, as an engine knows without a proof.
  void Dismiss() { dismissed_ = true; }
  // Whether a plan may be found that is of use.
  bool IsOfUse() const;

  // The engine that runs from now on, for options.progress.
  void Begin(std::string engine);

  bool HasPlan() const { return plan_.has_value(); }
  int64_t bytes() const;    // that the plan moves; kForbidden where there is none
  Choices choices() const;  // of the plan, which must be there
  const ProvedBound& bound() const { return bound_; }
  // All choices that were offered, in order, whatever became of them.
  const std::vector<Choices>& starts() const { return starts_; }
  // Of a limit on memory: all that was tried, in order, each once; the fewest bytes a device that
  // one needs.
  const std::vector<Trial>& trials() const { return trials_; }
  int64_t smallest() const { return smallest_; }

  bool HasGap() const { return bytes() > bound_.bytes(); }
  // Whether the plan moves at most `percent` % of the bound.
  bool IsWithin(int64_t percent) const;
  // Whether the gap is at most a thousandth of the bytes: too small to begin another long search.
  bool IsNear() const;

  // The plan with the bound; the reason where there is none, NotFound where that is because it
  // would be of no use. The reason has the bound too (BoundOf of nothing_fits.h). The incumbent
  // must not be used after.
  absl::StatusOr<Plan> Take();

 private:
  bool IsLimited() const;
  void Announce() const;
  int64_t NeededBy(const Plan& plan) const;

  const Graph& graph_;
  const SearchOptions& options_;
  const Restrictions& restrictions_;
  absl::optional<Plan> plan_;  // priced; its bound is set by Take
  ProvedBound bound_;
  std::vector<Choices> starts_;
  std::vector<Trial> trials_;
  int64_t smallest_ = kNoLimit;
  bool dismissed_ = false;
  std::string engine_;
  absl::Status failure_ = absl::FailedPreconditionError("no engine found a plan");
};

// The plan of these choices in the space that graph and options state, with its price.
Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found);

// Whether in all choices the axes of one extent come in the order of the mesh.
bool NestsByLevel(const SearchOptions& options);

// The choices of a plan, by element: tensors, then nodes.
Choices AllChoices(const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_INCUMBENT_H_
