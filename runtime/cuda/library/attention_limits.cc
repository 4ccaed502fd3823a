#include "runtime/cuda/library/attention_limits.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kWidths = 8;  // widths are multiples of it

// Versions as cudnnGetVersion() counts. What is known of older ones is in NVIDIA's cudnn-frontend
// 1.x (sdpa_support_surface.h, scaled_dot_product_flash_attention.h).
constexpr int64_t kOldest = 91002;  // 9.10.0 and 9.10.1 compute attention of small floats wrongly
constexpr int64_t kAnyKeyCount = 91501;  // before it gradients were right of multiples of 128 keys
constexpr int64_t kTwoWidths = 91300;    // before it gradients on Hopper had few pairs of widths
constexpr int64_t kKeysOfOldGradients = 128;
constexpr int64_t kLargestOldWidth = 128;

// On which GPUs gradients are added up in one order, where they are asked for in the form that says
// so: the support matrix in NVIDIA's documentation of cudnn-frontend's attention, of cuDNN 9.18.1.
// Before it TransformerEngine takes them for ordered on Hopper alone. GPUs after Hopper have to be
// asked by settings of the engine too.
constexpr int kAmpere = 80, kHopper = 90, kAfterHopper = 100;
constexpr int64_t kOrderedOnAmpere = 91801;

// A masked score above this may leave its key a weight that is not 0.
constexpr float kMostMasked = -1e4f;

const char* const kNames[] = {"q", "k", "v", "o", "do", "dq", "dk", "dv"};

std::string VersionText(int64_t version) {
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

absl::Status TooOld(int64_t version, int64_t wanted, const char* why) {
  return absl::UnavailableError(absl::StrCat("cuDNN ", VersionText(version), " ", why,
                                             "; install cuDNN ", VersionText(wanted),
                                             " or a newer one"));
}

absl::Status CheckGradients(const AttentionRoutine& routine, int64_t version, int capability) {
  if (version < kAnyKeyCount && routine.keys % kKeysOfOldGradients != 0)
    return TooOld(version, kAnyKeyCount,
                  "has gradients of attention of multiples of 128 keys alone");
  if (version < kTwoWidths && routine.width != routine.value_width &&
      routine.width > kLargestOldWidth)
    return TooOld(version, kTwoWidths,
                  "lacks gradients of attention where values are not as wide as keys");
  if (routine.queries == 1 && routine.keys == 1)
    return absl::UnimplementedError("cuDNN has no gradients of attention of one query to one key");
  if (capability < kAmpere || capability >= kAfterHopper)
    return absl::UnimplementedError(absl::StrCat(
        "gradients of attention through cuDNN that are the same in every run are known of GPUs of "
        "compute capability 8.0 to 9.0, this one has ",
        capability / 10, ".", capability % 10));
  if (capability < kHopper && version < kOrderedOnAmpere)
    return TooOld(version, kOrderedOnAmpere,
                  "may have other gradients of attention in every run on this GPU");
  return absl::OkStatus();
}

absl::Status CheckTensor(const AttentionTensor& tensor, const std::array<int64_t, 4>& extents,
                         const char* name) {
  if (extents[3] > 1 && tensor.strides[3] != 1)
    return absl::UnimplementedError(
        absl::StrCat("cuDNN's attention wants the elements of a head side by side, those of ", name,
                     " are ", tensor.strides[3], " apart"));
  if (tensor.alignment % kAttentionLoad != 0)
    return absl::UnimplementedError(absl::StrCat("cuDNN's attention loads ", kAttentionLoad,
                                                 " bytes at a time, and ", name, " is aligned to ",
                                                 tensor.alignment));
  constexpr int64_t kElement = 2;
  for (int d = 0; d < 3; ++d) {
    if (extents[d] == 1) continue;
    const int64_t bytes = tensor.strides[d] * kElement;
    if (bytes <= 0 || bytes % kAttentionLoad != 0)
      return absl::UnimplementedError(absl::StrCat(
          "cuDNN's attention loads ", kAttentionLoad, " bytes at a time, and a step of ", name,
          " along dimension ", d, " is ", bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckBias(const AttentionRoutine& routine) {
  const AttentionBias& bias = *routine.bias;
  if (bias.type != ElementType::kF32 && bias.type != ElementType::kF16 &&
      bias.type != ElementType::kBF16)
    return absl::UnimplementedError(
        absl::StrCat("cuDNN's attention adds no bias of ", Name(bias.type)));
  const int64_t last = bias.tensor.strides[3];
  if (routine.keys > 1 && last != 1)
    return absl::UnimplementedError(absl::StrCat(
        "cuDNN's attention wants a bias with a number for each key side by side, these are ", last,
        " apart"));
  if (bias.tensor.alignment % kAttentionLoad != 0)
    return absl::UnimplementedError(absl::StrCat("cuDNN's attention wants a bias aligned to ",
                                                 kAttentionLoad, " bytes, not to ",
                                                 bias.tensor.alignment));
  return absl::OkStatus();
}

absl::Status CheckMask(const CausalMask& mask) {
  if (mask.offset < 0)
    return absl::UnimplementedError(absl::StrCat(
        "cuDNN's attention wants a key for each query; the first ", -mask.offset, " see none"));
  if (!(mask.masked <= kMostMasked))
    return absl::UnimplementedError(
        absl::StrCat("cuDNN's attention leaves masked keys no weight; a score of ", mask.masked,
                     " may leave them some"));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAttention(const AttentionRoutine& routine, int64_t version, int capability) {
  YUBA_CHECK(routine.batch > 0 && routine.queries > 0 && routine.keys > 0 && routine.width > 0 &&
             routine.value_width > 0 && routine.key_heads > 0 &&
             routine.heads % routine.key_heads == 0 && routine.heads > 0)
      << TextOf(routine);
  if (routine.type != ElementType::kF16 && routine.type != ElementType::kBF16)
    return absl::UnimplementedError(
        absl::StrCat("cuDNN's attention is of f16 and bf16, not of ", Name(routine.type)));
  if (version < kOldest) return TooOld(version, kOldest, "is too old for attention");
  if (routine.backward) YUBA_RETURN_IF_ERROR(CheckGradients(routine, version, capability));
  if (routine.width % kWidths != 0 || routine.value_width % kWidths != 0)
    return absl::UnimplementedError(absl::StrCat("cuDNN's attention wants heads of multiples of ",
                                                 kWidths, ", not ", routine.width, " and ",
                                                 routine.value_width));
  for (int t = 0; t < TensorsOf(routine); ++t) {
    const auto tensor = static_cast<AttentionOperand>(t);
    YUBA_RETURN_IF_ERROR(CheckTensor(routine.tensors[t], ExtentsOf(routine, tensor), kNames[t]));
  }
  if (routine.bias.has_value()) YUBA_RETURN_IF_ERROR(CheckBias(routine));
  if (routine.causal.has_value()) YUBA_RETURN_IF_ERROR(CheckMask(*routine.causal));
  return absl::OkStatus();
}

}  // namespace yuba::cuda
