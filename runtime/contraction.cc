#include "runtime/contraction.h"

#include <algorithm>

#include "runtime/program/enums.h"
#include "runtime/program/library_windows.h"

namespace yuba::runtime {
namespace {

// Offsets and strides of one tensor of a library call.
struct TensorPosition {
  TensorPosition(const LoadedProgram& program, const program::Access& access, int device)
      : box(program.BufferBox(access.buffer(), device)), strides(DenseStrides(box)) {
    const Box touched = program.BoxOf(access.box(), device);
    // An empty interval may begin anywhere, also where there is no memory.
    for (size_t d = 0; d < box.size(); ++d) {
      begins.push_back(touched[d].empty() ? box[d].begin : touched[d].begin);
    }
  }

  int64_t Step(int dim) const { return dim >= 0 ? strides[dim] : 0; }
  // Of the first element that the access touches.
  int64_t Offset() const {
    int64_t offset = 0;
    for (size_t d = 0; d < box.size(); ++d) offset += (begins[d] - box[d].begin) * strides[d];
    return offset;
  }

  Box box;
  std::vector<int64_t> strides, begins;
};

bool IsContiguous(const StridedIndex& outer, const StridedIndex& inner) {
  return outer.left == inner.left * inner.extent && outer.right == inner.right * inner.extent &&
         outer.result == inner.result * inner.extent;
}

// What the call's indices write, within the box of the result.
Box WrittenBox(const LoadedProgram& program, const program::Kernel& kernel, int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  Box written = program.BoxOf(kernel.results(0).box(), device);
  if (IsEmpty(written)) return written;
  auto narrow = [&](int dim, int index) {
    if (dim >= 0) written[dim] = program.IntervalOf(kernel.indices(index), device);
  };
  for (const auto* role :
       {&call.batch(), &call.groups(), &call.rows(), &call.columns(), &call.inner()}) {
    for (const program::LibraryIndex& index : *role) narrow(index.result_dim(), index.index());
  }
  for (const program::LibraryWindow& window : call.windows()) {
    const ConvolutionTensors tensors = TensorsOf(call.kind());
    const WindowParts parts = PartsOf(program, kernel, window, device);
    const auto write = [&](LibraryTensor tensor, int dim, const Interval& part) {
      if (tensor == LibraryTensor::kResult && dim >= 0) written[dim] = part;
    };
    write(tensors.output, window.output_dim(), parts.output);
    write(tensors.filter, window.filter_dim(), parts.taps);
    write(tensors.input, window.input_dim(), parts.input);
  }
  return written;
}

// The index at `position`; behind the end stands an index of extent 1, for "none of them".
StridedIndex Choose(const std::vector<StridedIndex>& indices, size_t position) {
  return position < indices.size() ? indices[position] : StridedIndex{};
}

// The layout of a rows x columns operand.
MatrixLayout LayoutOf(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step,
                      bool may_transpose) {
  MatrixLayout layout;
  layout.row_step = row_step;
  layout.column_step = column_step;
  if ((column_step == 1 || columns == 1) && (row_step >= columns || rows == 1)) {
    layout.leading = std::max(row_step, columns);
  } else if (may_transpose && (row_step == 1 || rows == 1) &&
             (column_step >= rows || columns == 1)) {
    layout.transposed = true;
    layout.leading = std::max(column_step, rows);
  } else {
    layout.packed = true;
    layout.leading = columns;
  }
  return layout;
}

void AddRest(const std::vector<StridedIndex>& indices, size_t chosen,
             std::vector<StridedIndex>& loops) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i != chosen) loops.push_back(indices[i]);
  }
}

double Steps(const std::vector<StridedIndex>& loops) {
  double steps = 1;
  for (const StridedIndex& loop : loops) steps *= static_cast<double>(loop.extent);
  return steps;
}

// Rough nanoseconds, to compare arrangements: small sides do not fill the vector units, a call and
// each packed element have a price.
double CostOf(const ProductPlan& plan) {
  const double m = std::max<double>(plan.m, 6), n = std::max<double>(plan.n, 16);
  const double k = static_cast<double>(plan.k);
  double each = 2 * m * n * k / 100 + 500;
  if (plan.a.packed) each += static_cast<double>(plan.m) * k;
  if (plan.b.packed) each += static_cast<double>(plan.n) * k;
  double cost = each * Steps(plan.loops) * Steps(plan.sums);
  if (plan.c.packed) cost += Steps(plan.loops) * static_cast<double>(plan.m * plan.n);
  return cost;
}

ProductPlan Arrange(const StridedIndex& m, const StridedIndex& n, const StridedIndex& k,
                    bool swapped) {
  ProductPlan plan;
  plan.swapped = swapped;
  plan.k = k.extent;
  plan.m = swapped ? n.extent : m.extent;
  plan.n = swapped ? m.extent : n.extent;
  if (swapped) {
    plan.a = LayoutOf(plan.m, plan.k, n.right, k.right, true);
    plan.b = LayoutOf(plan.k, plan.n, k.left, m.left, true);
    plan.c = LayoutOf(plan.m, plan.n, n.result, m.result, false);
  } else {
    plan.a = LayoutOf(plan.m, plan.k, m.left, k.left, true);
    plan.b = LayoutOf(plan.k, plan.n, k.right, n.right, true);
    plan.c = LayoutOf(plan.m, plan.n, m.result, n.result, false);
  }
  return plan;
}

}  // namespace

LibraryShape ShapeOf(const LoadedProgram& program, const program::Kernel& kernel, int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  LibraryShape shape;
  const Box written = WrittenBox(program, kernel, device);
  shape.no_result = IsEmpty(written);
  if (shape.no_result) return shape;
  shape.type = FromProto(call.type());
  shape.result_type = program.type(kernel.results(0).buffer());
  shape.result = WalkOf(written, {program.BufferBox(kernel.results(0).buffer(), device)});
  for (const program::Range& range : kernel.indices()) {
    if (program.IntervalOf(range, device).empty()) shape.no_terms = true;
  }
  if (shape.no_terms) return shape;

  TensorPosition left(program, kernel.operands(call.left()), device);
  TensorPosition right(program, kernel.operands(call.right()), device);
  TensorPosition result(program, kernel.results(0), device);
  const auto roles = {
      std::make_pair(&call.batch(), &shape.batch), std::make_pair(&call.groups(), &shape.groups),
      std::make_pair(&call.rows(), &shape.rows), std::make_pair(&call.columns(), &shape.columns),
      std::make_pair(&call.inner(), &shape.inner)};
  for (const auto& [indices, strided] : roles) {
    for (const program::LibraryIndex& index : *indices) {
      const Interval part = program.IntervalOf(kernel.indices(index.index()), device);
      strided->push_back({part.size(), left.Step(index.left_dim()), right.Step(index.right_dim()),
                          result.Step(index.result_dim())});
      if (index.left_dim() >= 0) left.begins[index.left_dim()] = part.begin;
      if (index.right_dim() >= 0) right.begins[index.right_dim()] = part.begin;
      if (index.result_dim() >= 0) result.begins[index.result_dim()] = part.begin;
    }
    *strided = MergeIndices(*strided);
  }
  for (const program::LibraryWindow& window : call.windows()) {  // convolutions add these offsets
    const ConvolutionTensors tensors = TensorsOf(call.kind());
    const auto from_buffer = [&](LibraryTensor tensor, int dim) {
      TensorPosition& position = tensor == LibraryTensor::kLeft    ? left
                                 : tensor == LibraryTensor::kRight ? right
                                                                   : result;
      if (dim >= 0) position.begins[dim] = position.box[dim].begin;
    };
    from_buffer(tensors.output, window.output_dim());
    from_buffer(tensors.filter, window.filter_dim());
    from_buffer(tensors.input, window.input_dim());
  }
  shape.left = left.Offset();
  shape.right = right.Offset();
  shape.output = result.Offset();
  return shape;
}

std::vector<StridedIndex> MergeIndices(std::vector<StridedIndex> indices) {
  indices.erase(std::remove_if(indices.begin(), indices.end(),
                               [](const StridedIndex& index) { return index.extent == 1; }),
                indices.end());
  for (size_t a = 0; a < indices.size(); ++a) {
    for (size_t b = 0; b < indices.size(); ++b) {
      if (a == b || !IsContiguous(indices[a], indices[b])) continue;
      indices[b].extent *= indices[a].extent;
      indices.erase(indices.begin() + a);
      return MergeIndices(std::move(indices));
    }
  }
  return indices;
}

ProductPlan PlanProduct(const LibraryShape& shape) {
  ProductPlan best;
  double least = -1;
  // Position size() of a role stands for none of its indices.
  for (size_t m = 0; m <= shape.rows.size(); ++m) {
    for (size_t n = 0; n <= shape.columns.size(); ++n) {
      for (size_t k = 0; k <= shape.inner.size(); ++k) {
        for (bool swapped : {false, true}) {
          ProductPlan plan = Arrange(Choose(shape.rows, m), Choose(shape.columns, n),
                                     Choose(shape.inner, k), swapped);
          plan.loops = shape.batch;
          AddRest(shape.rows, m, plan.loops);
          AddRest(shape.columns, n, plan.loops);
          AddRest(shape.inner, k, plan.sums);
          const double cost = CostOf(plan);
          if (least >= 0 && cost >= least) continue;
          least = cost;
          best = std::move(plan);
        }
      }
    }
  }
  return best;
}

}  // namespace yuba::runtime
