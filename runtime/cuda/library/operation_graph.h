// A graph of cuDNN's operations on tensors of any rank: first as plain data, then as the library's
// descriptors. The library fuses such a graph where it knows its shape; what the operations mean is
// in cuDNN's documentation of its graph API.
//
// Example: y = 0.5 a b of matrices in f16; the product itself is nowhere stored.
//   OperationGraph graph;
//   const int a = graph.AddStored({{1, 64, 32}, {2048, 32, 1}, 16}, CUDNN_DATA_HALF);
//   const int b = ..., y = ...;
//   const int product = graph.AddVirtual({1, 64, 64}, CUDNN_DATA_FLOAT);
//   graph.Multiply(a, b, product);
//   graph.Map(CUDNN_POINTWISE_MUL, {product, graph.AddValue(0.5f, 3)}, y);
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_OPERATION_GRAPH_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_OPERATION_GRAPH_H_

#include <vector>

#include "runtime/cuda/library/cudnn_routine.h"

namespace yuba::cuda {

class OperationGraph {
 public:
  enum class Place {
    kStored,   // in the GPU's memory, where a pointer says
    kVirtual,  // between operations; never seen
    kValue,    // one number, which the graph has
  };
  struct Tensor {
    Place place = Place::kVirtual;
    CudnnTensor shape;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    float value = 0;    // of kValue, of f32
    int32_t whole = 0;  // of kValue, of i32
  };
  enum class Kind { kMultiply, kMap, kReduce, kView };
  struct Operation {
    Kind kind = Kind::kMap;
    std::vector<int> inputs;  // numbers of tensors
    int result = 0;
    cudnnPointwiseMode_t map = CUDNN_POINTWISE_IDENTITY;
    int axis = -1;                                        // of CUDNN_POINTWISE_GEN_INDEX
    cudnnDataType_t computed_in = CUDNN_DATA_FLOAT;       // maps
    cudnnReduceTensorOp_t sum = CUDNN_REDUCE_TENSOR_ADD;  // reductions
  };

  // Each gives the new tensor's number; numbers count from 0.
  int AddStored(CudnnTensor shape, cudnnDataType_t type);
  // With its elements in row-major order.
  int AddVirtual(std::vector<int64_t> extents, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  int AddVirtual(CudnnTensor shape, cudnnDataType_t type);
  // A number that is alike at all places of tensors of this rank.
  int AddValue(float value, int rank);
  int AddWhole(int32_t value, int rank);

  // result = left right, of the last two dimensions. The others are equal, or a part of the left's:
  // several of its matrices in a row then meet the same one of the right.
  void Multiply(int left, int right, int result);
  // A function of each element. Inputs of extent 1 are repeated.
  void Map(cudnnPointwiseMode_t map, std::vector<int> inputs, int result,
           cudnnDataType_t computed_in = CUDNN_DATA_FLOAT);
  // result = condition ? yes : no.
  void Select(int yes, int no, int condition, int result);
  // Each element's place along a dimension of `like`.
  void Index(int like, int axis, int result);
  // Along the dimensions in which the result is shorter, by groups of neighbours.
  void Reduce(cudnnReduceTensorOp_t operation, int input, int result);
  // The same memory under other extents and strides; nothing moves.
  void View(int input, int result);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Operation>& operations() const { return operations_; }

  // The number by which descriptors and pointers name a tensor.
  static int64_t UniqueId(int tensor) { return 1 + tensor; }

 private:
  int Add(Tensor tensor);

  std::vector<Tensor> tensors_;
  std::vector<Operation> operations_;
};

// The graph as descriptors. Unimplemented where the library does not take one of its operations.
absl::StatusOr<CudnnGraph> Describe(const CudnnTarget& target, const OperationGraph& operations);

// Starts `plan`, of such a graph, on the handle's stream. `pointers` has one for each tensor of the
// graph, which only those that are stored need.
absl::Status Execute(const CudnnTarget& target, const CudnnDescriptor& plan,
                     const OperationGraph& operations, const std::vector<void*>& pointers,
                     char* workspace);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_OPERATION_GRAPH_H_
