#include "compiler/kernels/index_splits.h"

#include <algorithm>
#include <vector>

#include "compiler/kernels/loop_plan.h"

namespace yuba::kernels {
namespace {

// The innermost loop is vectorised: some of its elements are computed side by side, those that are
// left one by one, and the two may round a function like exp differently. A part of so many
// elements ends where a vector ends: no target has vectors of more than 64 small elements, unrolled
// by four.
constexpr int64_t kVectorStep = 256;

// The dimension of the result of which `index` alone is the position, or -1.
int ResultDim(const Definition& definition, int index) {
  for (size_t d = 0; d < definition.left.size(); ++d) {
    if (definition.left[d].BareIndex() == index) return static_cast<int>(d);
  }
  return -1;
}

// Whether every read moves by one position, or none, with `index`. Elements that are read in larger
// steps may make the last vector of a loop a scalar one.
bool ReadsOneByOne(const Definition& definition, int index) {
  bool all = true;
  Walk(definition.body, [&](const Expr& expr) {
    for (const Affine& at : expr.position) {
      const int64_t coefficient = Coefficient(at, index);
      all &= coefficient == 0 || coefficient == 1;
    }
  });
  return all;
}

}  // namespace

google::protobuf::RepeatedPtrField<program::IndexSplit> SplitsOf(const Definition& definition,
                                                                 Arithmetic arithmetic) {
  google::protobuf::RepeatedPtrField<program::IndexSplit> splits;
  const LoopPlan plan = PlanLoops(definition, {false, arithmetic});
  const auto is_loop = [&](int index) { return definition.indices[index].extent != 1; };
  const auto add = [&](int index, int64_t step) {
    const int dim = ResultDim(definition, index);
    if (dim < 0) return;
    program::IndexSplit* split = splits.Add();
    split->set_index(index);
    split->set_result_dim(dim);
    split->set_step(step);
  };
  std::vector<int> outer;
  std::copy_if(plan.outer.begin(), plan.outer.end(), std::back_inserter(outer), is_loop);
  const bool loops_inside = std::any_of(
      plan.steps.begin(), plan.steps.end(),
      [&](const LoopStep& step) { return step.kind != LoopStep::kLoop || is_loop(step.index); });
  for (const int index : outer) {
    const bool innermost = index == outer.back() && !loops_inside;
    if (innermost && !ReadsOneByOne(definition, index)) continue;
    add(index, innermost ? kVectorStep : index == plan.block ? kRowBlock : 1);
  }
  if (plan.mode == LoopPlan::kRow && is_loop(plan.row) && ReadsOneByOne(definition, plan.row) &&
      std::none_of(plan.bounds.begin(), plan.bounds.end(), [&](const Bound& bound) {
        return Coefficient(bound.expression, plan.row) != 0;  // the row may begin anywhere
      })) {
    add(plan.row, kRowTile);
  }
  return splits;
}

google::protobuf::RepeatedPtrField<program::IndexSplit> SplitsOf(const NamedKernel& kernel,
                                                                 Arithmetic arithmetic) {
  if (!kernel.sections.empty()) return {};  // no range is of all of it
  const KernelDefinition* first = nullptr;  // of result 0
  bool loops_inside = false;
  for (const KernelDefinition& each : kernel.definitions) {
    if (each.computes == KernelTensor{KernelTensor::kResult, 0}) first = &each;
    const std::vector<Index>& indices = each.definition->indices;
    loops_inside |= std::any_of(indices.begin() + kernel.shared, indices.end(),
                                [](const Index& index) { return index.extent != 1; });
  }
  if (kernel.shared == 0) return SplitsOf(*first->definition, arithmetic);
  google::protobuf::RepeatedPtrField<program::IndexSplit> splits;
  int last = kernel.shared - 1;  // the innermost of the loops that are shared
  while (last > 0 && first->definition->indices[last].extent == 1) --last;
  for (int index = 0; index <= last; ++index) {
    if (first->definition->indices[index].extent == 1) continue;
    const bool innermost = index == last && !loops_inside;
    const int dim = ResultDim(*first->definition, index);
    const auto one_by_one = [&](const KernelDefinition& each) {
      return ReadsOneByOne(*each.definition, index);
    };
    if (dim < 0 || (innermost && !std::all_of(kernel.definitions.begin(), kernel.definitions.end(),
                                              one_by_one))) {
      continue;
    }
    program::IndexSplit* split = splits.Add();
    split->set_index(index);
    split->set_result_dim(dim);
    split->set_step(innermost ? kVectorStep : 1);
  }
  return splits;
}

}  // namespace yuba::kernels
