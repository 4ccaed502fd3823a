#include "compiler/layout/order_dims.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "opsemantics/base/box.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::compiler {
namespace {

// The table where index i of its definition is numbers[i]; its indices are ascending again.
ValueTablePtr WithIndices(const ValueTable& table, const std::vector<int>& numbers) {
  DimOrder order;
  for (size_t i = 0; i < table.indices.size(); ++i) order.push_back(static_cast<int>(i));
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return numbers[table.indices[a]] < numbers[table.indices[b]]; });
  auto moved = std::make_shared<ValueTable>();
  Box box;
  std::vector<int64_t> strides(order.size(), 1);  // in `table`
  for (size_t i = order.size(); i-- > 1;) strides[i - 1] = strides[i] * table.extents[i];
  for (const int index : InOrder(table.indices, order)) moved->indices.push_back(numbers[index]);
  moved->extents = InOrder(table.extents, order);
  strides = InOrder(strides, order);
  for (const int64_t extent : moved->extents) box.push_back({0, extent});
  ForEachPoint(box, [&](const std::vector<int64_t>& point) {
    int64_t at = 0;
    for (size_t i = 0; i < point.size(); ++i) at += point[i] * strides[i];
    moved->values.push_back(table.values[at]);
  });
  return moved;
}

// Puts the indices into an order: for each place which index stands there.
void OrderIndices(const std::vector<int>& order, Definition& definition) {
  std::vector<int> numbers(order.size());
  std::vector<Affine> moved(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    numbers[order[place]] = static_cast<int>(place);
    moved[order[place]] = IndexAffine(static_cast<int>(place));
  }
  std::vector<int> same(definition.operands.size());
  for (size_t k = 0; k < same.size(); ++k) same[k] = static_cast<int>(k);
  definition.indices = InOrder(definition.indices, order);
  for (Affine& left : definition.left) left = Substitute(left, moved);
  for (Constraint& constraint : definition.where)
    constraint.expression = Substitute(constraint.expression, moved);
  for (DataCondition& condition : definition.data_where) {
    condition.index = Substitute(condition.index, moved);
    condition.value = Substitute(condition.value, moved, same);
    if (condition.table != nullptr) condition.table = WithIndices(*condition.table, numbers);
  }
  definition.body = Substitute(definition.body, moved, same);
  ShareTerms(definition);
}

// The largest operand whose order changes; -1: none does.
int LargestOrdered(const Definition& definition, const std::vector<DimOrder>& orders) {
  int largest = -1;
  for (size_t k = 0; k < definition.operands.size(); ++k) {
    if (orders[k].empty()) continue;
    if (largest < 0 ||
        ElementCount(definition.operands[k]) > ElementCount(definition.operands[largest]))
      largest = static_cast<int>(k);
  }
  return largest;
}

// [index]: its place among the dimensions of `operand`; indices that have none stand behind.
std::vector<int> PlacesIn(const Definition& definition, int operand) {
  std::vector<int> places(definition.indices.size(), std::numeric_limits<int>::max());
  VisitReads(definition, operand, [&](const Expr& read) {
    for (size_t d = 0; d < read.position.size(); ++d) {
      for (const auto& [index, coefficient] : read.position[d].terms)
        places[index] = std::min(places[index], static_cast<int>(d));
    }
  });
  return places;
}

// Output indices as the result has them, then reduction indices: those of a sum, whose terms have
// no order of their own, as they run through memory.
std::vector<int> OrderOfIndices(const Definition& definition, const std::vector<DimOrder>& orders) {
  std::vector<int> order;
  for (const Affine& left : definition.left) {
    if (left.BareIndex() >= 0) order.push_back(left.BareIndex());
  }
  const size_t outputs = order.size();
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    if (definition.indices[i].reduction) order.push_back(static_cast<int>(i));
  }
  YUBA_CHECK(order.size() == definition.indices.size()) << ToString(definition);
  const int largest = LargestOrdered(definition, orders);
  if (definition.reducer != Reducer::kSum || largest < 0) return order;
  const std::vector<int> places = PlacesIn(definition, largest);
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(outputs), order.end(),
                   [&](int a, int b) { return places[a] < places[b]; });
  return order;
}

// A definition and the orders of what it reads and computes, and what it is then. Nodes that share
// a definition share what it becomes.
class OrderedDefinitions {
 public:
  struct Ordered {
    std::shared_ptr<const Definition> definition;
    std::vector<int> indices;  // for each which one it was
  };
  const Ordered& Of(const std::shared_ptr<const Definition>& definition,
                    const std::vector<DimOrder>& orders) {
    const auto [known, is_new] = ordered_.try_emplace({definition, orders});
    if (is_new) {
      Definition changed = *definition;
      known->second.indices = OrderDims(orders, changed);
      known->second.definition = std::make_shared<Definition>(std::move(changed));
    }
    return known->second;
  }

 private:
  std::map<std::pair<std::shared_ptr<const Definition>, std::vector<DimOrder>>, Ordered> ordered_;
};

}  // namespace

std::vector<int> OrderDims(const std::vector<DimOrder>& orders, Definition& definition) {
  YUBA_CHECK(!IsOpaque(definition)) << ToString(definition);
  RewriteReads(definition, [&](const Expr& read) -> ExprPtr {
    if (orders[read.operand].empty()) return nullptr;
    auto moved = std::make_shared<Expr>(read);
    moved->position = InOrder(read.position, orders[read.operand]);
    return moved;
  });
  for (size_t k = 0; k < definition.operands.size(); ++k)
    definition.operands[k].dims = InOrder(definition.operands[k].dims, orders[k]);
  definition.result.dims = InOrder(definition.result.dims, orders.back());
  definition.left = InOrder(definition.left, orders.back());
  std::vector<int> order = OrderOfIndices(definition, orders);
  OrderIndices(order, definition);
  return order;
}

Layouts OrderTensors(const DimOrders& orders, Graph& graph, search::Plan& plan) {
  Layouts layouts;
  for (const auto& [id, order] : orders) {
    Tensor& tensor = graph.tensors[id];
    YUBA_CHECK(IsOrderOf(order, tensor.type.dims.size()) && !order.empty()) << tensor.name;
    layouts[id] = {order, WholeDims(tensor)};
    tensor.type.dims = InOrder(tensor.type.dims, order);
    tensor.dims.clear();
    for (const int64_t dim : tensor.type.dims) tensor.dims.push_back({dim});
    tensor.dim_names.clear();
    plan.tensors[id].axes = InOrder(plan.tensors[id].axes, order);
  }
  const auto order_of = [&](TensorId id) {
    const auto found = orders.find(id);
    return found == orders.end() ? DimOrder() : found->second;
  };
  OrderedDefinitions definitions;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    std::vector<DimOrder> of_node;
    bool changes = false;
    for (const TensorId operand : node.operands) of_node.push_back(order_of(operand));
    of_node.push_back(order_of(node.result));
    for (const DimOrder& order : of_node) changes |= !order.empty();
    if (!changes) continue;
    const OrderedDefinitions::Ordered& ordered = definitions.Of(node.definition, of_node);
    node.definition = ordered.definition;
    plan.nodes[n].axes = InOrder(plan.nodes[n].axes, ordered.indices);
  }
  return layouts;
}

}  // namespace yuba::compiler
