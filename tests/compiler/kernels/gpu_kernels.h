// Kernels for GPUs of definitions written by hand, with all of their arguments known.
#ifndef YUBA_TESTS_COMPILER_KERNELS_GPU_KERNELS_H_
#define YUBA_TESTS_COMPILER_KERNELS_GPU_KERNELS_H_

#include <utility>
#include <vector>

#include "compiler/kernels/argument_layout.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/named_kernel.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {

// The arguments of a kernel that computes all of its definitions, in buffers that hold all of their
// tensors.
inline KnownArguments AllOf(const NamedKernel& kernel) {
  const ArgumentLayout layout(kernel);
  KnownArguments known(2 * layout.indices);
  for (const KernelDefinition& each : kernel.definitions) {
    for (size_t index = 0; index < each.indices.size(); ++index)
      known[EndArgument(each.indices[index])].offset = each.definition->indices[index].extent;
  }
  for (const int rank : layout.ranks) known.resize(known.size() + 2 * rank);
  const auto set = [&](const KernelTensor& tensor, const TensorType& type) {
    if (tensor.kind == KernelTensor::kInternal) return;
    for (size_t d = 0; d < type.dims.size(); ++d)
      known[layout.BoxArgument(tensor) + 2 * d + 1].offset = type.dims[d];
  };
  for (const KernelDefinition& each : kernel.definitions) {
    for (size_t o = 0; o < each.operands.size(); ++o)
      set(each.operands[o], each.definition->operands[o]);
    set(each.computes, each.definition->result);
  }
  return known;
}

inline std::vector<int64_t> DimsAt(const std::vector<int64_t>& extents,
                                   const std::vector<Affine>& position) {
  std::vector<int64_t> dims;
  for (const Affine& at : position) dims.push_back(extents[at.BareIndex()]);
  return dims;
}

// y[i, j, ...] = -x0[position].
inline Definition Map(const std::vector<int64_t>& extents, std::vector<Affine> position) {
  const std::vector<int64_t> dims = DimsAt(extents, position);
  return Define(extents, static_cast<int>(extents.size()), Reducer::kNone, {dims},
                Call(Function::kNeg, {Read(0, std::move(position))}));
}

// y = reducer over all but the first `outputs` indices of x0[position].
inline Definition Reduce(Reducer reducer, const std::vector<int64_t>& extents, int outputs,
                         std::vector<Affine> position) {
  const std::vector<int64_t> dims = DimsAt(extents, position);
  return Define(extents, outputs, reducer, {dims}, Read(0, std::move(position)));
}

// y[i, j] = f(x0[i, j] + x1[j, i] + x2[i, j] + ...): so many operands of each order.
inline Definition SumOfTurned(int64_t rows, int64_t columns, ElementType type, int of_each = 1) {
  const Affine i = IndexAffine(0), j = IndexAffine(1);
  Definition sum = Map({rows, columns}, {i, j});
  sum.operands.clear();
  sum.body = nullptr;
  for (int o = 0; o < 2 * of_each; ++o) {
    const bool turned = o % 2 == 1;
    const std::vector<Affine> position =
        turned ? std::vector<Affine>{j, i} : std::vector<Affine>{i, j};
    sum.operands.push_back({type, DimsAt({rows, columns}, position)});
    ExprPtr term = Read(o, position);
    sum.body = o == 0 ? term : Call(Function::kAdd, {sum.body, term});
  }
  sum.result.type = type;
  return sum;
}

// A softmax of rows as one kernel of three definitions, which must outlive its uses.
class Softmax {
 public:
  Softmax(int64_t rows, int64_t columns) {
    const Affine i = IndexAffine(0), j = IndexAffine(1);
    const std::vector<int64_t> extents = {rows, columns};
    const auto difference = [&] {
      return Call(Function::kExp, {Call(Function::kSub, {Read(0, {i, j}), Read(1, {i})})});
    };
    most_ = Reduce(Reducer::kMax, extents, 1, {i, j});
    sum_ = Define(extents, 1, Reducer::kSum, {extents, {rows}}, difference());
    quotient_ = Define(extents, 2, Reducer::kNone, {extents, {rows}, {rows}},
                       Call(Function::kDiv, {difference(), Read(2, {i})}));
  }

  NamedKernel kernel() const {
    const KernelTensor x{KernelTensor::kOperand, 0}, m{KernelTensor::kInternal, 0},
        s{KernelTensor::kInternal, 1}, y{KernelTensor::kResult, 0};
    NamedKernel kernel;
    kernel.symbol = "softmax";
    kernel.shared = 1;
    kernel.definitions = {
        {&most_, {0, 1}, {x}, m}, {&sum_, {0, 2}, {x, m}, s}, {&quotient_, {0, 3}, {x, m, s}, y}};
    return kernel;
  }

 private:
  Definition most_, sum_, quotient_;
};

// Sums down columns of x and of x * y, and what follows each: m = sum x / 4 and v = sum x * y - m *
// m, of which sum x * y has no memory. Must outlive its uses.
class SumsOfColumns {
 public:
  SumsOfColumns(int64_t rows, int64_t columns) {
    const Affine i = IndexAffine(0), j = IndexAffine(1);
    const auto times = [](ExprPtr a, ExprPtr b) {
      return Call(Function::kMul, {std::move(a), std::move(b)});
    };
    const std::vector<int64_t> matrix = {rows, columns};
    sum_ = Define({columns, rows}, 1, Reducer::kSum, {matrix}, Read(0, {j, i}));
    mean_ = Define({columns}, 1, Reducer::kNone, {{columns}}, times(Read(0, {i}), Number(0.25)));
    product_ = Define({columns, rows}, 1, Reducer::kSum, {matrix, matrix},
                      times(Read(0, {j, i}), Read(1, {j, i})));
    rest_ = Define({columns}, 1, Reducer::kNone, {{columns}, {columns}},
                   Call(Function::kSub, {Read(0, {i}), times(Read(1, {i}), Read(1, {i}))}));
  }

  // Operands x and y; results sum x, m and v.
  NamedKernel kernel() const {
    const KernelTensor x{KernelTensor::kOperand, 0}, y{KernelTensor::kOperand, 1},
        s{KernelTensor::kResult, 0}, m{KernelTensor::kResult, 1}, v{KernelTensor::kResult, 2},
        products{KernelTensor::kInternal, 0};
    NamedKernel kernel;
    kernel.symbol = "columns";
    kernel.shared = 1;
    kernel.definitions = {{&sum_, {0, 1}, {x}, s},
                          {&mean_, {0}, {s}, m},
                          {&product_, {0, 2}, {x, y}, products},
                          {&rest_, {0}, {products, m}, v}};
    return kernel;
  }
  // [definition]
  std::vector<const Definition*> definitions() const { return {&sum_, &mean_, &product_, &rest_}; }

 private:
  Definition sum_, mean_, product_, rest_;
};

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_GPU_KERNELS_H_
