#include "search/rewrite/canonical.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "opsemantics/definition/shared_terms.h"

namespace yuba::search {
namespace {

using Hash = uint64_t;

Hash Mix(Hash hash, Hash value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  hash *= 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 31);
}

// What counts of a definition: with its offsets, the constants in what it reads of its operands, or
// without, as the slices of an input for each step of a loop are alike.
enum class Offsets : uint8_t { kCount, kIgnored };

Hash HashOf(const Affine& affine, Offsets offsets = Offsets::kCount) {
  Hash hash = Mix(1, offsets == Offsets::kCount ? static_cast<Hash>(affine.constant) : 0);
  for (const auto& [index, coefficient] : affine.terms) {
    hash = Mix(Mix(hash, index), static_cast<Hash>(coefficient));
  }
  return hash;
}

Hash HashOf(const TensorType& type) {
  Hash hash = Mix(2, static_cast<Hash>(type.type));
  for (int64_t dim : type.dims) hash = Mix(hash, static_cast<Hash>(dim));
  return hash;
}

Hash HashOfNode(Hash hash, const Expr& expr, Offsets offsets) {
  hash = Mix(Mix(hash, expr.kind), static_cast<Hash>(expr.function));
  hash = Mix(hash, static_cast<Hash>(expr.operand));
  for (const Affine& affine : expr.position) hash = Mix(hash, HashOf(affine, offsets));
  return hash;
}

Hash HashOfTree(Hash hash, const Expr& expr, Offsets offsets) {
  hash = HashOfNode(hash, expr, offsets);
  for (const ExprPtr& arg : expr.args) hash = HashOfTree(hash, *arg, offsets);
  return hash;
}

// Of the functions and reads of a body: as a tree, or of its distinct terms where the tree would be
// very large. Equal bodies have equal hashes, however their terms are shared.
Hash HashOfBody(Hash hash, const ExprPtr& body, Offsets offsets) {
  constexpr int64_t kLargestHashedTree = 1 << 14;
  if (TreeSize(body) <= kLargestHashedTree) return HashOfTree(hash, *body, offsets);
  SharedTerms terms;
  std::unordered_map<const Expr*, Hash> numbers;  // of a term: how many come before it
  Walk(terms.Of(body), [&](const Expr& expr) {
    hash = HashOfNode(hash, expr, offsets);
    for (const ExprPtr& arg : expr.args) {
      hash = Mix(hash, numbers.emplace(arg.get(), numbers.size()).first->second);
    }
  });
  return hash;
}

// Of all that decides boxes, and of the functions and reads in the body; not of names.
Hash HashOf(const Definition& definition, Offsets offsets = Offsets::kCount) {
  Hash hash = Mix(3, static_cast<Hash>(definition.reducer));
  hash = Mix(hash, definition.partial);
  for (int operand : definition.partial_operands) hash = Mix(hash, static_cast<Hash>(operand));
  for (const Index& index : definition.indices) {
    hash = Mix(Mix(hash, static_cast<Hash>(index.extent)), index.reduction);
  }
  for (const TensorType& operand : definition.operands) hash = Mix(hash, HashOf(operand));
  hash = Mix(hash, HashOf(definition.result));
  for (const Affine& left : definition.left) hash = Mix(hash, HashOf(left));
  for (const Constraint& constraint : definition.where) {
    hash = Mix(Mix(hash, HashOf(constraint.expression)), constraint.equality);
  }
  for (const DataCondition& condition : definition.data_where) {
    if (condition.table == nullptr) continue;
    for (int index : condition.table->indices) hash = Mix(hash, static_cast<Hash>(index));
    for (int64_t value : condition.table->values) hash = Mix(hash, static_cast<Hash>(value));
  }
  return HashOfBody(hash, definition.body, offsets);
}

}  // namespace

std::vector<int> DefinitionNumbers(const Graph& graph) {
  std::unordered_map<Hash, std::vector<std::pair<const Definition*, int>>> known;
  std::map<std::pair<const Definition*, int64_t>, int> by_address;
  std::vector<int> numbers;
  int count = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Definition* definition = graph.nodes[n].definition.get();
    const int64_t times = TimesOf(graph, static_cast<NodeId>(n));
    auto [place, is_new] = by_address.emplace(std::make_pair(definition, times), -1);
    if (is_new) {
      auto& alike = known[Mix(HashOf(*definition), static_cast<Hash>(times))];
      for (const auto& [other, number] : alike) {
        if (*other == *definition) place->second = number;
      }
      if (place->second < 0) {
        place->second = count;
        alike.push_back({definition, count++});
      }
    }
    numbers.push_back(place->second);
  }
  return numbers;
}

int ProgramPosition(const Graph& graph, int element) {
  const int tensors = static_cast<int>(graph.tensors.size());
  if (element >= tensors) return 3 * (element - tensors) + 1;
  const Tensor& tensor = graph.tensors[element];
  if (tensor.producer >= 0) return 3 * tensor.producer + 2;
  return tensor.consumers.empty() ? -1 : 3 * tensor.consumers[0];
}

namespace {

// [element]: of its type or definition alone.
std::vector<Hash> OwnHashes(const Graph& graph, Offsets offsets) {
  std::vector<Hash> hash;
  for (const Tensor& tensor : graph.tensors) {
    hash.push_back(Mix(HashOf(tensor.type), Mix(static_cast<Hash>(tensor.kind), tensor.output)));
  }
  std::unordered_map<const Definition*, Hash> of_definition;
  for (const Node& node : graph.nodes) {
    auto [place, is_new] = of_definition.emplace(node.definition.get(), 0);
    if (is_new) place->second = HashOf(*node.definition, offsets);
    const int64_t times = graph.entries[node.entry].times;
    hash.push_back(times == 1 ? place->second : Mix(place->second, static_cast<Hash>(times)));
  }
  return hash;
}

}  // namespace

std::vector<int> CanonicalOrder(const Graph& graph) {
  const size_t tensors = graph.tensors.size();
  std::vector<Hash> hash = OwnHashes(graph, Offsets::kCount);
  // A forward pass mixes in what is upstream, a backward pass what is downstream. In the second
  // round each hash also learns what is downstream of its inputs and upstream of its readers.
  auto sweep_node = [&](size_t n) {
    const Node& node = graph.nodes[n];
    for (TensorId operand : node.operands)
      hash[tensors + n] = Mix(hash[tensors + n], hash[operand]);
    hash[node.result] = Mix(hash[node.result], hash[tensors + n]);
  };
  auto sweep_back = [&](size_t n) {
    const Node& node = graph.nodes[n];
    hash[tensors + n] = Mix(hash[tensors + n], hash[node.result]);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      hash[node.operands[o]] += Mix(hash[tensors + n], o);  // a sum: readers come in any order
    }
  };
  for (int round = 0; round < 2; ++round) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) sweep_node(n);
    for (size_t n = graph.nodes.size(); n-- > 0;) sweep_back(n);
  }
  std::vector<int> order(hash.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return hash[a] < hash[b]; });
  return order;
}

// Of nodes that read more tensors, sums and concatenations of steps, all operands count as alike.
constexpr size_t kMany = 8;

std::vector<uint64_t> SurroundingHashes(const Graph& graph, int uses, const std::vector<int>& own) {
  const size_t tensors = graph.tensors.size();
  std::vector<Hash> hash = OwnHashes(graph, Offsets::kIgnored);
  for (size_t e = 0; e < own.size(); ++e) hash[e] = Mix(hash[e], static_cast<Hash>(own[e]));
  for (int round = 0; round < uses; ++round) {
    std::vector<Hash> wider = hash;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      const bool many = node.operands.size() > kMany;
      Hash& here = wider[tensors + n];
      here = Mix(here, hash[node.result]);
      // Sums, since readers come in any order.
      wider[node.result] += Mix(hash[tensors + n], node.operands.size());
      for (size_t o = 0; o < node.operands.size(); ++o) {
        here = Mix(here, hash[node.operands[o]]);
        wider[node.operands[o]] += Mix(hash[tensors + n], many ? 0 : o);
      }
    }
    hash = std::move(wider);
  }
  return hash;
}

}  // namespace yuba::search
