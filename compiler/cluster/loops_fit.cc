#include "compiler/cluster/loops_fit.h"

#include <algorithm>
#include <set>

#include "compiler/kernels/loop_plan.h"
#include "compiler/spmd/own_slice.h"

namespace yuba::compiler {
namespace {

// What one function may hold: the code of more is spilled from registers and slow to compile.
constexpr size_t kMostNodes = 16, kMostTensors = 24;
constexpr int kMostExpressions = 512;

}  // namespace

bool FitOneFunction(const std::vector<const Node*>& nodes) {
  std::set<TensorId> tensors;
  int expressions = 0;
  for (const Node* node : nodes) {
    tensors.insert(node->operands.begin(), node->operands.end());
    tensors.insert(node->result);
    Walk(*node->definition, [&](const Expr&) { ++expressions; });
  }
  return nodes.size() <= kMostNodes && tensors.size() <= kMostTensors &&
         expressions <= kMostExpressions;
}

bool HaveInCommon(const Graph& graph, const Node& writer, const Node& reader) {
  return std::any_of(reader.operands.begin(), reader.operands.end(), [&](TensorId operand) {
    if (operand == writer.result) return true;
    const auto& others = writer.operands;
    const bool both = std::find(others.begin(), others.end(), operand) != others.end();
    const int64_t elements = ElementCount(graph.tensors[operand].type);
    return both && elements > 1 && elements >= ElementCount(reader.definition->result);
  });
}

bool LoopsFit(const Definition& definition, int shared) {
  using kernels::LoopPlan;
  for (const Arithmetic arithmetic : {Arithmetic::kFloat, Arithmetic::kHash}) {
    kernels::LoopOptions options;
    options.arithmetic = arithmetic;
    const LoopPlan plan = kernels::PlanLoops(definition, options);
    if (plan.mode != LoopPlan::kMap && plan.mode != LoopPlan::kRegister) return false;
    if (static_cast<int>(plan.outer.size()) < shared) return false;
    for (int index = 0; index < shared; ++index) {
      if (plan.outer[index] != index) return false;
    }
  }
  return true;
}

bool BeginAlike(const Definition& a, const Definition& b, int shared) {
  const size_t count = shared;
  if (a.indices.size() < count || b.indices.size() < count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (a.indices[i].reduction || b.indices[i].reduction) return false;
    if (a.indices[i].extent != b.indices[i].extent) return false;
  }
  return true;
}

bool ReadOwnSlices(const Node& a, const Node& b, int shared) {
  const auto reads = [&](const Node& reader, const Node& writer) {
    for (size_t o = 0; o < reader.operands.size(); ++o) {
      if (reader.operands[o] == writer.result &&
          !ReadsOwnSlice(*reader.definition, static_cast<int>(o), *writer.definition, shared)) {
        return false;
      }
    }
    return true;
  };
  return reads(a, b) && reads(b, a);
}

}  // namespace yuba::compiler
