#include "runtime/cuda/library/cublas_lt_epilogue.h"

namespace yuba::cuda {
namespace {

using program::PostOp;

// Takes the steps one after the other.
class Epilogue {
 public:
  Epilogue(const runtime::LibraryShape& shape, const runtime::ProductPlan& plan)
      : shape_(shape), plan_(plan) {}

  absl::optional<LtEpilogue> Make() {
    if (shape_.post_ops.empty()) return LtEpilogue();
    if (plan_.c.packed || !plan_.sums.empty()) return absl::nullopt;
    for (int step = 0; step < static_cast<int>(shape_.post_ops.size()); ++step) {
      if (made_.activation != LtEpilogue::kNone || !Take(step)) return absl::nullopt;
    }
    return made_;
  }

 private:
  bool Take(int number) {
    const runtime::PostOpShape& step = shape_.post_ops[number];
    switch (step.kind) {
      case PostOp::SCALE: {
        const bool first = number == 0;
        made_.alpha = step.factor;
        return first;
      }
      case PostOp::ADD:
        if (made_.bias < 0 && IsBias(step)) {
          made_.bias = number;
          return true;
        }
        return TakeResidual(number, 1);
      case PostOp::SUBTRACT: return TakeResidual(number, -1);
      case PostOp::RELU: made_.activation = LtEpilogue::kRelu; return true;
      case PostOp::GELU_TANH: made_.activation = LtEpilogue::kGeluTanh; return true;
      default: return false;
    }
  }

  bool TakeResidual(int number, double beta) {
    if (made_.residual >= 0 || !IsResidual(shape_.post_ops[number])) return false;
    made_.residual = number;
    made_.beta = beta;
    return true;
  }

  // By how much a step along the index moves in the operand; 0 along one of a single value.
  static int64_t StepOf(const runtime::StridedIndex& index, const runtime::PostOpShape& step) {
    return index.extent > 1 ? index.post[step.number] : 0;
  }

  bool IsBias(const runtime::PostOpShape& step) const {
    return StepOf(plan_.c_row, step) == 0 && (plan_.n == 1 || StepOf(plan_.c_column, step) == 1);
  }

  bool IsResidual(const runtime::PostOpShape& step) const {
    return (plan_.m == 1 || StepOf(plan_.c_row, step) >= plan_.n) &&
           (plan_.n == 1 || StepOf(plan_.c_column, step) == 1);
  }

  const runtime::LibraryShape& shape_;
  const runtime::ProductPlan& plan_;
  LtEpilogue made_;
};

}  // namespace

absl::optional<LtEpilogue> EpilogueOf(const runtime::LibraryShape& shape,
                                      const runtime::ProductPlan& plan) {
  return Epilogue(shape, plan).Make();
}

absl::optional<runtime::ProductPlan> PlanWithEpilogue(const runtime::LibraryShape& shape) {
  return runtime::PlanProduct(
      shape, [&](const runtime::ProductPlan& plan) { return EpilogueOf(shape, plan).has_value(); });
}

}  // namespace yuba::cuda
