#include "search/model/shorten.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "search/model/ties.h"

namespace yuba::search {
namespace {

// Blocks that stay on either side of the gap, besides the ends of the chains, which are no blocks.
// With 3, of which 2 were tiled in turn, bounds of bytes were 0.05 % better and a sweep took twice
// as long.
constexpr int kKept = 1;
// Of the surroundings by which blocks are found (ties.h): a block that is hardly like the others
// costs some sweeps, each end that stays in the short problem costs as much as a block.
constexpr int kDepth = 2;
// Fewer blocks are not worth the search for them.
constexpr int kLeastGone = 4;

// The blocks: chains of elements of which each does one repetition later what the one before it
// does.
class Blocks {
 public:
  Blocks(const Graph& graph, const std::vector<TensorUse>& uses, const GridProblem& problem)
      : tensors_(static_cast<int>(graph.tensors.size())),
        uses_(uses),
        next_(NextRepetition(graph, VariablesOf(problem), kDepth)),
        before_(next_.size(), -1),
        chain_of_(next_.size(), -1),
        place_(next_.size(), 0),
        uses_of_(next_.size()) {
    for (size_t e = 0; e < next_.size(); ++e) {
      if (next_[e] >= 0) before_[next_[e]] = static_cast<int>(e);
    }
    for (size_t u = 0; u < uses.size(); ++u) {
      uses_of_[uses[u].tensor].push_back(static_cast<int>(u));
      uses_of_[uses[u].node].push_back(static_cast<int>(u));
    }
    MakeChains();
    MakeFamilies();
  }

  // Where blocks go, the element is gone.
  bool IsGone(int element) const {
    const Chain* chain = ChainOf(element);
    return chain != nullptr && chain->gone > 0 && BlockOf(element) >= chain->first &&
           BlockOf(element) < chain->first + chain->gone;
  }
  // The element that stands for a gone one: its like in the last block before the gap. Others stand
  // for themselves.
  int StandIn(int element) const {
    if (!IsGone(element)) return element;
    const int into = BlockOf(element) - ChainOf(element)->first;
    return At(element, -into - 1);
  }
  // What a node that stays reads or makes in the short problem, in place of `tensor`: beside the
  // gap its like on the other side.
  int Joined(int tensor, int node) const {
    if (!IsGone(tensor)) return tensor;
    const Chain* chain = ChainOf(node);
    if (chain == nullptr || chain->gone == 0) return StandIn(tensor);
    const int gone = chain->gone;
    const int like = At(tensor, BlockOf(node) < chain->first ? gone : -gone);
    return like < 0 || IsGone(like) ? StandIn(tensor) : like;
  }

 private:
  struct Chain {
    std::vector<int> elements;
    bool placed = false;
    int start = 0;            // the block of its first element, among those of its family
    int first = 0, gone = 0;  // the blocks of its family that go: [first, first + gone)
  };

  void MakeChains() {
    for (size_t e = 0; e < next_.size(); ++e) {
      if (before_[e] >= 0 || next_[e] < 0) continue;
      Chain chain;
      for (int at = static_cast<int>(e); at >= 0; at = next_[at]) {
        chain_of_[at] = static_cast<int>(chains_.size());
        place_[at] = static_cast<int>(chain.elements.size());
        chain.elements.push_back(at);
      }
      chains_.push_back(std::move(chain));
    }
  }

  // A family are chains whose elements stand in the same way to those of each other in every block.
  // Blocks are numbered along it, from the longest chain on.
  void MakeFamilies() {
    std::vector<int> order(chains_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return chains_[a].elements.size() > chains_[b].elements.size();
    });
    for (const int first : order) {
      if (!chains_[first].placed) MakeFamily(first);
    }
  }

  void MakeFamily(int first) {
    std::vector<int> family = {first};
    chains_[first].placed = true;
    const size_t shortest = chains_[first].elements.size() * 3 / 4;
    for (size_t done = 0; done < family.size(); ++done) {
      const Chain& chain = chains_[family[done]];
      const int middle = chain.elements[chain.elements.size() / 2];
      for (const int u : uses_of_[middle]) {
        const int other = uses_[u].tensor == middle ? uses_[u].node : uses_[u].tensor;
        if (chain_of_[other] < 0 || !IsRegular(u)) continue;
        Chain& neighbour = chains_[chain_of_[other]];
        if (neighbour.placed || neighbour.elements.size() < shortest) continue;
        neighbour.placed = true;
        neighbour.start = chain.start + place_[middle] - place_[other];
        family.push_back(chain_of_[other]);
      }
    }
    int begin = chains_[first].start,
        end = begin + static_cast<int>(chains_[first].elements.size());
    for (const int c : family) {
      const Chain& chain = chains_[c];
      begin = std::max(begin, chain.start);
      end = std::min(end, chain.start + static_cast<int>(chain.elements.size()));
    }
    const int gone = end - begin - 2 * kKept;
    if (gone < kLeastGone) return;
    for (const int c : family) {
      chains_[c].first = begin + kKept;
      chains_[c].gone = gone;
    }
  }

  // Whether the next elements of both ends meet in a use, too.
  bool IsRegular(int use) const {
    const int tensor = next_[uses_[use].tensor], node = next_[uses_[use].node];
    if (tensor < 0 || node < 0) return false;
    return std::any_of(uses_of_[node].begin(), uses_of_[node].end(),
                       [&](int u) { return uses_[u].tensor == tensor; });
  }

  const Chain* ChainOf(int element) const {
    return chain_of_[element] < 0 ? nullptr : &chains_[chain_of_[element]];
  }
  int BlockOf(int element) const { return ChainOf(element)->start + place_[element]; }
  // So many blocks further; -1 where the chain has none.
  int At(int element, int blocks) const {
    const std::vector<int>& elements = ChainOf(element)->elements;
    const int place = place_[element] + blocks;
    return place < 0 || place >= static_cast<int>(elements.size()) ? -1 : elements[place];
  }

  const int tensors_;
  const std::vector<TensorUse>& uses_;
  const std::vector<int> next_;
  std::vector<int> before_, chain_of_, place_;  // [element]; -1: there is none
  std::vector<std::vector<int>> uses_of_;       // [element]
  std::vector<Chain> chains_;
};

}  // namespace

absl::optional<ShortProblem> Shortened(const Graph& graph, const std::vector<TensorUse>& uses,
                                       const GridProblem& problem) {
  const Blocks blocks(graph, uses, problem);
  const auto count = static_cast<int>(problem.grids.size());
  ShortProblem result;
  std::vector<int> variable(count, -1);
  for (int e = 0; e < count; ++e) {
    if (blocks.IsGone(e)) continue;
    variable[e] = static_cast<int>(result.elements.size());
    result.elements.push_back(e);
    result.pairwise.variables.push_back(problem.pairwise.variables[e]);
  }
  if (!FewRemain(result.elements.size(), problem.grids.size())) return absl::nullopt;
  // Factors are in the order of uses, those of a node in the order of its operands.
  std::vector<int> first(count, -1), short_first(count, -1);  // [node]: its first factor
  for (size_t u = 0; u < uses.size(); ++u) {
    const TensorUse& use = uses[u];
    if (first[use.node] < 0) first[use.node] = static_cast<int>(u);
    if (variable[use.node] < 0) continue;
    const auto number = static_cast<int>(result.pairwise.factors.size());
    if (short_first[use.node] < 0) short_first[use.node] = number;
    const Factor& factor = problem.pairwise.factors[u];
    Factor& here = result.pairwise.factors.emplace_back(Factor{{}, factor.cells, factor.sum});
    for (const int v : factor.scope) {
      const int element = v == use.node ? v : blocks.Joined(v, use.node);
      if (variable[element] < 0 || problem.grids[element] != problem.grids[v]) {
        return absl::nullopt;
      }
      here.scope.push_back(variable[element]);
    }
  }
  for (int e = 0; e < count; ++e) result.stand_in.push_back(variable[blocks.StandIn(e)]);
  for (size_t u = 0; u < uses.size(); ++u) {
    const int node = uses[u].node;
    result.like.push_back(short_first[blocks.StandIn(node)] + static_cast<int>(u) - first[node]);
  }
  // Behind the uses are the factors of nodes alone.
  std::vector<int> alone(count, -1);  // [node]: its factor
  for (size_t f = uses.size(); f < problem.pairwise.factors.size(); ++f) {
    const Factor& factor = problem.pairwise.factors[f];
    const int node = factor.scope[0];
    if (variable[node] < 0) continue;
    alone[node] = static_cast<int>(result.pairwise.factors.size());
    result.pairwise.factors.push_back({{variable[node]}, factor.cells});
  }
  for (size_t f = uses.size(); f < problem.pairwise.factors.size(); ++f) {
    result.like.push_back(alone[blocks.StandIn(problem.pairwise.factors[f].scope[0])]);
  }
  return result;
}

MessageState Tiled(const ShortProblem& problem, const MessageState& messages) {
  MessageState tiled;
  for (const int side : {0, 1}) {
    for (const int factor : problem.like) tiled[side].push_back(messages[side][factor]);
  }
  return tiled;
}

}  // namespace yuba::search
