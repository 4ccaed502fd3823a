#include "search/check_cases.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"

namespace yuba {
namespace {

class CaseReplay {
 public:
  CaseReplay(const Graph& graph, const Plan& plan, const CaseTables& tables,
             const BoundOfCase& bound_of)
      : graph_(graph),
        plan_(plan),
        tables_(tables),
        bound_of_(bound_of),
        never_(std::min(kNever, MostInProof(graph) / kPriceUnits) * kPriceUnits) {}

  absl::StatusOr<int64_t> Run() {
    YUBA_RETURN_IF_ERROR(CheckList());
    return NextCase();
  }

 private:
  // That each case is part of the first one, and there are not too many.
  absl::Status CheckList() const {
    const std::vector<ProofCase>& cases = plan_.proof.cases;
    if (cases.size() > kMostCases) {
      return RefuseProof(absl::StrCat("has more than ", kMostCases, " cases"));
    }
    int open = 1;  // that should follow
    for (size_t i = 0; i < cases.size(); ++i) {
      if (open == 0)
        return RefuseProof(absl::StrCat("has a case, number ", i, ", that is part of none"));
      const bool split = cases[i].tensor >= 0 || cases[i].node >= 0;
      open += split ? 1 : -1;
    }
    return open == 0 ? absl::OkStatus()
                     : RefuseProof(absl::StrCat("lacks cases, as many as ", open));
  }

  absl::StatusOr<int64_t> NextCase() {
    const ProofCase& here = plan_.proof.cases[next_++];
    if (here.tensor < 0 && here.node < 0) return bound_of_(here, Joined());
    YUBA_ASSIGN_OR_RETURN(const CheckTable bytes, BytesOf(here));
    const auto cells = static_cast<int64_t>(bytes.cells->size());
    if (conditions_.size() == kMostCasesWithin || cells_ + cells > kMostCaseCells) {
      return RefuseProof(absl::StrCat("has more than ", kMostCasesWithin,
                                      " cases within each other, or ", "tables of more than ",
                                      kMostCaseCells, " cells for them"));
    }
    cells_ += cells;
    int64_t bound = std::numeric_limits<int64_t>::max();
    for (const bool more : {false, true}) {
      if (bound < plan_.lower_bound) break;
      conditions_.push_back(Condition(bytes, here.bytes, more));
      YUBA_ASSIGN_OR_RETURN(const int64_t of_case, NextCase());
      conditions_.pop_back();
      bound = std::min(bound, of_case);
    }
    cells_ -= cells;
    return bound;
  }

  // Those of the case at hand, one for each scope.
  std::vector<CheckTable> Joined() const {
    std::map<std::vector<int>, std::vector<int64_t>> cells;
    for (const CheckTable& each : conditions_) {
      std::vector<int64_t>& most = cells[each.scope];
      most.resize(each.cells->size(), 0);
      for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], (*each.cells)[i]);
    }
    std::vector<CheckTable> joined;
    for (auto& [scope, most] : cells) {
      joined.push_back({scope, std::make_shared<const std::vector<int64_t>>(std::move(most))});
    }
    return joined;
  }

  // What the case is split by: of each cut of a tensor, or of a node and what it uses.
  absl::StatusOr<CheckTable> BytesOf(const ProofCase& split) const {
    if (split.tensor >= 0) {
      if (split.node >= 0 || split.tensor >= static_cast<int>(graph_.tensors.size())) {
        return RefuseProof(absl::StrCat("has cases of tensor ", split.tensor, ", which is none"));
      }
      std::vector<int64_t> slots;
      for (const int64_t elements : *tables_.shards[split.tensor]) {
        slots.push_back(Slot(elements * ByteSize(graph_.tensors[split.tensor].type.type)));
      }
      return CheckTable{{split.tensor},
                        std::make_shared<const std::vector<int64_t>>(std::move(slots))};
    }
    const int nodes = static_cast<int>(graph_.nodes.size());
    if (split.node >= nodes || split.use < 0 ||
        split.use > static_cast<int>(graph_.nodes[split.node].operands.size())) {
      return RefuseProof(
          absl::StrCat("has cases of use ", split.use, " of node ", split.node, ", which is none"));
    }
    size_t place = split.use;
    for (int n = 0; n < split.node; ++n) place += 1 + graph_.nodes[n].operands.size();
    const Node& node = graph_.nodes[split.node];
    const int element = static_cast<int>(graph_.tensors.size()) + split.node;
    const TensorId tensor = split.use == 0 ? node.result : node.operands[split.use - 1];
    return CheckTable{{element, tensor}, tables_.costs[place]};
  }

  // What cuts cost that are of the other case.
  CheckTable Condition(const CheckTable& bytes, int64_t most, bool more) const {
    std::vector<int64_t> cells;
    for (const int64_t here : *bytes.cells) {
      cells.push_back((here > most) == more ? 0 : never_);
    }
    return {bytes.scope, std::make_shared<const std::vector<int64_t>>(std::move(cells))};
  }

  const Graph& graph_;
  const Plan& plan_;
  const CaseTables& tables_;
  const BoundOfCase& bound_of_;
  const int64_t never_;                 // in units
  std::vector<CheckTable> conditions_;  // of the case at hand
  int64_t cells_ = 0;                   // of their tables
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> LeastOfCases(const Graph& graph, const Plan& plan, const CaseTables& tables,
                                     const BoundOfCase& bound_of) {
  return CaseReplay(graph, plan, tables, bound_of).Run();
}

int64_t UnsplitCases(const Proof& proof) {
  return static_cast<int64_t>(proof.cases.size() / 2 + 1);
}

}  // namespace yuba
