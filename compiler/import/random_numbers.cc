#include "compiler/import/random_numbers.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/make_expr.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kStreamStep = int64_t{1} << 32;

compiler::InitialValue Initially(int64_t integer) {
  compiler::InitialValue value;
  value.kind = compiler::InitialValue::kData;
  value.data = std::make_shared<const std::string>(
      compiler::BytesFromValue(compiler::IntegerValue({}, {integer})));
  return value;
}

// The uses that the outputs need, in post-order from the outputs, operands in the order of slots.
std::vector<int> PostOrder(const OnnxGraph& graph) {
  std::vector<int> producer(graph.values.size(), -1);
  for (size_t u = 0; u < graph.uses.size(); ++u) {
    const Use& use = graph.uses[u];
    for (size_t s = 0; s < use.values.size(); ++s) {
      if (use.instance.slots[s].role != SlotRole::kOutput) continue;
      producer[use.values[s]] = static_cast<int>(u);
    }
  }
  struct Frame {
    int use;
    size_t next = 0;  // slot
  };
  std::vector<Frame> stack;
  std::vector<bool> entered(graph.uses.size(), false);
  const auto enter = [&](int value) {
    const int use = value < 0 ? -1 : producer[value];
    if (use < 0 || entered[use]) return;
    entered[use] = true;
    stack.push_back({use});
  };
  std::vector<int> order;
  for (const int output : graph.outputs) {
    enter(output);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<int>& values = graph.uses[frame.use].values;
      if (frame.next < values.size()) {
        enter(values[frame.next++]);
      } else {
        order.push_back(frame.use);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace

int RandomScalar(SlotRole role, OnnxGraph& graph) {
  int* const known = role == SlotRole::kSeed   ? &graph.seed
                     : role == SlotRole::kStep ? &graph.step
                                               : nullptr;
  if (known != nullptr && *known >= 0) return *known;
  OnnxValue value;
  if (known != nullptr) value.name = role == SlotRole::kSeed ? kSeedName : kStepName;
  value.kind = TensorKind::kState;
  value.type = ElementType::kI64;
  value.initial = Initially(0);
  graph.values.push_back(std::move(value));
  const int added = static_cast<int>(graph.values.size()) - 1;
  if (known != nullptr) *known = added;
  return added;
}

absl::Status NumberStreams(OnnxGraph& graph) {
  if (graph.seed < 0) return absl::OkStatus();
  for (const char* name : {kSeedName, kStepName}) {
    if (graph.by_name.count(name) == 0) continue;
    return UserError("the model calls a value '", name, "', which is the name of what its random ",
                     "numbers are made of: rename the value");
  }
  int64_t next = 0;
  for (const int u : PostOrder(graph)) {
    const Use& use = graph.uses[u];
    for (size_t s = 0; s < use.values.size(); ++s) {
      if (use.instance.slots[s].role != SlotRole::kStream) continue;
      graph.values[use.values[s]].initial = Initially(next++ * kStreamStep);
    }
  }
  return absl::OkStatus();
}

void CountSteps(Graph& graph) {
  const auto step =
      std::find_if(graph.tensors.begin(), graph.tensors.end(), [](const Tensor& tensor) {
        return tensor.kind == TensorKind::kState && tensor.name == kStepName;
      });
  if (step == graph.tensors.end() || step->consumers.empty()) return;
  step->next_name = absl::StrCat(step->name, "/next");
  Definition count = IdentityOf(step->type, "step");
  count.body = CallExpr(Function::kAdd, {count.body, LiteralExpr(ElementType::kI64, 1, 0)},
                        ElementType::kI64);
  const auto definition = std::make_shared<const Definition>(std::move(count));
  const auto id = static_cast<TensorId>(step - graph.tensors.begin());
  std::set<int> entries;  // those that read the step
  for (const NodeId reader : step->consumers) entries.insert(graph.nodes[reader].entry);
  for (const int entry : entries) {
    Node node;
    node.name = NameInEntry(graph.entries, entry, step->next_name);
    node.op = "count";
    node.instance = graph.nodes.back().instance + 1;
    node.entry = entry;
    node.definition = definition;
    node.operands = {id};
    node.result = id;
    graph.nodes.insert(graph.nodes.begin() + NodesOf(graph, entry).end, std::move(node));
  }
  Link(graph);
  CheckGraph(graph);
}

}  // namespace yuba::onnx
