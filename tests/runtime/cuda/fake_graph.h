// A graph of products, maps, reductions and views as it is described to cuDNN, computed on this
// processor operation by operation: sums and what is virtual in f32, each tensor rounded to its
// type. It knows no patterns: what it computes is what the graph says.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_GRAPH_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_GRAPH_H_

#include <functional>
#include <map>
#include <vector>

#include "tests/runtime/cuda/fake_cudnn_node.h"

namespace yuba::cuda {

class FakeGraph {
 public:
  // Of a graph's descriptor; false where it is none that this computes: another operation, tensors
  // that do not fit, one that is read before it is computed. And where a product of small floats
  // is stored in f32: the library would add it up in any order.
  bool Read(const CudnnNode& graph);

  // Takes the pointers of a variant pack, and the values behind them that are by value; false where
  // one is missing, more than needed, or not aligned as it was described.
  bool Take(const CudnnNode& pack);

  // Calls `between` before each operation.
  void Compute(const std::function<void()>& between) const;

  int products() const;

 private:
  struct Tensor {
    std::vector<int64_t> extents, strides;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t alignment = 1;
    bool is_virtual = false, by_value = false, known = false;
    char* data = nullptr;
    float value = 0;
  };
  struct Operation {
    cudnnBackendDescriptorType_t type = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
    std::vector<int64_t> inputs;  // ids
    int64_t result = 0;
    cudnnPointwiseMode_t map = CUDNN_POINTWISE_IDENTITY;
    int64_t axis = 0;
    bool takes_most = false;  // a reduction to the largest; else to the sum
  };
  class Memory;  // what virtual tensors hold while the graph is computed

  bool ReadTensor(const CudnnNode& node, int64_t& id);
  bool Fits(const Operation& operation) const;

  std::map<int64_t, Tensor> tensors_;  // by id
  std::vector<Operation> operations_;
};

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_GRAPH_H_
