#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/operation_graph.h"

#include <utility>

#include "runtime/cuda/library/cudnn_engines.h"

namespace yuba::cuda {
namespace {

// Of tensors that the library places itself, bytes.
constexpr int64_t kOwnAlignment = 16;

using Tensor = OperationGraph::Tensor;
using Operation = OperationGraph::Operation;
using Place = OperationGraph::Place;
using Kind = OperationGraph::Kind;

std::vector<int64_t> RowMajor(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

absl::StatusOr<CudnnDescriptor> DescribeTensor(const Cudnn& library, const Tensor& tensor,
                                               int64_t id) {
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  const CudnnTensor& shape = tensor.shape;
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, std::vector{id}));
  YUBA_RETURN_IF_ERROR(
      made.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{tensor.type}));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, shape.extents));
  YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, shape.strides));
  YUBA_RETURN_IF_ERROR(
      made.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::vector{shape.alignment}));
  const std::vector<char> yes = {1};  // bool, as the library has it
  if (tensor.place == Place::kVirtual)
    YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, yes));
  if (tensor.place == Place::kValue)
    YUBA_RETURN_IF_ERROR(made.Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, yes));
  YUBA_RETURN_IF_ERROR(made.Finish());
  return made;
}

// How the library names the parts of an operation. What it has no part for is not asked for.
struct Names {
  Kind kind;
  cudnnBackendDescriptorType_t type;
  std::vector<cudnnBackendAttributeName_t> inputs;
  cudnnBackendAttributeName_t result;
};

const Names& NamesOf(Kind kind) {
  static const auto* names = new std::vector<Names>{
      {Kind::kMultiply,
       CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
       CUDNN_ATTR_OPERATION_MATMUL_CDESC},
      {Kind::kMap,
       CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
       CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
      {Kind::kReduce,
       CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
       CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
      {Kind::kView,
       CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
       CUDNN_ATTR_OPERATION_RESHAPE_YDESC},
  };
  return (*names)[static_cast<size_t>(kind)];
}

// What an operation does, which the library wants as a descriptor of its own; a view has none. The
// descriptor is set as the operation's attribute and added to `parts`.
absl::Status SetMeaning(const Cudnn& library, const Operation& operation, CudnnDescriptor& made,
                        std::vector<CudnnDescriptor>& parts) {
  const auto set = [&](cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t in_operation,
                       const auto& fill) -> absl::Status {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor meaning, CudnnDescriptor::Make(library, type));
    YUBA_RETURN_IF_ERROR(fill(meaning));
    YUBA_RETURN_IF_ERROR(meaning.Finish());
    YUBA_RETURN_IF_ERROR(made.Set(in_operation, meaning));
    parts.push_back(std::move(meaning));
    return absl::OkStatus();
  };
  const std::vector<cudnnDataType_t> f32 = {CUDNN_DATA_FLOAT};
  switch (operation.kind) {
    case Kind::kMultiply:
      return set(CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_DESC,
                 [&](CudnnDescriptor& m) {
                   return m.Set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, f32);
                 });
    case Kind::kReduce:
      return set(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                 [&](CudnnDescriptor& m) {
                   YUBA_RETURN_IF_ERROR(m.Set(CUDNN_ATTR_REDUCTION_OPERATOR,
                                              CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
                                              std::vector{operation.sum}));
                   return m.Set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, f32);
                 });
    case Kind::kMap:
      return set(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                 [&](CudnnDescriptor& m) {
                   YUBA_RETURN_IF_ERROR(m.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
                                              std::vector{operation.map}));
                   YUBA_RETURN_IF_ERROR(m.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                                              std::vector{operation.computed_in}));
                   if (operation.axis < 0) return absl::OkStatus();
                   return m.Set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64,
                                std::vector<int64_t>{operation.axis});
                 });
    case Kind::kView: return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

int OperationGraph::Add(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

int OperationGraph::AddStored(CudnnTensor shape, cudnnDataType_t type) {
  return Add({Place::kStored, std::move(shape), type});
}

int OperationGraph::AddVirtual(std::vector<int64_t> extents, cudnnDataType_t type) {
  std::vector<int64_t> strides = RowMajor(extents);
  return AddVirtual(CudnnTensor{std::move(extents), std::move(strides), kOwnAlignment}, type);
}

int OperationGraph::AddVirtual(CudnnTensor shape, cudnnDataType_t type) {
  return Add({Place::kVirtual, std::move(shape), type});
}

int OperationGraph::AddValue(float value, int rank) {
  const std::vector<int64_t> ones(rank, 1);
  return Add({Place::kValue, {ones, ones, kOwnAlignment}, CUDNN_DATA_FLOAT, value});
}

int OperationGraph::AddWhole(int32_t value, int rank) {
  const std::vector<int64_t> ones(rank, 1);
  return Add({Place::kValue, {ones, ones, kOwnAlignment}, CUDNN_DATA_INT32, 0, value});
}

void OperationGraph::Multiply(int left, int right, int result) {
  operations_.push_back({Kind::kMultiply, {left, right}, result});
}

void OperationGraph::Map(cudnnPointwiseMode_t map, std::vector<int> inputs, int result,
                         cudnnDataType_t computed_in) {
  operations_.push_back({Kind::kMap, std::move(inputs), result, map, -1, computed_in});
}

void OperationGraph::Select(int yes, int no, int condition, int result) {
  Map(CUDNN_POINTWISE_BINARY_SELECT, {yes, no, condition}, result);
}

void OperationGraph::Index(int like, int axis, int result) {
  operations_.push_back({Kind::kMap, {like}, result, CUDNN_POINTWISE_GEN_INDEX, axis});
}

void OperationGraph::Reduce(cudnnReduceTensorOp_t operation, int input, int result) {
  Operation made = {Kind::kReduce, {input}, result};
  made.sum = operation;
  operations_.push_back(std::move(made));
}

void OperationGraph::View(int input, int result) {
  operations_.push_back({Kind::kView, {input}, result});
}

absl::StatusOr<CudnnGraph> Describe(const CudnnTarget& target, const OperationGraph& operations) {
  const Cudnn& library = *target.library;
  std::vector<CudnnDescriptor> tensors, parts;
  for (const Tensor& tensor : operations.tensors()) {
    const int64_t id = OperationGraph::UniqueId(static_cast<int>(tensors.size()));
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made, DescribeTensor(library, tensor, id));
    tensors.push_back(std::move(made));
  }
  std::vector<cudnnBackendDescriptor_t> all;
  for (const Operation& operation : operations.operations()) {
    const Names& names = NamesOf(operation.kind);
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor made, CudnnDescriptor::Make(library, names.type));
    for (size_t i = 0; i < operation.inputs.size(); ++i)
      YUBA_RETURN_IF_ERROR(made.Set(names.inputs.at(i), tensors[operation.inputs[i]]));
    YUBA_RETURN_IF_ERROR(made.Set(names.result, tensors[operation.result]));
    YUBA_RETURN_IF_ERROR(SetMeaning(library, operation, made, parts));
    YUBA_RETURN_IF_ERROR(made.Finish());
    all.push_back(made.get());
    parts.push_back(std::move(made));
  }
  YUBA_ASSIGN_OR_RETURN(CudnnDescriptor graph,
                        CudnnDescriptor::Make(library, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(
      graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, all));
  if (target.handle != nullptr) {
    YUBA_RETURN_IF_ERROR(
        graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector{target.handle}));
  }
  YUBA_RETURN_IF_ERROR(graph.Finish());
  for (CudnnDescriptor& tensor : tensors) parts.push_back(std::move(tensor));
  CudnnGraph made = {std::move(graph), std::move(parts), absl::nullopt};
  if (target.handle == nullptr) {
    YUBA_ASSIGN_OR_RETURN(made.device, DeviceOf(target));
  }
  return made;
}

absl::Status Execute(const CudnnTarget& target, const CudnnDescriptor& plan,
                     const OperationGraph& operations, const std::vector<void*>& pointers,
                     char* workspace) {
  // The library reads values while they are given to it.
  std::vector<Tensor> tensors = operations.tensors();
  std::vector<void*> given;
  std::vector<int64_t> ids;
  for (size_t t = 0; t < tensors.size(); ++t) {
    Tensor& tensor = tensors[t];
    if (tensor.place == Place::kVirtual) continue;
    ids.push_back(OperationGraph::UniqueId(static_cast<int>(t)));
    given.push_back(tensor.place == Place::kStored    ? pointers[t]
                    : tensor.type == CUDNN_DATA_INT32 ? static_cast<void*>(&tensor.whole)
                                                      : static_cast<void*>(&tensor.value));
  }
  YUBA_ASSIGN_OR_RETURN(
      CudnnDescriptor pack,
      CudnnDescriptor::Make(*target.library, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, given));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids));
  YUBA_RETURN_IF_ERROR(pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                                std::vector<void*>{workspace}));
  YUBA_RETURN_IF_ERROR(pack.Finish());
  YUBA_CUDA(target.library->cudnnBackendExecute(target.handle, plan.get(), pack.get()));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
