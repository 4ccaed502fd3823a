#ifdef YUBA_WITH_CUDA
// cuDNN's graph API on the fake GPUs: graphs of one convolution or gradient, and of what its
// precompiled engines do behind a convolution (perhaps a residual that lies like the result, a
// bias, perhaps ReLU); and graphs of products, maps, reductions and views. They are computed as
// they are described. Of the engines that its heuristics name only the last may be taken; the
// others compute nothing.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/runtime/cuda/fake_convolution.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_cudnn_node.h"
#include "tests/runtime/cuda/fake_graph.h"
#include "tests/runtime/cuda/fake_libraries.h"
#include "tests/runtime/cuda/fake_streams.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kWorkspaceBytes = 288;  // of the last engine, which it fills

struct Descriptor {
  std::shared_ptr<CudnnNode> node;
};
CudnnNode& NodeOf(cudnnBackendDescriptor_t descriptor) {
  return *reinterpret_cast<Descriptor*>(descriptor)->node;
}

// The engines: why each must not be taken, and a workspace that is too large.
struct Engine {
  std::vector<cudnnBackendNumericalNote_t> notes;
  int64_t workspace;
  int64_t number;
  bool of_gradients = false;  // of attention alone: it adds up in any order and has no note of it
};
const std::vector<Engine>& Engines() {
  static const auto* engines = new std::vector<Engine>{
      {{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, 0},
      {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, 0, 1},
      {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_WINOGRAD}, 0, 2},
      {{}, int64_t{1} << 40, 7},
      {{}, 0, 5, true},
      {{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, kWorkspaceBytes, 6}};
  return *engines;
}

struct Handle {
  cudaStream_t stream = nullptr;
};
cudnnStatus_t CreateHandle(cudnnHandle_t* handle) {
  if (Fake().libraries_refuse) return CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH;
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t DestroyHandle(cudnnHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t SetStream(cudnnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  auto node = std::make_shared<CudnnNode>();
  node->type = type;
  *made = new Descriptor{std::move(node)};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t Destroy(cudnnBackendDescriptor_t descriptor) {
  delete reinterpret_cast<Descriptor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

size_t SizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_CHAR:
    case CUDNN_TYPE_BOOLEAN: return 1;
    case CUDNN_TYPE_FLOAT:
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_CONVOLUTION_MODE:
    case CUDNN_TYPE_POINTWISE_MODE:
    case CUDNN_TYPE_REDUCTION_OPERATOR_TYPE:
    case CUDNN_TYPE_HEUR_MODE: return 4;
    default: return 8;
  }
}
cudnnStatus_t Set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  CudnnNode& node = NodeOf(descriptor);
  if (node.final || count < 1) return CUDNN_STATUS_BAD_PARAM;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    if (count != 1 && name != CUDNN_ATTR_OPERATIONGRAPH_OPS) return CUDNN_STATUS_BAD_PARAM;
    for (int64_t i = 0; i < count; ++i) {
      auto* const value = static_cast<const cudnnBackendDescriptor_t*>(values)[i];
      const Descriptor& set = *reinterpret_cast<const Descriptor*>(value);
      if (!set.node->final) return CUDNN_STATUS_BAD_PARAM;
      if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS)
        node.operations.push_back(set.node);
      else
        node.nodes[name] = set.node;
    }
    return CUDNN_STATUS_SUCCESS;
  }
  node.values[name] = std::string(static_cast<const char*>(values), count * SizeOf(type));
  return CUDNN_STATUS_SUCCESS;
}

// A kind of operation, by its attributes.
struct Names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
  int result;  // which of x, w and y is computed
};
constexpr Names kNames[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
     2},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 1}};
const Names* NamesOf(const CudnnNode& operation) {
  for (const Names& names : kNames) {
    if (names.type == operation.type) return &names;
  }
  return nullptr;
}

FakeTensor TensorOf(const CudnnNode& node) {
  FakeTensor tensor;
  tensor.extents = node.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = node.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.type = node.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.alignment = node.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  tensor.number = node.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  return tensor;
}

FakeConvolution ConvolutionOf(const CudnnNode& operation) {
  const Names& names = *NamesOf(operation);
  const CudnnNode& windows = *operation.nodes.at(names.convolution);
  FakeConvolution made;
  made.tensors = {TensorOf(*operation.nodes.at(names.x)), TensorOf(*operation.nodes.at(names.w)),
                  TensorOf(*operation.nodes.at(names.y))};
  made.strides = windows.All<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  made.dilations = windows.All<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  made.low = windows.All<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  made.high = windows.All<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  made.result = names.result;
  const bool doubles = made.tensors[0].type == CUDNN_DATA_DOUBLE;
  made.adds =
      doubles ? operation.One<double>(names.beta) == 1 : operation.One<float>(names.beta) == 1;
  return made;
}

bool IsKept(const CudnnNode& tensor) {  // by the graph, which has no pointer to it
  return tensor.values.count(CUDNN_ATTR_TENSOR_IS_VIRTUAL) > 0;
}

// Adds pointwise operations to the work; false where they are no chain of those that there are
// engines for.
bool AddSteps(const std::vector<std::shared_ptr<CudnnNode>>& operations, FakeConvolution& work) {
  const CudnnNode* value = operations[0]->nodes.at(NamesOf(*operations[0])->y).get();
  const cudnnDataType_t accumulator =
      work.tensors[0].type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  bool has_bias = false;
  for (size_t o = 1; o < operations.size(); ++o) {
    const CudnnNode& step = *operations[o];
    if (step.nodes.at(CUDNN_ATTR_OPERATION_POINTWISE_XDESC).get() != value || !IsKept(*value) ||
        TensorOf(*value).type != accumulator || work.relu)
      return false;
    value = step.nodes.at(CUDNN_ATTR_OPERATION_POINTWISE_YDESC).get();
    const CudnnNode& mode = *step.nodes.at(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    if (mode.One<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC) != accumulator) return false;
    if (mode.One<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_RELU_FWD) {
      work.relu = true;
      continue;
    }
    const FakeTensor added = TensorOf(*step.nodes.at(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    const FakeTensor output = TensorOf(*value);
    std::vector<int64_t> channels(output.extents.size(), 1);
    channels[1] = output.extents[1];
    const bool bias = added.extents == channels && added.strides[1] == 1;
    const bool residual =
        added.extents == output.extents && added.strides == output.strides && o == 1;
    if (has_bias || (!bias && !residual)) return false;
    has_bias = bias && !(residual && operations.size() > 2);
    work.added.push_back(added);
  }
  work.tensors[2] = TensorOf(*value);
  return has_bias && !IsKept(*value) && work.tensors[2].type == work.tensors[0].type;
}

// What a graph computes; null where no engine does.
std::unique_ptr<FakeConvolution> WorkOf(const CudnnNode& graph) {
  if (graph.operations.empty() || NamesOf(*graph.operations[0]) == nullptr) return nullptr;
  auto work = std::make_unique<FakeConvolution>(ConvolutionOf(*graph.operations[0]));
  if (graph.operations.size() > 1 && (work->adds || !AddSteps(graph.operations, *work)))
    return nullptr;
  return work;
}

bool HasConvolution(const CudnnNode& graph) { return NamesOf(*graph.operations.at(0)) != nullptr; }

// Gradients of attention have five products, attention has two.
bool IsOfGradients(const CudnnNode& graph) {
  FakeGraph read;
  return !HasConvolution(graph) && read.Read(graph) && read.products() > 2;
}

cudnnStatus_t Finalize(cudnnBackendDescriptor_t descriptor) {
  CudnnNode& node = NodeOf(descriptor);
  if (node.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && !HasConvolution(node) &&
      !FakeGraph().Read(node))
    return CUDNN_STATUS_BAD_PARAM;
  if (NamesOf(node) != nullptr && !Fits(ConvolutionOf(node))) return CUDNN_STATUS_BAD_PARAM;
  if (node.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
      node.One<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE) != CUDNN_HEUR_MODE_A)
    return CUDNN_STATUS_NOT_SUPPORTED;
  node.final = true;
  return CUDNN_STATUS_SUCCESS;
}

template <typename Value>
cudnnStatus_t Give(const std::vector<Value>& values, int64_t most, int64_t* count, void* into) {
  *count = std::min<int64_t>(most, values.size());
  std::memcpy(into, values.data(), *count * sizeof(Value));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t Get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t, int64_t most, int64_t* count, void* into) {
  const CudnnNode& node = NodeOf(descriptor);
  auto* const made = static_cast<cudnnBackendDescriptor_t*>(into);
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      const CudnnNode& graph = *node.nodes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
      const bool gradients = IsOfGradients(graph);
      *count = 0;
      if (HasConvolution(graph) && WorkOf(graph) == nullptr) return CUDNN_STATUS_SUCCESS;
      for (size_t e = 0; e < Engines().size() && *count < most; ++e) {
        if (Engines()[e].of_gradients && !gradients) continue;
        CudnnNode& named = NodeOf(made[(*count)++]);
        named.engine = static_cast<int64_t>(e);
        named.nodes = node.nodes;
        named.final = true;
      }
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      NodeOf(made[0]).engine = node.engine;
      *count = 1;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return Give(Engines()[node.engine].notes, most, count, into);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return Give(std::vector{Engines()[node.engine].number}, most, count, into);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: {
      const int64_t engine = node.nodes.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine;
      return Give(std::vector{Engines()[engine].workspace}, most, count, into);
    }
    default: return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

// Of a graph without convolutions.
cudnnStatus_t ExecuteGraph(cudnnHandle_t handle, const CudnnNode& settings, const CudnnNode& graph,
                           const CudnnNode& given) {
  FakeGraph work;
  if (!work.Read(graph) || !work.Take(given)) return CUDNN_STATUS_BAD_PARAM;
  char* const workspace = given.One<char*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const bool last = settings.engine + 1 == static_cast<int64_t>(Engines().size());
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().attentions;
  Enqueue(reinterpret_cast<Handle*>(handle)->stream, [=] {
    if (last) work.Compute([=] { std::memset(workspace, -1, kWorkspaceBytes); });
  });
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t pack) {
  const CudnnNode& settings = *NodeOf(plan).nodes.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const CudnnNode& graph = *settings.nodes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  const CudnnNode& given = NodeOf(pack);
  if (!HasConvolution(graph)) return ExecuteGraph(handle, settings, graph, given);
  FakeConvolution work = *WorkOf(graph);
  const auto numbers = given.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = given.All<char*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::vector<FakeTensor*> tensors;
  for (FakeTensor& tensor : work.tensors) tensors.push_back(&tensor);
  for (FakeTensor& tensor : work.added) tensors.push_back(&tensor);
  if (numbers.size() != tensors.size()) return CUDNN_STATUS_BAD_PARAM;
  for (FakeTensor* const tensor : tensors) {
    const auto found = std::find(numbers.begin(), numbers.end(), tensor->number);
    if (found == numbers.end()) return CUDNN_STATUS_BAD_PARAM;
    tensor->data = pointers.at(found - numbers.begin());
    if (reinterpret_cast<uintptr_t>(tensor->data) % tensor->alignment != 0)
      return CUDNN_STATUS_BAD_PARAM;
  }
  char* const workspace = given.One<char*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const bool last = settings.engine + 1 == static_cast<int64_t>(Engines().size());
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().convolutions;
  Enqueue(reinterpret_cast<Handle*>(handle)->stream, [=] {
    if (!last) return;
    std::memset(workspace, -1, kWorkspaceBytes);
    Compute(work);
  });
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void FakeCudnn() {
  const auto opened = Cudnn::Open();
  if (!opened.ok()) return;
  Cudnn& library = *const_cast<Cudnn*>(*opened);
  library.cudnnCreate = CreateHandle;
  library.cudnnDestroy = DestroyHandle;
  library.cudnnSetStream = SetStream;
  library.cudnnBackendCreateDescriptor = Create;
  library.cudnnBackendDestroyDescriptor = Destroy;
  library.cudnnBackendSetAttribute = Set;
  library.cudnnBackendGetAttribute = Get;
  library.cudnnBackendFinalize = Finalize;
  library.cudnnBackendExecute = Execute;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
