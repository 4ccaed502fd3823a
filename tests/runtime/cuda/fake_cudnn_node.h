// What a descriptor of the fake cuDNN holds.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDNN_NODE_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDNN_NODE_H_

#include <cudnn.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace yuba::cuda {

struct CudnnNode {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool final = false;
  std::map<cudnnBackendAttributeName_t, std::string> values;
  std::map<cudnnBackendAttributeName_t, std::shared_ptr<CudnnNode>> nodes;
  std::vector<std::shared_ptr<CudnnNode>> operations;  // of a graph
  int64_t engine = -1;                                 // of an engine, and of its settings

  template <typename Value>
  std::vector<Value> All(cudnnBackendAttributeName_t name) const {
    const std::string& bytes = values.at(name);
    std::vector<Value> all(bytes.size() / sizeof(Value));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  template <typename Value>
  Value One(cudnnBackendAttributeName_t name) const {
    return All<Value>(name).at(0);
  }
};

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDNN_NODE_H_
