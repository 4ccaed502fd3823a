#include "compiler/kernels/targets.h"

#include "absl/strings/str_cat.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kC = 0, kPtxKernel = 71;  // of llvm/IR/CallingConv.h

constexpr DeviceLibrary kLibdevice = {
    "__nv_",           "NVIDIA's device library",        "the CUDA toolkit", "CUDA_HOME",
    "/usr/local/cuda", "nvvm/libdevice/libdevice.10.bc", "nvvm-reflect-ftz"};

// Of oneDNN 2 all but GELU by erf, which is four times less exact there than in generated code
// (docs/decisions/153-post-ops.md).
constexpr uint32_t kOneDnnPostOps = 1U << PostOp::kAdd | 1U << PostOp::kSubtract |
                                    1U << PostOp::kMultiply | 1U << PostOp::kScale |
                                    1U << PostOp::kRelu | 1U << PostOp::kGeluTanh;

constexpr TargetFacts kTargets[] = {
    {"host",
     "x86_64-unknown-linux-gnu",
     "x86-64-v3",
     /*features=*/"",
     kC,
     "s",
     /*links=*/true,
     /*parallel=*/false,
     /*warp=*/0,
     /*doubles_have_min=*/true,
     {"onednn", "onednn", /*doubles=*/false, /*tf32=*/false, /*falls_back=*/false},
     /*functions=*/{},
     kOneDnnPostOps},
    {"cuda",
     "nvptx64-nvidia-cuda",
     "sm_80",
     /*features=*/"+ptx80",
     kPtxKernel,
     "ptx",
     /*links=*/false,
     /*parallel=*/true,
     /*warp=*/32,
     /*doubles_have_min=*/false,
     {"cublaslt", "cudnn", /*doubles=*/true, /*tf32=*/true, /*falls_back=*/true},
     kLibdevice},
};

// Of GPUs whose processors LLVM knows, from the oldest for which code is made, ascending.
constexpr int kCapabilities[] = {80, 86, 87, 89, 90};

}  // namespace

std::string GpuProcessor(int capability) {
  int newest = kCapabilities[0];
  for (const int known : kCapabilities) {
    if (known <= capability) newest = known;
  }
  return absl::StrCat("sm_", newest);
}

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
