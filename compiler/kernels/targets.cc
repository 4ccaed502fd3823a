#include "compiler/kernels/targets.h"

#include "absl/strings/str_cat.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kC = 0, kPtxKernel = 71;  // of llvm/IR/CallingConv.h

constexpr DeviceLibrary kLibdevice = {
    "__nv_",           "NVIDIA's device library",        "the CUDA toolkit", "CUDA_HOME",
    "/usr/local/cuda", "nvvm/libdevice/libdevice.10.bc", "nvvm-reflect-ftz"};

template <typename... Kinds>
constexpr uint32_t Mask(Kinds... kinds) {
  return ((1U << kinds) | ...);
}

// Of oneDNN 2 all but GELU by erf, which is four times less exact there than in generated code
// (docs/decisions/153-post-ops.md).
constexpr PostOpChain kOneDnnSteps = {{{{Mask(PostOp::kAdd, PostOp::kSubtract, PostOp::kMultiply,
                                              PostOp::kScale, PostOp::kRelu, PostOp::kGeluTanh)}}},
                                      /*any_order=*/true};

// cuBLASLt: act(alpha * A * B + beta * C + bias). Its GELU is the form by tanh, also in f32
// (docs/decisions/156-epilogues.md).
constexpr PostOpChain kCublasLtSteps = {
    {{{Mask(PostOp::kScale)},
      {Mask(PostOp::kAdd, PostOp::kSubtract), PostOpPlace::kResult},
      {Mask(PostOp::kAdd), PostOpPlace::kChannels},
      {Mask(PostOp::kRelu, PostOp::kGeluTanh)}}}};

// And slope(X) * A * B, of GELU at a matrix that lies like the result.
constexpr PostOpChain kCublasLtSlopes = {{{{Mask(PostOp::kGeluTanhSlope), PostOpPlace::kResult}}}};

// The one pattern for which cuDNN has precompiled engines, in all float types and without TF32.
constexpr PostOpChain kCudnnSteps = {{{{Mask(PostOp::kAdd), PostOpPlace::kResult},
                                       {Mask(PostOp::kAdd), PostOpPlace::kChannels},
                                       {Mask(PostOp::kRelu)}}}};

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
     {"onednn", "onednn", /*attention=*/nullptr, /*joint_calls=*/false, /*doubles=*/false,
      /*tf32=*/false,
      /*channels_last=*/false, /*falls_back=*/false},
     /*functions=*/{},
     {kOneDnnSteps, /*slopes=*/{}, kOneDnnSteps, /*small_floats=*/false}},
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
     {"cublaslt", "cudnn", "cudnn", /*joint_calls=*/true, /*doubles=*/true, /*tf32=*/true,
      /*channels_last=*/true, /*falls_back=*/true},
     kLibdevice,
     {kCublasLtSteps, kCublasLtSlopes, kCudnnSteps, /*small_floats=*/true}},
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
