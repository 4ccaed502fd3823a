#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_routine.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda/library/cudnn_epilogue.h"

namespace yuba::cuda {

cudnnDataType_t CudnnType(ElementType type) {
  return type == ElementType::kF64   ? CUDNN_DATA_DOUBLE
         : type == ElementType::kF32 ? CUDNN_DATA_FLOAT
         : type == ElementType::kF16 ? CUDNN_DATA_HALF
                                     : CUDNN_DATA_BFLOAT16;
}

absl::StatusOr<CudnnDescriptor> Describe(const Cudnn& library, const CudnnTensor& tensor,
                                         ElementType type, int64_t number, bool kept) {
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(
      made.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, std::vector{number}));
  YUBA_RETURN_IF_ERROR(
      made.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CudnnType(type)}));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, tensor.extents));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, tensor.strides));
  YUBA_RETURN_IF_ERROR(
      made.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::vector{tensor.alignment}));
  if (kept) {
    YUBA_RETURN_IF_ERROR(
        made.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, std::vector<char>{1}));
  }
  YUBA_RETURN_IF_ERROR(made.Finish());
  return made;
}

namespace {

using Attribute = cudnnBackendAttributeName_t;

// How the library names the parts of an operation.
struct Operation {
  program::LibraryCall::Kind kind;
  cudnnBackendDescriptorType_t type;
  Attribute tensors[kConvolutionTensors];
  Attribute convolution, alpha, beta;
};

constexpr Operation kOperations[] = {
    {program::LibraryCall::CONVOLUTION,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {program::LibraryCall::DATA_GRADIENT,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {program::LibraryCall::WEIGHT_GRADIENT,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

const Operation& OperationOf(program::LibraryCall::Kind kind) {
  return *std::find_if(std::begin(kOperations), std::end(kOperations),
                       [&](const Operation& operation) { return operation.kind == kind; });
}

absl::StatusOr<CudnnDescriptor> Describe(const Cudnn& library, const CudnnRoutine& routine) {
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                                std::vector{CudnnType(AccumulatorType(routine.type))}));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                                std::vector{CUDNN_CROSS_CORRELATION}));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
                                std::vector{static_cast<int64_t>(routine.strides.size())}));
  const std::pair<Attribute, const std::vector<int64_t>*> windows[] = {
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &routine.strides},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, &routine.dilations},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &routine.low},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &routine.high}};
  for (const auto& [name, values] : windows)
    YUBA_RETURN_IF_ERROR(made.Set(name, CUDNN_TYPE_INT64, *values));
  YUBA_RETURN_IF_ERROR(made.Finish());
  return made;
}

// result = alpha * computed + beta * result
absl::Status SetFactors(const CudnnRoutine& routine, CudnnDescriptor& operation) {
  const Operation& names = OperationOf(routine.kind);
  const double beta = routine.adds ? 1 : 0;
  if (routine.type == ElementType::kF64) {
    YUBA_RETURN_IF_ERROR(operation.Set(names.alpha, CUDNN_TYPE_DOUBLE, std::vector{1.0}));
    return operation.Set(names.beta, CUDNN_TYPE_DOUBLE, std::vector{beta});
  }
  YUBA_RETURN_IF_ERROR(operation.Set(names.alpha, CUDNN_TYPE_FLOAT, std::vector{1.0f}));
  return operation.Set(names.beta, CUDNN_TYPE_FLOAT, std::vector{static_cast<float>(beta)});
}

// Whether channels are innermost in a tensor of which that can be told.
bool HasChannelsLast(const CudnnRoutine& routine) {
  return std::any_of(routine.tensors.begin(), routine.tensors.end(), [](const CudnnTensor& tensor) {
    return tensor.extents[1] > 1 && tensor.strides[1] == 1 &&
           std::any_of(tensor.extents.begin() + 2, tensor.extents.end(),
                       [](int64_t extent) { return extent > 1; });
  });
}

// Along a dimension of one element nothing is stepped: it gets the stride that a dense tensor has,
// with the channels where the routine's other tensors have them, so that the library sees that this
// one is like them.
void FillUnitStrides(bool channels_last, CudnnTensor& tensor) {
  std::vector<size_t> inner_first;  // of dimensions
  for (size_t d = tensor.extents.size(); d-- > 0;) inner_first.push_back(d);
  if (channels_last) std::rotate(inner_first.begin(), inner_first.end() - 2, inner_first.end() - 1);
  int64_t stride = 1;
  for (const size_t d : inner_first) {
    if (tensor.extents[d] == 1) tensor.strides[d] = stride;
    stride = tensor.strides[d] * tensor.extents[d];
  }
}

}  // namespace

absl::StatusOr<CudnnDescriptor> DeviceOf(const CudnnTarget& target) {
  YUBA_ASSIGN_OR_RETURN(
      CudnnDescriptor device,
      CudnnDescriptor::Make(*target.library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(
      device.Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                 std::vector<char>(target.description.begin(), target.description.end())));
  YUBA_RETURN_IF_ERROR(device.Finish());
  return device;
}

absl::StatusOr<CudnnGraph> GraphOf(const CudnnTarget& target, const CudnnRoutine& routine) {
  const Cudnn& library = *target.library;
  const Operation& names = OperationOf(routine.kind);
  std::vector<CudnnDescriptor> tensors;
  for (int t = 0; t < kConvolutionTensors; ++t) {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor tensor,
                          Describe(library, routine.tensors[t], routine.type,
                                   TensorNumber(static_cast<ConvolutionTensor>(t))));
    tensors.push_back(std::move(tensor));
  }
  absl::optional<CudnnDescriptor> result;  // of an epilogue, which the convolution does not write
  if (routine.epilogue.has_value()) {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor value,
                          Describe(library, routine.tensors[kOutput], AccumulatorType(routine.type),
                                   kFirstKeptNumber, true));
    result.emplace(std::move(tensors[kOutput]));
    tensors[kOutput] = std::move(value);
  }
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor convolution, Describe(library, routine));
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor operation, CudnnDescriptor::Make(library, names.type));
  for (int t = 0; t < kConvolutionTensors; ++t)
    YUBA_RETURN_IF_ERROR(operation.Set(names.tensors[t], tensors[t]));
  YUBA_RETURN_IF_ERROR(operation.Set(names.convolution, convolution));
  YUBA_RETURN_IF_ERROR(SetFactors(routine, operation));
  YUBA_RETURN_IF_ERROR(operation.Finish());
  CudnnOperations made;
  made.operations.push_back(std::move(operation));
  made.others.push_back(std::move(convolution));
  if (result.has_value()) {
    YUBA_RETURN_IF_ERROR(
        AddEpilogue(library, routine, std::move(tensors[kOutput]), *std::move(result), made));
    tensors.pop_back();
  }
  for (CudnnDescriptor& tensor : tensors) made.others.push_back(std::move(tensor));
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor graph,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, made.operations));
  if (target.handle != nullptr) {
    YUBA_RETURN_IF_ERROR(
        graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector{target.handle}));
  }
  YUBA_RETURN_IF_ERROR(graph.Finish());
  std::vector<CudnnDescriptor> parts = std::move(made.operations);
  for (CudnnDescriptor& other : made.others) parts.push_back(std::move(other));
  CudnnGraph described = {std::move(graph), std::move(parts), absl::nullopt};
  if (target.handle == nullptr) {
    YUBA_ASSIGN_OR_RETURN(described.device, DeviceOf(target));
  }
  return described;
}

CudnnRoutine RoutineOf(const runtime::ConvolutionGeometry& geometry,
                       const runtime::ConvolutionTensors& tensors, program::LibraryCall::Kind kind,
                       ElementType type,
                       const std::array<int64_t, kConvolutionTensors>& alignments) {
  const runtime::LibraryTensor places[] = {tensors.input, tensors.filter, tensors.output};
  CudnnRoutine routine;
  routine.kind = kind;
  routine.type = type;
  const auto add = [&](int tensor, int64_t extent, int64_t stride) {
    routine.tensors[tensor].extents.push_back(extent);
    routine.tensors[tensor].strides.push_back(stride);
  };
  const auto step = [&](const runtime::StridedIndex& index, int tensor) {
    return runtime::StepIn(index, places[tensor]);
  };
  const runtime::ConvolutionGeometry& g = geometry;
  // With one channel in each group the groups themselves are the channels.
  const runtime::StridedIndex& inputs = g.inner.extent > 1 ? g.inner : g.group;
  const runtime::StridedIndex& outputs = g.channel.extent > 1 ? g.channel : g.group;
  add(kInput, g.batch.extent, step(g.batch, kInput));
  add(kInput, g.group.extent * g.inner.extent, step(inputs, kInput));
  add(kFilter, g.group.extent * g.channel.extent, step(outputs, kFilter));
  add(kFilter, g.inner.extent, step(g.inner, kFilter));
  add(kOutput, g.batch.extent, step(g.batch, kOutput));
  add(kOutput, g.group.extent * g.channel.extent, step(outputs, kOutput));
  std::vector<runtime::LocalWindow> windows = g.windows;
  constexpr size_t kFewestWindows = 2;  // that all engines have
  windows.resize(std::max(windows.size(), kFewestWindows));
  for (const runtime::LocalWindow& window : windows) {
    add(kInput, window.input, window.input_step);
    add(kFilter, window.taps, window.tap_step);
    add(kOutput, window.outputs, window.output_step);
    routine.strides.push_back(window.stride);
    routine.dilations.push_back(window.dilation);
    routine.low.push_back(window.pad_left);
    // Where the last positions of the input meet nothing it is below 0, and they are left over.
    routine.high.push_back(std::max<int64_t>(window.pad_right, 0));
  }
  const bool channels_last = HasChannelsLast(routine);
  for (int t = 0; t < kConvolutionTensors; ++t) {
    routine.tensors[t].alignment = alignments[t];
    FillUnitStrides(channels_last, routine.tensors[t]);
  }
  return routine;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
