#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opsemantics/base/half.h"

namespace yuba::cuda {
namespace {

using Point = std::vector<int64_t>;

// Calls visit(point) with all points of these extents.
template <typename Visit>
void ForEach(const Point& extents, const Visit& visit) {
  Point point(extents.size());
  while (true) {
    visit(point);
    size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

// The point of a tensor that one of another tensor meets: where it is shorter several neighbours
// meet the same.
Point Met(Point point, const Point& extents, const Point& by) {
  for (size_t d = 0; d < point.size(); ++d) point[d] = point[d] * by[d] / extents[d];
  return point;
}

// Whether each extent of `extents` is a multiple of that of `parts`.
bool AreGroups(const Point& extents, const Point& parts) {
  if (extents.size() != parts.size()) return false;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (parts[d] < 1 || extents[d] % parts[d] != 0) return false;
  }
  return true;
}

float Rounded(float value, cudnnDataType_t type) {
  if (type == CUDNN_DATA_HALF) return FromF16(ToF16(value));
  if (type == CUDNN_DATA_BFLOAT16) return FromBF16(ToBF16(value));
  return value;
}

float Mapped(cudnnPointwiseMode_t map, const std::vector<float>& in) {
  switch (map) {
    case CUDNN_POINTWISE_ADD: return in[0] + in[1];
    case CUDNN_POINTWISE_SUB: return in[0] - in[1];
    case CUDNN_POINTWISE_MUL: return in[0] * in[1];
    case CUDNN_POINTWISE_DIV: return in[0] / in[1];
    case CUDNN_POINTWISE_EXP: return std::exp(in[0]);
    case CUDNN_POINTWISE_LOG: return std::log(in[0]);
    case CUDNN_POINTWISE_CMP_GE: return in[0] >= in[1] ? 1 : 0;
    case CUDNN_POINTWISE_BINARY_SELECT: return in[2] != 0 ? in[0] : in[1];
    default: return in[0];
  }
}
// How many inputs a map has; 0: it is none of those above.
size_t InputsOf(cudnnPointwiseMode_t map) {
  switch (map) {
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_CMP_GE: return 2;
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_GEN_INDEX:
    case CUDNN_POINTWISE_IDENTITY: return 1;
    case CUDNN_POINTWISE_BINARY_SELECT: return 3;
    default: return 0;
  }
}

struct Names {
  cudnnBackendDescriptorType_t type;
  std::vector<cudnnBackendAttributeName_t> inputs;  // the last of a map may be missing
  cudnnBackendAttributeName_t result;
};
const std::vector<Names>& KnownOperations() {
  static const auto* names = new std::vector<Names>{
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
       CUDNN_ATTR_OPERATION_MATMUL_CDESC},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
       CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
       CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
       CUDNN_ATTR_OPERATION_RESHAPE_YDESC}};
  return *names;
}

}  // namespace

// Elements by their place in memory, counted in elements from the tensor's first.
class FakeGraph::Memory {
 public:
  explicit Memory(const FakeGraph& graph) : graph_(graph) {}

  static int64_t Place(const Tensor& tensor, const Point& point) {
    int64_t place = 0;
    for (size_t d = 0; d < point.size(); ++d) place += point[d] * tensor.strides[d];
    return place;
  }

  float Load(int64_t id, int64_t place) const {
    const Tensor& tensor = graph_.tensors_.at(id);
    if (tensor.by_value) return tensor.value;
    if (tensor.is_virtual) return kept_.at(id)[place];
    if (tensor.type == CUDNN_DATA_FLOAT) return reinterpret_cast<float*>(tensor.data)[place];
    const uint16_t bits = reinterpret_cast<uint16_t*>(tensor.data)[place];
    return tensor.type == CUDNN_DATA_HALF ? FromF16(bits) : FromBF16(bits);
  }
  float Load(int64_t id, const Point& point, const Point& extents) const {
    const Tensor& tensor = graph_.tensors_.at(id);
    return Load(id, Place(tensor, Met(point, extents, tensor.extents)));
  }

  void Store(int64_t id, int64_t place, float value) {
    const Tensor& tensor = graph_.tensors_.at(id);
    if (tensor.is_virtual) {
      std::vector<float>& all = kept_[id];
      if (static_cast<int64_t>(all.size()) <= place) all.resize(place + 1);
      all[place] = Rounded(value, tensor.type);
    } else if (tensor.type == CUDNN_DATA_FLOAT) {
      reinterpret_cast<float*>(tensor.data)[place] = value;
    } else {
      reinterpret_cast<uint16_t*>(tensor.data)[place] =
          tensor.type == CUDNN_DATA_HALF ? ToF16(value) : ToBF16(value);
    }
  }

 private:
  const FakeGraph& graph_;
  std::map<int64_t, std::vector<float>> kept_;
};

bool FakeGraph::ReadTensor(const CudnnNode& node, int64_t& id) {
  id = node.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  Tensor tensor;
  tensor.extents = node.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = node.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.type = node.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.alignment = node.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  tensor.is_virtual = node.values.count(CUDNN_ATTR_TENSOR_IS_VIRTUAL) > 0;
  tensor.by_value = node.values.count(CUDNN_ATTR_TENSOR_IS_BY_VALUE) > 0;
  const bool in_memory = !tensor.is_virtual && !tensor.by_value;
  if (tensor.extents.size() != tensor.strides.size() ||
      (in_memory && tensor.type != CUDNN_DATA_FLOAT && tensor.type != CUDNN_DATA_HALF &&
       tensor.type != CUDNN_DATA_BFLOAT16) ||
      std::any_of(tensor.strides.begin(), tensor.strides.end(), [](int64_t s) { return s < 1; }))
    return false;
  tensors_.emplace(id, std::move(tensor));
  return true;
}

bool FakeGraph::Fits(const Operation& operation) const {
  const Tensor& result = tensors_.at(operation.result);
  const Tensor& first = tensors_.at(operation.inputs[0]);
  if (result.by_value || result.known) return false;
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: {
      const Tensor& second = tensors_.at(operation.inputs[1]);
      const size_t rank = first.extents.size(), rows = rank - 2, columns = rank - 1;
      Point batches = second.extents, expected = first.extents;
      expected[columns] = second.extents[columns];
      batches[rows] = first.extents[rows];
      batches[columns] = first.extents[columns];
      return result.extents == expected && first.extents[columns] == second.extents[rows] &&
             AreGroups(first.extents, batches) &&
             (result.is_virtual || result.type != CUDNN_DATA_FLOAT);
    }
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      if (operation.inputs.size() != InputsOf(operation.map)) return false;
      return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](int64_t input) {
        const Point& extents = tensors_.at(input).extents;
        for (size_t d = 0; d < extents.size(); ++d) {
          if (extents[d] != 1 && extents[d] != result.extents.at(d)) return false;
        }
        return extents.size() == result.extents.size();
      });
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return AreGroups(first.extents, result.extents);
    default: {  // a view
      Point of_first = first.extents, of_result = result.extents;
      std::sort(of_first.begin(), of_first.end());
      std::sort(of_result.begin(), of_result.end());
      return of_first == of_result && result.is_virtual;
    }
  }
}

bool FakeGraph::Read(const CudnnNode& graph) {
  for (const auto& node : graph.operations) {
    const auto names = std::find_if(KnownOperations().begin(), KnownOperations().end(),
                                    [&](const Names& known) { return known.type == node->type; });
    if (names == KnownOperations().end()) return false;
    Operation made;
    made.type = node->type;
    if (made.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
      const CudnnNode& map = *node->nodes.at(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      made.map = map.One<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
      if (made.map == CUDNN_POINTWISE_GEN_INDEX)
        made.axis = map.One<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
    }
    if (made.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
      const CudnnNode& reduction = *node->nodes.at(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
      const auto kind = reduction.One<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
      made.takes_most = kind == CUDNN_REDUCE_TENSOR_MAX;
      if (!made.takes_most && kind != CUDNN_REDUCE_TENSOR_ADD) return false;
    }
    for (const cudnnBackendAttributeName_t name : names->inputs) {
      if (node->nodes.count(name) == 0) break;
      int64_t id = 0;
      if (!ReadTensor(*node->nodes.at(name), id)) return false;
      const Tensor& tensor = tensors_.at(id);
      if (tensor.is_virtual && !tensor.known) return false;
      made.inputs.push_back(id);
    }
    if (!ReadTensor(*node->nodes.at(names->result), made.result) || !Fits(made)) return false;
    tensors_.at(made.result).known = true;
    operations_.push_back(std::move(made));
  }
  return !operations_.empty();
}

bool FakeGraph::Take(const CudnnNode& pack) {
  const auto ids = pack.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.All<char*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  size_t taken = 0;
  for (auto& [id, tensor] : tensors_) {
    if (tensor.is_virtual) continue;
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) return false;
    tensor.data = pointers.at(found - ids.begin());
    ++taken;
    if (tensor.data == nullptr) return false;
    if (tensor.by_value) {
      tensor.value = tensor.type == CUDNN_DATA_INT32
                         ? static_cast<float>(*reinterpret_cast<int32_t*>(tensor.data))
                         : *reinterpret_cast<float*>(tensor.data);
    } else if (reinterpret_cast<uintptr_t>(tensor.data) % tensor.alignment != 0) {
      return false;
    }
  }
  return taken == ids.size();
}

void FakeGraph::Compute(const std::function<void()>& between) const {
  Memory memory(*this);
  for (const Operation& operation : operations_) {
    between();
    const Tensor& result = tensors_.at(operation.result);
    const Tensor& first = tensors_.at(operation.inputs[0]);
    std::map<int64_t, float> sums;  // by place in the result
    ForEach(result.extents, [&](const Point& point) {
      const int64_t place = Memory::Place(result, point);
      switch (operation.type) {
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: {
          const size_t row = point.size() - 2, column = point.size() - 1;
          const Tensor& second = tensors_.at(operation.inputs[1]);
          Point left = point;
          left[column] = 0;
          Point right = Met(point, result.extents, second.extents);
          right[row] = 0;
          right[column] = point[column];
          float sum = 0;
          for (; left[column] < first.extents[column]; ++left[column], ++right[row]) {
            sum += memory.Load(operation.inputs[0], Memory::Place(first, left)) *
                   memory.Load(operation.inputs[1], Memory::Place(second, right));
          }
          return memory.Store(operation.result, place, sum);
        }
        case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
          if (operation.map == CUDNN_POINTWISE_GEN_INDEX)
            return memory.Store(operation.result, place, static_cast<float>(point[operation.axis]));
          std::vector<float> in;
          for (const int64_t input : operation.inputs)
            in.push_back(memory.Load(input, point, result.extents));
          return memory.Store(operation.result, place, Mapped(operation.map, in));
        }
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
          sums[place] = operation.takes_most ? -std::numeric_limits<float>::infinity() : 0;
          return;
        default:
          return memory.Store(operation.result, place, memory.Load(operation.inputs[0], place));
      }
    });
    if (sums.empty()) continue;
    ForEach(first.extents, [&](const Point& point) {
      float& sum = sums.at(Memory::Place(result, Met(point, first.extents, result.extents)));
      const float term = memory.Load(operation.inputs[0], Memory::Place(first, point));
      sum = operation.takes_most ? std::max(sum, term) : sum + term;
    });
    for (const auto& [place, sum] : sums) memory.Store(operation.result, place, sum);
  }
}

int FakeGraph::products() const {
  return static_cast<int>(
      std::count_if(operations_.begin(), operations_.end(), [](const Operation& operation) {
        return operation.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
      }));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
