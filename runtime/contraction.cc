#include "runtime/contraction.h"

#include <algorithm>

#include "runtime/program/enums.h"
#include "runtime/program/library_windows.h"
#include "runtime/program/post_ops.h"

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
  for (size_t p = 0; p < outer.post.size(); ++p) {
    if (outer.post[p] != inner.post[p] * inner.extent) return false;
  }
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
  plan.c_row = swapped ? n : m;
  plan.c_column = swapped ? m : n;
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

// The operands of a call's post-ops on one device.
class PostOperands {
 public:
  PostOperands(const LoadedProgram& program, const program::Kernel& kernel, int device)
      : program_(program), kernel_(kernel), device_(device) {}

  // Adds the steps to the shape, and the walk through `written`, which indices run along.
  void AddTo(const Box& written, LibraryShape& shape) {
    const program::LibraryCall& call = CallOf();
    if (call.post_ops().empty()) return;
    const Box result = program_.BufferBox(kernel_.results(0).buffer(), device_);
    AddBuffer(written, result, DenseStrides(result), shape);
    for (const program::PostOp& step : call.post_ops()) {
      PostOpShape& added = shape.post_ops.emplace_back();
      added.kind = step.kind();
      added.factor = step.factor();
      if (!HasOperand(step)) continue;
      added.operand = step.operand();
      added.number = static_cast<int>(steps_.size());
      AddOperand(step, written, shape);
    }
    for (const Interval& part : written) shape.post_op_walk.extents.push_back(part.size());
    if (written.empty()) shape.post_op_walk.extents.push_back(1);
    for (WalkedBuffer& buffer : shape.post_op_walk.buffers) {
      if (written.empty()) buffer.strides.push_back(1);
    }
  }

  // [operand]: by how much a step of the index moves in it.
  std::vector<int64_t> Steps(int index) const {
    std::vector<int64_t> steps;
    for (const std::vector<int64_t>& by_index : steps_) steps.push_back(by_index[index]);
    return steps;
  }

 private:
  const program::LibraryCall& CallOf() const {
    return program_.message().functions(kernel_.function()).library();
  }

  static void AddBuffer(const Box& written, const Box& box, const std::vector<int64_t>& strides,
                        LibraryShape& shape) {
    WalkedBuffer& buffer = shape.post_op_walk.buffers.emplace_back();
    buffer.strides = strides;
    for (size_t d = 0; d < written.size(); ++d)
      buffer.offset += (written[d].begin - box[d].begin) * strides[d];
  }

  void AddOperand(const program::PostOp& step, const Box& written, LibraryShape& shape) {
    const Box box = program_.BufferBox(kernel_.operands(step.operand()).buffer(), device_);
    const std::vector<int64_t> dense = DenseStrides(box);
    std::vector<int64_t>& by_index = steps_.emplace_back(kernel_.indices_size(), 0);
    const std::vector<int> result_dims = ResultDims(CallOf(), kernel_.indices_size());
    Box seen(written.size());  // where the operand's buffer begins, along dimensions of the result
    std::vector<int64_t> strides(written.size(), 0);
    for (int d = 0; d < step.indices_size(); ++d) {
      const int index = step.indices(d);
      if (index < 0) continue;
      by_index[index] = dense[d];
      strides[result_dims[index]] = dense[d];
      seen[result_dims[index]] = box[d];
    }
    AddBuffer(written, seen, strides, shape);
  }

  const LoadedProgram& program_;
  const program::Kernel& kernel_;
  const int device_;
  std::vector<std::vector<int64_t>> steps_;  // [operand][index]
};

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
  PostOperands post(program, kernel, device);
  post.AddTo(written, shape);
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
                          result.Step(index.result_dim()), post.Steps(index.index())});
      if (index.left_dim() >= 0) left.begins[index.left_dim()] = part.begin;
      if (index.right_dim() >= 0) right.begins[index.right_dim()] = part.begin;
      if (index.result_dim() >= 0) result.begins[index.result_dim()] = part.begin;
    }
    if (strided == &shape.rows) shape.all_rows = *strided;
    if (strided == &shape.columns) shape.all_columns = *strided;
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
  return *PlanProduct(shape, [](const ProductPlan&) { return true; });
}

absl::optional<ProductPlan> PlanProduct(const LibraryShape& shape,
                                        const std::function<bool(const ProductPlan&)>& fits) {
  absl::optional<ProductPlan> best;
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
          if ((best.has_value() && cost >= least) || !fits(plan)) continue;
          least = cost;
          best = std::move(plan);
        }
      }
    }
  }
  return best;
}

}  // namespace yuba::runtime
