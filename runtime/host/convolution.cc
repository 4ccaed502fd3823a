// Convolutions through oneDNN: plain strided tensors, reordered to the library's own formats where it
// prefers those. Padding is what the boxes leave, so inner parts have none.
#include <algorithm>
#include <array>
#include <cstring>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/host/onednn.h"
#include "runtime/validate.h"

namespace yuba {
namespace {

constexpr int64_t kAlignment = 64;  // bytes

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// One window on one device, in local terms.
struct LocalWindow {
  int64_t input = 0, taps = 0, outputs = 0;                 // extents
  int64_t input_step = 0, tap_step = 0, output_step = 0;    // strides
  int64_t stride = 1, dilation = 1, pad_left = 0, pad_right = 0;
};

// The dense roles of one library convolution; what does not fit in them are loops round it.
struct Geometry {
  StridedIndex batch, group, channel, inner;
  std::vector<LocalWindow> windows;  // outermost of the input first
  std::vector<StridedIndex> loops, sums;
  int64_t left = 0, right = 0, output = 0;
  bool only_padding = false;  // no input is touched: the result is zeros
};

StridedIndex TakeLargest(std::vector<StridedIndex> indices, std::vector<StridedIndex>& rest) {
  StridedIndex largest;
  auto found = std::max_element(
      indices.begin(), indices.end(),
      [](const StridedIndex& a, const StridedIndex& b) { return a.extent < b.extent; });
  if (found != indices.end()) {
    largest = *found;
    indices.erase(found);
  }
  rest.insert(rest.end(), indices.begin(), indices.end());
  return largest;
}

// A group's channels lie after the last group's, in the input and in the result.
bool GroupsAreChannels(const LibraryShape& shape) {
  if (shape.groups.size() != 1 || shape.inner.size() > 1 || shape.columns.size() > 1) return false;
  const StridedIndex& group = shape.groups[0];
  if (!shape.inner.empty() && group.left != shape.inner[0].extent * shape.inner[0].left) return false;
  return shape.columns.empty() ||
         group.result == shape.columns[0].extent * shape.columns[0].result;
}

LocalWindow PlaceWindow(const LoadedProgram& program, const program::Kernel& kernel,
                        const program::LibraryWindow& window, int device, Geometry& geometry) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const Box input = program.BufferBox(kernel.operands(call.left()).buffer(), device);
  const Box filter = program.BufferBox(kernel.operands(call.right()).buffer(), device);
  const Box result = program.BufferBox(kernel.result().buffer(), device);
  const Interval outputs = program.IntervalOf(kernel.indices(window.output()), device);
  const Interval taps = program.IntervalOf(kernel.indices(window.kernel()), device);
  const Interval& held = input[window.input_dim()];

  LocalWindow local;
  local.stride = window.stride();
  local.dilation = window.dilation();
  local.taps = taps.size();
  local.outputs = outputs.size();
  local.input_step = DenseStrides(input)[window.input_dim()];
  local.tap_step = DenseStrides(filter)[window.filter_dim()];
  local.output_step = DenseStrides(result)[window.result_dim()];
  // Positions outside what the device holds are outside the tensor: padding.
  const int64_t first = outputs.begin * local.stride + taps.begin * local.dilation - window.low();
  const int64_t end =
      (outputs.end - 1) * local.stride + (taps.end - 1) * local.dilation - window.low() + 1;
  const Interval used = Intersect(Interval{first, end}, held);
  const program::Buffer& whole = program.stage().buffers(kernel.operands(call.left()).buffer());
  // Where strides step over all of it nothing is read, and validation lets the boxes be anything.
  geometry.only_padding |=
      WindowReads(window, whole.dims(window.input_dim()), outputs, taps).empty();
  local.input = used.size();
  local.pad_left = used.begin - first;
  local.pad_right = end - used.end;
  geometry.left += (used.begin - held.begin) * local.input_step;
  geometry.right += (taps.begin - filter[window.filter_dim()].begin) * local.tap_step;
  geometry.output += (outputs.begin - result[window.result_dim()].begin) * local.output_step;
  return local;
}

Geometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                    const LibraryShape& shape, int device) {
  Geometry geometry;
  geometry.left = shape.left;
  geometry.right = shape.right;
  geometry.output = shape.output;
  geometry.batch = TakeLargest(shape.batch, geometry.loops);
  if (GroupsAreChannels(shape)) geometry.group = shape.groups[0];
  else geometry.loops.insert(geometry.loops.end(), shape.groups.begin(), shape.groups.end());
  geometry.channel = TakeLargest(shape.columns, geometry.loops);
  geometry.inner = TakeLargest(shape.inner, geometry.sums);
  for (const program::LibraryWindow& window :
       program.message().functions(kernel.function()).library().windows()) {
    geometry.windows.push_back(PlaceWindow(program, kernel, window, device, geometry));
  }
  std::sort(geometry.windows.begin(), geometry.windows.end(),
            [](const LocalWindow& a, const LocalWindow& b) { return a.input_step > b.input_step; });
  return geometry;
}

// Extents and strides of one tensor as the library wants them.
struct Dimensions {
  std::vector<int64_t> extents, strides;
  void Add(int64_t extent, int64_t stride) {
    extents.push_back(extent);
    strides.push_back(stride);
  }
  absl::Status Describe(const OneDnn& library, dnnl_memory_desc_t* plain,
                        dnnl_memory_desc_t* any) const {
    int64_t span = 1;
    for (size_t d = 0; d < extents.size(); ++d) span = std::max(span, extents[d] * strides[d]);
    std::vector<int64_t> steps = strides;
    for (size_t d = 0; d < extents.size(); ++d) {
      if (extents[d] == 1) steps[d] = span;  // any stride will do, but the library compares them
    }
    const int rank = static_cast<int>(extents.size());
    dnnl_status_t status =
        library.memory_desc_init_by_strides(plain, rank, extents.data(), dnnl_f32, steps.data());
    if (status != dnnl_success) return OneDnnError("describing a strided tensor", status);
    status = library.memory_desc_init_by_tag(any, rank, extents.data(), dnnl_f32,
                                             dnnl_format_tag_any);
    if (status != dnnl_success) return OneDnnError("describing a tensor", status);
    return absl::OkStatus();
  }
};

// A primitive with its description; user-managed scratchpad, so that any thread may run it.
class Primitive {
 public:
  explicit Primitive(const OneDnn& library) : library_(library) {}
  ~Primitive() {
    if (primitive_ != nullptr) library_.primitive_destroy(primitive_);
    if (desc_ != nullptr) library_.primitive_desc_destroy(desc_);
  }
  Primitive(const Primitive&) = delete;

  absl::Status Convolution(const dnnl_convolution_desc_t& desc, bool accumulate) {
    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_post_ops_t after = nullptr;
    dnnl_status_t status = Attributes(&attributes);
    if (status == dnnl_success && accumulate) {
      status = library_.post_ops_create(&after);
      if (status == dnnl_success) status = library_.post_ops_append_sum(after, 1.0f);
      if (status == dnnl_success) status = library_.primitive_attr_set_post_ops(attributes, after);
    }
    if (status == dnnl_success) {
      status = library_.primitive_desc_create(&desc_, &desc, attributes, library_.engine, nullptr);
    }
    if (after != nullptr) library_.post_ops_destroy(after);
    return Finish("preparing a convolution", status, attributes);
  }

  absl::Status Reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_status_t status = Attributes(&attributes);
    if (status == dnnl_success) {
      status = library_.reorder_primitive_desc_create(&desc_, &from, library_.engine, &to,
                                                      library_.engine, attributes);
    }
    return Finish("preparing a reorder", status, attributes);
  }

  const dnnl_memory_desc_t& Query(dnnl_query_t what, int index) const {
    return *library_.primitive_desc_query_md(desc_, what, index);
  }
  int64_t scratchpad() const {
    const dnnl_memory_desc_t* desc =
        library_.primitive_desc_query_md(desc_, dnnl_query_scratchpad_md, 0);
    return desc == nullptr ? 0 : static_cast<int64_t>(library_.memory_desc_get_size(desc));
  }
  dnnl_primitive_t get() const { return primitive_; }

 private:
  dnnl_status_t Attributes(dnnl_primitive_attr_t* attributes) {
    const dnnl_status_t status = library_.primitive_attr_create(attributes);
    if (status != dnnl_success) return status;
    return library_.primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
  }
  absl::Status Finish(const char* tried, dnnl_status_t status, dnnl_primitive_attr_t attributes) {
    if (attributes != nullptr) library_.primitive_attr_destroy(attributes);
    if (status == dnnl_success) status = library_.primitive_create(&primitive_, desc_);
    return status == dnnl_success ? absl::OkStatus() : OneDnnError(tried, status);
  }

  const OneDnn& library_;
  dnnl_primitive_desc_t desc_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
};

class Memory {
 public:
  explicit Memory(const OneDnn& library) : library_(library) {}
  ~Memory() {
    if (memory_ != nullptr) library_.memory_destroy(memory_);
  }
  Memory(const Memory&) = delete;
  absl::Status Create(const dnnl_memory_desc_t& desc) {
    const dnnl_status_t status =
        library_.memory_create(&memory_, &desc, library_.engine, DNNL_MEMORY_NONE);
    return status == dnnl_success ? absl::OkStatus() : OneDnnError("creating a memory", status);
  }
  dnnl_memory_t At(const void* data) const {
    library_.memory_set_data_handle(memory_, const_cast<void*>(data));
    return memory_;
  }

 private:
  const OneDnn& library_;
  dnnl_memory_t memory_ = nullptr;
};

// An operand or the result: how it lies in the buffer and how the convolution wants it.
struct Tensor {
  explicit Tensor(const OneDnn& library) : plain(library), inner(library), reorder(library) {}

  absl::Status Prepare(const OneDnn& library, const dnnl_memory_desc_t& plain_desc,
                       const dnnl_memory_desc_t& inner_desc, bool is_result) {
    YUBA_RETURN_IF_ERROR(plain.Create(plain_desc));
    YUBA_RETURN_IF_ERROR(inner.Create(inner_desc));
    reordered = library.memory_desc_equal(&plain_desc, &inner_desc) == 0;
    if (!reordered) return absl::OkStatus();
    bytes = Aligned(static_cast<int64_t>(library.memory_desc_get_size(&inner_desc)));
    return is_result ? reorder.Reorder(inner_desc, plain_desc)
                     : reorder.Reorder(plain_desc, inner_desc);
  }

  Memory plain, inner;
  Primitive reorder;
  bool reordered = false;
  int64_t offset = 0, bytes = 0;  // in the workspace, where reordered
};

class Convolution : public LibraryKernel {
 public:
  Convolution(const OneDnn& library, const LibraryShape& shape, Geometry geometry)
      : library_(library),
        shape_(shape),
        geometry_(std::move(geometry)),
        first_(library),
        next_(library),
        left_(library),
        right_(library),
        result_(library),
        scratchpad_(library) {}

  ~Convolution() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  absl::Status Prepare() {
    if (geometry_.only_padding) return absl::OkStatus();
    dnnl_memory_desc_t plain[3], any[3];
    YUBA_RETURN_IF_ERROR(Describe(plain, any));
    dnnl_convolution_desc_t desc;
    YUBA_RETURN_IF_ERROR(DescribeConvolution(any, &desc));
    YUBA_RETURN_IF_ERROR(first_.Convolution(desc, false));
    const dnnl_memory_desc_t inner[3] = {first_.Query(dnnl_query_src_md, 0),
                                         first_.Query(dnnl_query_weights_md, 0),
                                         first_.Query(dnnl_query_dst_md, 0)};
    YUBA_RETURN_IF_ERROR(left_.Prepare(library_, plain[0], inner[0], false));
    YUBA_RETURN_IF_ERROR(right_.Prepare(library_, plain[1], inner[1], false));
    YUBA_RETURN_IF_ERROR(result_.Prepare(library_, plain[2], inner[2], true));
    if (!geometry_.sums.empty()) {
      YUBA_RETURN_IF_ERROR(DescribeConvolution(inner, &desc));
      YUBA_RETURN_IF_ERROR(next_.Convolution(desc, true));
    }
    return PrepareWorkspace();
  }

  int64_t workspace_bytes() const override { return workspace_bytes_; }

  absl::Status Run(const float* left, const float* right, float* result,
                   char* workspace) override {
    if (geometry_.only_padding) {
      ForEachRun(shape_.result, [&](const std::vector<int64_t>& offsets, int64_t length) {
        const int64_t stride = shape_.result.buffers[0].strides.back();
        for (int64_t i = 0; i < length; ++i) result[offsets[0] + i * stride] = 0;
      });
      return absl::OkStatus();
    }
    workspace_ = workspace;
    status_ = dnnl_success;
    ForEachStep(geometry_.loops, 0, geometry_.left, geometry_.right, geometry_.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
      float* const to = result + result_at;
      bool first = true;
      ForEachStep(geometry_.sums, 0, left_at, right_at, 0, [&](int64_t l, int64_t r, int64_t) {
        Convolve(left + l, right + r, to, first);
        first = false;
      });
      if (result_.reordered) Reorder(result_, result_.inner.At(At(result_)), result_.plain.At(to));
    });
    if (status_ == dnnl_success) status_ = library_.stream_wait(stream_);
    if (status_ != dnnl_success) return OneDnnError("a convolution", status_);
    return absl::OkStatus();
  }

 private:
  absl::Status Describe(dnnl_memory_desc_t* plain, dnnl_memory_desc_t* any) const {
    const Geometry& g = geometry_;
    Dimensions left, right, result;
    const bool grouped = g.group.extent > 1;
    // With one channel in each group the groups themselves are the channels.
    const int64_t left_step = g.inner.extent > 1 ? g.inner.left : g.group.left;
    const int64_t result_step = g.channel.extent > 1 ? g.channel.result : g.group.result;
    left.Add(g.batch.extent, g.batch.left);
    left.Add(g.group.extent * g.inner.extent, left_step);
    if (grouped) right.Add(g.group.extent, g.group.right);
    right.Add(g.channel.extent, g.channel.right);
    right.Add(g.inner.extent, g.inner.right);
    result.Add(g.batch.extent, g.batch.result);
    result.Add(g.group.extent * g.channel.extent, result_step);
    for (const LocalWindow& window : g.windows) {
      left.Add(window.input, window.input_step);
      right.Add(window.taps, window.tap_step);
      result.Add(window.outputs, window.output_step);
    }
    YUBA_RETURN_IF_ERROR(left.Describe(library_, &plain[0], &any[0]));
    YUBA_RETURN_IF_ERROR(right.Describe(library_, &plain[1], &any[1]));
    return result.Describe(library_, &plain[2], &any[2]);
  }

  absl::Status DescribeConvolution(const dnnl_memory_desc_t* tensors,
                                   dnnl_convolution_desc_t* desc) const {
    dnnl_dims_t strides, dilations, left, right;
    for (size_t w = 0; w < geometry_.windows.size(); ++w) {
      strides[w] = geometry_.windows[w].stride;
      dilations[w] = geometry_.windows[w].dilation - 1;
      left[w] = geometry_.windows[w].pad_left;
      right[w] = geometry_.windows[w].pad_right;
    }
    const dnnl_status_t status = library_.dilated_convolution_forward_desc_init(
        desc, dnnl_forward_inference, dnnl_convolution_direct, &tensors[0], &tensors[1], nullptr,
        &tensors[2], strides, dilations, left, right);
    return status == dnnl_success ? absl::OkStatus()
                                  : OneDnnError("describing a convolution", status);
  }

  absl::Status PrepareWorkspace() {
    for (Tensor* tensor : {&left_, &right_, &result_}) {
      tensor->offset = workspace_bytes_;
      workspace_bytes_ += tensor->bytes;
    }
    scratchpad_offset_ = workspace_bytes_;
    int64_t scratchpad = first_.scratchpad();
    if (!geometry_.sums.empty()) scratchpad = std::max(scratchpad, next_.scratchpad());
    for (Tensor* tensor : {&left_, &right_, &result_}) {
      if (tensor->reordered) scratchpad = std::max(scratchpad, tensor->reorder.scratchpad());
    }
    workspace_bytes_ += Aligned(scratchpad);
    const dnnl_dim_t extent = std::max<int64_t>(scratchpad, 1);
    dnnl_memory_desc_t desc;
    dnnl_status_t status =
        library_.memory_desc_init_by_tag(&desc, 1, &extent, dnnl_u8, dnnl_a);
    if (status == dnnl_success) {
      status = library_.stream_create(&stream_, library_.engine, dnnl_stream_default_flags);
    }
    if (status != dnnl_success) return OneDnnError("preparing a workspace", status);
    return scratchpad_.Create(desc);
  }

  char* At(const Tensor& tensor) const { return workspace_ + tensor.offset; }

  void Execute(dnnl_primitive_t primitive, std::vector<dnnl_exec_arg_t> arguments) {
    if (status_ != dnnl_success) return;
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.At(workspace_ + scratchpad_offset_)});
    status_ = library_.primitive_execute(primitive, stream_, static_cast<int>(arguments.size()),
                                         arguments.data());
  }

  void Reorder(const Tensor& tensor, dnnl_memory_t from, dnnl_memory_t to) {
    Execute(tensor.reorder.get(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  dnnl_memory_t Bring(const Tensor& tensor, const float* data) {
    if (!tensor.reordered) return tensor.inner.At(data);
    dnnl_memory_t inner = tensor.inner.At(At(tensor));
    Reorder(tensor, tensor.plain.At(data), inner);
    return inner;
  }

  void Convolve(const float* left, const float* right, float* result, bool first) {
    dnnl_memory_t input = Bring(left_, left);
    dnnl_memory_t filter = Bring(right_, right);
    dnnl_memory_t output =
        result_.inner.At(result_.reordered ? static_cast<void*>(At(result_)) : result);
    Execute(first ? first_.get() : next_.get(), {{DNNL_ARG_SRC, input},
                                                 {DNNL_ARG_WEIGHTS, filter},
                                                 {DNNL_ARG_DST, output}});
  }

  const OneDnn& library_;
  const LibraryShape shape_;
  const Geometry geometry_;
  Primitive first_, next_;  // writes the result; adds to it
  Tensor left_, right_, result_;
  Memory scratchpad_;
  dnnl_stream_t stream_ = nullptr;
  int64_t scratchpad_offset_ = 0, workspace_bytes_ = 0;
  char* workspace_ = nullptr;  // of the run in progress
  dnnl_status_t status_ = dnnl_success;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeConvolution(const OneDnn& library,
                                                               const LoadedProgram& program,
                                                               const program::Kernel& kernel,
                                                               int device) {
  const LibraryShape shape = ShapeOf(program, kernel, device);
  YUBA_CHECK(!shape.no_result && !shape.no_terms);
  auto convolution = std::make_unique<Convolution>(library, shape,
                                                   GeometryOf(program, kernel, shape, device));
  YUBA_RETURN_IF_ERROR(convolution->Prepare());
  return std::unique_ptr<LibraryKernel>(std::move(convolution));
}

}  // namespace yuba
