#include "compiler/kernels/targets.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kC = 0, kPtxKernel = 71;  // of llvm/IR/CallingConv.h

constexpr DeviceLibrary kLibdevice = {
    "__nv_",           "NVIDIA's device library",        "the CUDA toolkit", "CUDA_HOME",
    "/usr/local/cuda", "nvvm/libdevice/libdevice.10.bc", "nvvm-reflect-ftz"};

// clang-format off
constexpr TargetFacts kTargets[] = {
  // name   triple                      processor    features  convention  assembly links  parallel warp min    library   convolutions functions
    {"host", "x86_64-unknown-linux-gnu", "x86-64-v3", "",       kC,         "s",     true,  false,   0,   true,  "onednn", true,        {}},
    {"cuda", "nvptx64-nvidia-cuda",      "sm_80",     "+ptx80", kPtxKernel, "ptx",   false, true,    32,  false, "cublas", false,       kLibdevice},
};
// clang-format on

}  // namespace

const TargetFacts& HostTarget() { return kTargets[0]; }

const TargetFacts* FindTarget(absl::string_view name) {
  for (const TargetFacts& facts : kTargets) {
    if (name == facts.name) return &facts;
  }
  return nullptr;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const TargetFacts& facts : kTargets) names.push_back(facts.name);
  return names;
}

}  // namespace yuba::kernels
