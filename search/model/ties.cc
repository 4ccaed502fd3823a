#include "search/model/ties.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "search/rewrite/canonical.h"

namespace yuba::search {
namespace {

// How many pairs are tried as the beginning of a shift: kSeeds classes of elements, of as many
// sizes, since those of one size mostly give the same shift.
constexpr size_t kSeeds = 16;
constexpr size_t kRepetitions = 3;  // fewer elements alike are no repetition

// A shift that grows from one pair of elements along the edges of the graph.
class Shift {
 public:
  Shift(const Graph& graph, const std::vector<uint64_t>& colours)
      : graph_(graph),
        colours_(colours),
        tensors_(static_cast<int>(graph.tensors.size())),
        next_(colours.size(), -1),
        before_(colours.size(), -1) {}

  const std::vector<int>& next() const { return next_; }
  bool Has(int element) const { return next_[element] >= 0 || before_[element] >= 0; }

  // Adds the pair and what follows from it; returns how many pairs that are.
  size_t Grow(int from, int to) {
    const size_t begin = pairs_.size();
    Add(from, to);
    for (size_t done = begin; done < pairs_.size(); ++done) {
      const auto [a, b] = pairs_[done];
      if (a < tensors_) {
        FollowTensor(graph_.tensors[a], graph_.tensors[b]);
      } else {
        FollowNode(graph_.nodes[a - tensors_], graph_.nodes[b - tensors_]);
      }
    }
    return pairs_.size() - begin;
  }
  // Takes back the last so many pairs.
  void Shrink(size_t count) {
    for (; count > 0; --count, pairs_.pop_back()) {
      next_[pairs_.back().first] = before_[pairs_.back().second] = -1;
    }
  }

 private:
  void Add(int from, int to) {
    if (from == to || next_[from] >= 0 || before_[to] >= 0) return;
    if (colours_[from] != colours_[to]) return;
    next_[from] = to;
    before_[to] = from;
    pairs_.push_back({from, to});
  }

  void FollowNode(const Node& from, const Node& to) {
    Add(from.result, to.result);
    for (size_t o = 0; o < from.operands.size(); ++o) Add(from.operands[o], to.operands[o]);
  }

  void FollowTensor(const Tensor& from, const Tensor& to) {
    if (from.producer >= 0 && to.producer >= 0)
      Add(tensors_ + from.producer, tensors_ + to.producer);
    for (const NodeId reader : from.consumers) {
      const int of_from = OnlyReader(from, colours_[tensors_ + reader]);
      const int of_to = OnlyReader(to, colours_[tensors_ + reader]);
      if (of_from >= 0 && of_to >= 0) Add(of_from, of_to);
    }
  }

  // The element of the one reader of that colour; -1 where several have it.
  int OnlyReader(const Tensor& tensor, uint64_t colour) const {
    int only = -1;
    for (const NodeId reader : tensor.consumers) {
      if (colours_[tensors_ + reader] != colour || only == tensors_ + reader) continue;
      if (only >= 0) return -1;
      only = tensors_ + reader;
    }
    return only;
  }

  const Graph& graph_;
  const std::vector<uint64_t>& colours_;
  const int tensors_;
  std::vector<int> next_, before_;
  std::vector<std::pair<int, int>> pairs_;
};

// The nodes of each colour that enough of them have, as elements in the order of a program.
std::vector<std::vector<int>> Classes(const Graph& graph, const std::vector<uint64_t>& colours) {
  const auto tensors = static_cast<int>(graph.tensors.size());
  std::map<uint64_t, std::vector<int>> by_colour;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int element = tensors + static_cast<int>(n);
    by_colour[colours[element]].push_back(element);
  }
  std::vector<std::vector<int>> classes;
  for (auto& [colour, elements] : by_colour) {
    if (elements.size() >= kRepetitions) classes.push_back(std::move(elements));
  }
  return classes;
}

}  // namespace

VariableMap VariablesOf(const Problem& problem) {
  std::map<DomainPtr, int> known;
  VariableMap variables = {problem.variable, {}};
  for (const DomainPtr& domain : problem.pairwise.variables) {
    const auto next = static_cast<int>(known.size());
    variables.alike.push_back(known.emplace(domain, next).first->second);
  }
  return variables;
}

VariableMap VariablesOf(const GridProblem& problem) {
  std::map<GridList, int> known;
  VariableMap variables;
  for (const GridList& grids : problem.grids) {
    variables.variable.push_back(static_cast<int>(variables.variable.size()));
    const auto next = static_cast<int>(known.size());
    variables.alike.push_back(known.emplace(grids, next).first->second);
  }
  return variables;
}

std::vector<int> NextRepetition(const Graph& graph, const VariableMap& variables, int depth) {
  std::vector<int> alike;
  for (const int v : variables.variable) alike.push_back(variables.alike[v]);
  const std::vector<uint64_t> colours = SurroundingHashes(graph, depth, alike);
  const std::vector<std::vector<int>> classes = Classes(graph, colours);
  Shift shift(graph, colours);
  while (true) {
    // The pair from which most follows.
    std::set<size_t> sizes;
    size_t most = 0;
    std::pair<int, int> best;
    for (const std::vector<int>& elements : classes) {
      std::vector<int> left;
      for (const int e : elements) {
        if (!shift.Has(e)) left.push_back(e);
      }
      const bool is_tried =
          left.size() >= kRepetitions && sizes.size() < kSeeds && sizes.insert(left.size()).second;
      if (!is_tried) continue;
      const size_t count = shift.Grow(left[0], left[1]);
      shift.Shrink(count);
      if (count <= most) continue;
      most = count;
      best = {left[0], left[1]};
    }
    if (most < 2) break;
    shift.Grow(best.first, best.second);
  }
  return shift.next();
}

std::vector<int> TiedVariables(const VariableMap& variables, const std::vector<int>& next,
                               int period) {
  std::vector<int> parent(variables.alike.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (size_t e = 0; e < next.size(); ++e) {
    int later = static_cast<int>(e);
    for (int i = 0; i < period && later >= 0; ++i) later = next[later];
    if (later < 0) continue;
    const int a = root(variables.variable[e]), b = root(variables.variable[later]);
    if (variables.alike[a] == variables.alike[b]) parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> numbers;
  int count = 0;
  for (size_t v = 0; v < parent.size(); ++v) {
    const int first = root(static_cast<int>(v));
    numbers.push_back(first == static_cast<int>(v) ? count++ : numbers[first]);
  }
  return numbers;
}

PairwiseProblem Tied(const PairwiseProblem& problem, const std::vector<int>& numbers) {
  PairwiseProblem tied;
  for (size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] == static_cast<int>(tied.variables.size())) {
      tied.variables.push_back(problem.variables[v]);
    }
  }
  // How often equal factors of the same variables meet, in the order in which they first do.
  std::map<std::pair<std::vector<int>, Cells>, size_t> places;
  std::vector<std::pair<Factor, int64_t>> counted;
  for (const Factor& factor : problem.factors) {
    Factor mapped = factor;
    for (int& v : mapped.scope) v = numbers[v];
    const auto [place, is_new] =
        places.emplace(std::make_pair(mapped.scope, mapped.cells), counted.size());
    if (is_new) counted.push_back({std::move(mapped), 0});
    ++counted[place->second].second;
  }
  // Cells of one variable are those of the diagonal where two have become one.
  std::map<std::tuple<Cells, bool, int64_t>, Cells> known;
  for (auto& [factor, count] : counted) {
    const bool is_loop = factor.scope.size() == 2 && factor.scope[0] == factor.scope[1];
    Cells& cells = known[{factor.cells, is_loop, count}];
    if (cells == nullptr && count == 1 && !is_loop) {
      cells = factor.cells;
    } else if (cells == nullptr) {
      const size_t step = is_loop ? tied.variables[factor.scope[0]]->size + 1 : 1;
      std::vector<int64_t> sums;
      for (size_t i = 0; i < factor.cells->size(); i += step) {
        const int64_t cell = (*factor.cells)[i];
        sums.push_back(cell > kForbidden / count ? kForbidden : cell * count);
      }
      cells = std::make_shared<const std::vector<int64_t>>(std::move(sums));
    }
    if (is_loop) factor.scope.pop_back();
    tied.factors.push_back({factor.scope, cells});
  }
  return tied;
}

}  // namespace yuba::search
