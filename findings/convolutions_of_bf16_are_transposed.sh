#!/usr/bin/env bash
# cuDNN 9.19 (nvidia-cudnn-cu13 9.19.0.56), planning a 3 x 3 convolution of 256 channels in bf16 for
# an H100 and an A100 that are described to it, which needs no GPU.
# One would guess: images with rows innermost (NCHW) have engines of their own, slower than those for
# channels innermost (NHWC).
# Seen: the heuristics name the same engines in the same order; every single plan for NCHW has a
# workspace larger by the bytes of image, filter and result together, a copy of each.
# Why it matters: who chooses a layout by looking at engines sees no difference; workspaces tell it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/plans.cc" <<'CODE'
#include <cudnn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

using Descriptor = cudnnBackendDescriptor_t;

void Check(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::printf("%s\n", cudnnGetErrorString(status));
  std::exit(1);
}

Descriptor Make(cudnnBackendDescriptorType_t type) {
  Descriptor made;
  Check(cudnnBackendCreateDescriptor(type, &made));
  return made;
}

template <class T>
void Set(Descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const std::vector<T>& values) {
  Check(cudnnBackendSetAttribute(d, name, type, values.size(), values.data()));
}

void SetPart(Descriptor d, cudnnBackendAttributeName_t name, Descriptor part) {
  Set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector{part});
}

template <class T>
T Get(Descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
  int64_t count = 0;
  Check(cudnnBackendGetAttribute(d, name, type, 1, &count, &value));
  return value;
}

Descriptor Tensor(int64_t id, int64_t n, int64_t c, int64_t side, bool channels_last) {
  Descriptor t = Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  Set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CUDNN_DATA_BFLOAT16});
  const auto numbers = [&](cudnnBackendAttributeName_t name, std::vector<int64_t> values) {
    Set(t, name, CUDNN_TYPE_INT64, values);
  };
  numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, side, side});
  const int64_t all = c * side * side;
  numbers(CUDNN_ATTR_TENSOR_STRIDES, channels_last ? std::vector{all, int64_t{1}, side * c, c}
                                                   : std::vector{all, side * side, side, int64_t{1}});
  numbers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id});
  numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  Check(cudnnBackendFinalize(t));
  return t;
}

// The engines and workspaces of all plans that the heuristics name, the best first.
std::vector<std::pair<int64_t, int64_t>> Plans(const std::string& described, bool channels_last) {
  Descriptor window = Make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  Set(window, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CUDNN_DATA_FLOAT});
  Set(window, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
      std::vector{CUDNN_CROSS_CORRELATION});
  Set(window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::vector<int64_t>{2});
  for (auto name : {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                    CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES})
    Set(window, name, CUDNN_TYPE_INT64, std::vector<int64_t>{1, 1});
  Check(cudnnBackendFinalize(window));
  Descriptor operation = Make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  SetPart(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
  SetPart(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, Tensor('x', 32, 256, 14, channels_last));
  SetPart(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, Tensor('w', 256, 256, 3, channels_last));
  SetPart(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, Tensor('y', 32, 256, 14, channels_last));
  Set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, std::vector{1.0f});
  Set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, std::vector{0.0f});
  Check(cudnnBackendFinalize(operation));
  Descriptor gpu = Make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  Check(cudnnBackendSetAttribute(gpu, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                 described.size() + 1, described.c_str()));
  Check(cudnnBackendFinalize(gpu));
  Descriptor graph = Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  SetPart(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  Check(cudnnBackendFinalize(graph));
  Descriptor heuristics = Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  SetPart(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  Set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, std::vector{CUDNN_HEUR_MODE_A});
  SetPart(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, gpu);
  Check(cudnnBackendFinalize(heuristics));
  std::vector<Descriptor> named;
  for (int i = 0; i < 64; ++i) named.push_back(Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  int64_t count = 0;
  Check(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 64, &count, named.data()));
  std::vector<std::pair<int64_t, int64_t>> plans;
  for (int64_t i = 0; i < count; ++i) {
    Descriptor plan = Make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    SetPart(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, named[i]);
    SetPart(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, gpu);
    if (cudnnBackendFinalize(plan) != CUDNN_STATUS_SUCCESS) continue;
    const Descriptor engine = Get(named[i], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                  Make(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    plans.emplace_back(
        Get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, int64_t{0}),
        Get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, int64_t{0}));
  }
  return plans;
}

int main(int, char** arguments) {
  const auto rows = Plans(arguments[1], false), channels = Plans(arguments[1], true);
  const int64_t tensors = 2 * (2 * 32 * 256 * 14 * 14 + 256 * 256 * 3 * 3);
  bool same = rows.size() == channels.size();
  int64_t least = -1;
  for (size_t i = 0; same && i < rows.size(); ++i) {
    same = rows[i].first == channels[i].first;
    const int64_t more = rows[i].second - channels[i].second;
    if (least < 0 || more < least) least = more;
  }
  std::printf("%.11s: %zu plans NCHW, %zu NHWC; the same engines in the same order: %s; workspaces "
              "larger by at least %lld bytes, of tensors of %lld\n", std::strstr(arguments[1], "NVIDIA"),
              rows.size(), channels.size(), same ? "yes" : "no", (long long)least, (long long)tensors);
  return same && least >= tensors ? 0 : 1;
}
CODE
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q --no-deps nvidia-cudnn-cu13==9.19.0.56 nvidia-cuda-runtime==13.0.96 ||
  exit 2
nvidia=$(echo "$work"/venv/lib/python3*/site-packages/nvidia)
g++ -std=c++17 -I"$nvidia/cudnn/include" -I"$nvidia/cu13/include" "$work/plans.cc" -o "$work/plans" \
  "$nvidia/cudnn/lib/libcudnn.so.9" -Wl,-rpath,"$nvidia/cudnn/lib" || exit 2
described() {  # capability, processors, shared memory of a block, cache, clock, memory's clock, name
  echo "{\"deviceVer\":$1,\"multiProcessorCount\":$2,\"maxSharedMemoryPerBlockOptin\":$3,\
\"l2CacheSize\":$4,\"smClockRateKHz\":$5,\"memClockRateKHz\":$6,\"driverVer\":13000,\"cudaDeviceId\":0,\
\"totalGlobalMem\":85000000000,\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],\
\"regsPerBlock\":65536,\"warpSize\":32,\"maxSharedMemoryPerBlock\":49152,\
\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,\
\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"pciDeviceId\":0,\"isTccDriver\":0,\
\"supportCoopLaunch\":1,\"deviceName\":\"$7\"}"
}
export LD_LIBRARY_PATH=$nvidia/cudnn/lib
"$work/plans" "$(described 900 132 232448 52428800 1980000 2619000 'NVIDIA H100')"
"$work/plans" "$(described 800 108 166912 41943040 1410000 1593000 'NVIDIA A100')"
