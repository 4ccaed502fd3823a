#include "search/check_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_tables.h"

namespace yuba {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
constexpr int64_t kMostCuts = int64_t{1} << 14;  // of one tensor or node

using Values = std::shared_ptr<const std::vector<int64_t>>;

struct Table {
  std::vector<int> scope;
  Values cells;  // row-major
};

class Replay {
 public:
  Replay(const Graph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), tensors_(static_cast<int>(graph.tensors.size())) {}

  absl::StatusOr<int64_t> Run() {
    YUBA_RETURN_IF_ERROR(CheckOrder());
    YUBA_RETURN_IF_ERROR(MakeTables());
    for (int variable : plan_.proof.order) YUBA_RETURN_IF_ERROR(Eliminate(variable));
    return least_;
  }

 private:
  static absl::Status Refuse(const std::string& what) {
    return absl::FailedPreconditionError("the proof " + what);
  }

  absl::Status CheckOrder() {
    std::vector<bool> seen(graph_.tensors.size() + graph_.nodes.size(), false);
    for (int variable : plan_.proof.order) {
      if (variable < 0 || variable >= static_cast<int>(seen.size()) || seen[variable]) {
        return Refuse(absl::StrCat("names element ", variable, ", which is none or comes twice"));
      }
      seen[variable] = true;
    }
    size_t missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
    if (missing == seen.size()) return absl::OkStatus();
    return Refuse(absl::StrCat("leaves out element ", missing));
  }

  // The number of an earlier node with an equal definition, else the node's own.
  int SameAs(size_t n) const {
    for (size_t m = 0; m < n; ++m) {
      const Definition &a = *graph_.nodes[m].definition, &b = *graph_.nodes[n].definition;
      if (&a == &b || (a.indices.size() == b.indices.size() && a.result == b.result && a == b)) {
        return same_[m];
      }
    }
    return static_cast<int>(n);
  }

  // At most how many cuts there are: each axis takes a place in one of the lists.
  absl::Status CheckCount(const std::string& name, size_t extents) const {
    int64_t count = 1;
    for (size_t axis = 0; axis < plan_.mesh.axes.size(); ++axis) {
      count *= static_cast<int64_t>(std::max<size_t>(extents, 1) + axis);
      if (count > kMostCuts) return Refuse(absl::StrCat("is too large to replay: the cuts of ", name));
    }
    return absl::OkStatus();
  }

  absl::Status MakeTables() {
    for (const Tensor& tensor : graph_.tensors) {
      YUBA_RETURN_IF_ERROR(CheckCount(tensor.name, tensor.type.dims.size()));
    }
    for (const Node& node : graph_.nodes) {
      YUBA_RETURN_IF_ERROR(CheckCount(node.name, CuttableIndices(*node.definition).size()));
    }
    bool level = plan_.space.nesting == "level";
    std::map<std::vector<int64_t>, std::vector<Cut>> tensor_cuts;
    for (const Tensor& tensor : graph_.tensors) {
      std::vector<Cut>& cuts = tensor_cuts[tensor.type.dims];
      if (cuts.empty()) cuts = EveryTensorCut(plan_.mesh, tensor.type, level);
      sizes_.push_back(static_cast<int>(cuts.size()));
    }
    std::map<std::pair<int, int>, Values> tables;  // (definition, operand)
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      int same = SameAs(n);
      same_.push_back(same);
      if (same != static_cast<int>(n)) {
        sizes_.push_back(sizes_[tensors_ + same]);
      } else {
        std::vector<NodeBoxes> boxes;
        for (const Cut& cut : EveryNodeCut(plan_.mesh, *node.definition, level)) {
          boxes.push_back(AnalyzeNode(*node.definition, cut, plan_.mesh));
        }
        sizes_.push_back(static_cast<int>(boxes.size()));
        for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
          const TensorType& type = graph_.tensors[o < 0 ? node.result : node.operands[o]].type;
          tables[{same, o}] = std::make_shared<const std::vector<int64_t>>(
              EveryCost(plan_.mesh, type, tensor_cuts[type.dims], boxes, o));
        }
      }
      for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
        int tensor = o < 0 ? node.result : node.operands[o];
        tables_.push_back({{tensors_ + static_cast<int>(n), tensor}, tables[{same, o}]});
      }
    }
    return absl::OkStatus();
  }

  // Replaces all tables of `variable` by one: their sum at its best value.
  absl::Status Eliminate(int variable) {
    std::vector<Table> mine, rest;
    std::vector<int> scope;
    for (Table& table : tables_) {
      bool has = std::count(table.scope.begin(), table.scope.end(), variable) > 0;
      for (int v : table.scope) {
        if (has && v != variable && !std::count(scope.begin(), scope.end(), v)) scope.push_back(v);
      }
      (has ? mine : rest).push_back(std::move(table));
    }
    int64_t cells = 1;
    for (int v : scope) {
      if (__builtin_mul_overflow(cells, sizes_[v], &cells) || cells > kMostCells) {
        return Refuse(absl::StrCat("needs a table of more than ", kMostCells, " cells"));
      }
    }
    Values least = Minimum(variable, scope, cells, mine);
    if (scope.empty()) least_ += (*least)[0];
    else rest.push_back({scope, least});
    tables_ = std::move(rest);
    return absl::OkStatus();
  }

  Values Minimum(int variable, const std::vector<int>& scope, int64_t cells,
                 const std::vector<Table>& mine) {
    // Equal work is done once: the key says which tables meet, and how.
    std::vector<int64_t> key = {sizes_[variable]};
    for (int v : scope) key.push_back(sizes_[v]);
    for (const Table& table : mine) {
      key.push_back(reinterpret_cast<intptr_t>(table.cells.get()));
      for (int v : table.scope) {
        key.push_back(std::find(scope.begin(), scope.end(), v) - scope.begin());
      }
      key.push_back(-1);
    }
    Values& known = done_[key];
    if (known != nullptr) return known;
    for (const Table& table : mine) kept_.push_back(table.cells);
    std::vector<int64_t> least(cells);
    std::vector<int> value(sizes_.size(), 0);
    std::vector<int64_t> sum(sizes_[variable]);
    for (int64_t cell = 0; cell < cells; ++cell) {
      std::fill(sum.begin(), sum.end(), 0);
      for (const Table& table : mine) {
        int64_t start = 0, step = 1;
        for (int v : table.scope) {
          if (v == variable) step = 1;
          else step *= sizes_[v];
          start = start * sizes_[v] + (v == variable ? 0 : value[v]);
        }
        for (int64_t& s : sum) {
          s += (*table.cells)[start];
          start += step;
        }
      }
      least[cell] = *std::min_element(sum.begin(), sum.end());
      for (size_t i = scope.size(); i-- > 0;) {
        if (++value[scope[i]] < sizes_[scope[i]]) break;
        value[scope[i]] = 0;
      }
    }
    known = std::make_shared<const std::vector<int64_t>>(std::move(least));
    return known;
  }

  const Graph& graph_;
  const Plan& plan_;
  const int tensors_;
  std::vector<int> sizes_;  // by variable
  std::vector<int> same_;   // by node
  std::vector<Table> tables_;
  std::map<std::vector<int64_t>, Values> done_;
  std::vector<Values> kept_;  // so that no address in `done_` is used again
  int64_t least_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan) {
  return Replay(graph, plan).Run();
}

}  // namespace yuba
