#include "search/portfolio/flat_may_differ.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace yuba::search {
namespace {

// Whether axes of these classes, in every order, cut the factors from `factor` on into whole ones:
// each axis divides what is still whole of the factor that it comes to. `left` is what is still
// whole of factors[factor].
bool Nests(const std::vector<int64_t>& factors, size_t factor, int64_t left,
           const std::vector<AxisClass>& axes) {
  while (left == 1 && ++factor < factors.size()) left = factors[factor];
  if (factor == factors.size()) return true;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i > 0 && axes[i] == axes[i - 1]) continue;
    std::vector<AxisClass> others = axes;
    others.erase(others.begin() + static_cast<int64_t>(i));
    const int size = axes[i].size;
    if (left % size != 0 || !Nests(factors, factor, left / size, others)) return false;
  }
  return true;
}

// Whether the definition reads one tensor along two orders of indices, as x + transpose(x) does.
bool ReadsTwoViews(const Definition& definition) {
  const auto indices_of = [](const Affine& position) {
    std::set<int> indices;
    for (const auto& term : position.terms) indices.insert(term.first);
    return indices;
  };
  std::map<int, std::vector<Affine>> first;  // operand -> the position of its first read
  bool two = false;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead) return;
    const std::vector<Affine>& other = first.emplace(expr.operand, expr.position).first->second;
    for (size_t d = 0; d < other.size(); ++d) {
      const std::set<int> a = indices_of(expr.position[d]), b = indices_of(other[d]);
      two = two || (!a.empty() && !b.empty() && a != b);
    }
  });
  return two;
}

// Whether the boxes that the definition reads may hold more elements than would move through a
// tensor of flat dimensions in between.
bool MayReadLooseBoxes(const Definition& definition) {
  return definition.reducer == Reducer::kPick || ReadsTwoViews(definition);
}

}  // namespace

bool FactorsMayNotNest(const Graph& graph, const Mesh& mesh) {
  std::vector<AxisClass> axes;
  for (const MeshAxis& axis : mesh.axes) axes.push_back(axis.axis_class());
  std::sort(axes.begin(), axes.end());
  std::set<std::vector<int64_t>> known;
  for (const Tensor& tensor : graph.tensors) {
    for (const std::vector<int64_t>& factors : tensor.dims) {
      if (factors.size() < 2 || !known.insert(factors).second) continue;
      if (!Nests(factors, 0, factors[0], axes)) return true;
    }
  }
  return false;
}

bool HasLooseBoxes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return MayReadLooseBoxes(*node.definition); });
}

bool ComputesAlike(const Graph& a, const Graph& b) {
  const auto same_tensor = [](const Tensor& x, const Tensor& y) {
    return x.kind == y.kind && x.type == y.type && x.dims == y.dims;
  };
  const auto same_node = [](const Node& x, const Node& y) {
    return x.entry == y.entry && x.operands == y.operands && x.result == y.result &&
           (x.definition == y.definition || *x.definition == *y.definition);
  };
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    same_tensor) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
         a.inputs == b.inputs && a.outputs == b.outputs;
}

}  // namespace yuba::search
