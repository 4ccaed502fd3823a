#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_epilogue.h"

#include <utility>

#include "runtime/cuda/library/cudnn_routine.h"

namespace yuba::cuda {
namespace {

// A vector along the channels of a tensor.
CudnnTensor AlongChannels(const CudnnTensor& tensor, int64_t alignment) {
  CudnnTensor made;
  made.alignment = alignment;
  made.extents.assign(tensor.extents.size(), 1);
  made.extents[1] = tensor.extents[1];
  made.strides.assign(tensor.extents.size(), 1);
  made.strides[0] = tensor.extents[1];
  return made;
}

// Adds pointwise operations to a graph, each on the value of the one before it.
class Steps {
 public:
  Steps(const Cudnn& library, const CudnnRoutine& routine, CudnnDescriptor convolved,
        CudnnDescriptor result, CudnnOperations& made)
      : library_(library),
        routine_(routine),
        value_(std::move(convolved)),
        result_(std::move(result)),
        made_(made) {}

  absl::Status Add() {
    const CudnnEpilogue& epilogue = *routine_.epilogue;
    const CudnnTensor& output = routine_.tensors[kOutput];
    if (epilogue.residual) {
      CudnnTensor residual = output;
      residual.alignment = epilogue.residual_alignment;
      YUBA_RETURN_IF_ERROR(AddTensor(residual, kResidualNumber, false));
    }
    YUBA_RETURN_IF_ERROR(AddTensor(AlongChannels(output, epilogue.bias_alignment), kBiasNumber,
                                   /*last=*/!epilogue.relu));
    if (epilogue.relu) YUBA_RETURN_IF_ERROR(Step(CUDNN_POINTWISE_RELU_FWD, nullptr, /*last=*/true));
    made_.others.push_back(std::move(value_));
    made_.others.push_back(std::move(result_));
    return absl::OkStatus();
  }

 private:
  absl::Status AddTensor(const CudnnTensor& tensor, int64_t number, bool last) {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor added, Describe(library_, tensor, routine_.type, number));
    YUBA_RETURN_IF_ERROR(Step(CUDNN_POINTWISE_ADD, &added, last));
    made_.others.push_back(std::move(added));
    return absl::OkStatus();
  }

  // The last step writes the result; others a tensor that the routine keeps to itself.
  absl::Status Step(cudnnPointwiseMode_t mode, const CudnnDescriptor* operand, bool last) {
    if (last) return Pointwise(mode, operand, result_);
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor next,
                          Describe(library_, routine_.tensors[kOutput],
                                   AccumulatorType(routine_.type), ++number_, /*kept=*/true));
    YUBA_RETURN_IF_ERROR(Pointwise(mode, operand, next));
    made_.others.push_back(std::exchange(value_, std::move(next)));
    return absl::OkStatus();
  }

  absl::Status Pointwise(cudnnPointwiseMode_t mode, const CudnnDescriptor* operand,
                         const CudnnDescriptor& written) {
    YUBA_ASSIGN_OR_RETURN(CudnnDescriptor pointwise,
                          CudnnDescriptor::Make(library_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
    YUBA_RETURN_IF_ERROR(
        pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, std::vector{mode}));
    YUBA_RETURN_IF_ERROR(pointwise.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                                       std::vector{CudnnType(AccumulatorType(routine_.type))}));
    YUBA_RETURN_IF_ERROR(pointwise.Finish());
    YUBA_ASSIGN_OR_RETURN(
        CudnnDescriptor operation,
        CudnnDescriptor::Make(library_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
    YUBA_RETURN_IF_ERROR(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise));
    YUBA_RETURN_IF_ERROR(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, value_));
    if (operand != nullptr)
      YUBA_RETURN_IF_ERROR(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *operand));
    YUBA_RETURN_IF_ERROR(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, written));
    YUBA_RETURN_IF_ERROR(operation.Finish());
    made_.operations.push_back(std::move(operation));
    made_.others.push_back(std::move(pointwise));
    return absl::OkStatus();
  }

  const Cudnn& library_;
  const CudnnRoutine& routine_;
  CudnnDescriptor value_, result_;
  CudnnOperations& made_;
  int64_t number_ = kFirstKeptNumber;  // of the last tensor that the routine keeps to itself
};

}  // namespace

absl::Status AddEpilogue(const Cudnn& library, const CudnnRoutine& routine,
                         CudnnDescriptor convolved, CudnnDescriptor result, CudnnOperations& made) {
  return Steps(library, routine, std::move(convolved), std::move(result), made).Add();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
