#include "runtime/cuda/library/attention_routine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::cuda {
namespace {

// What cuDNN's routines load at a time, bytes. With addresses and strides that are not multiples of
// it they are wrong on Hopper and stop on Ampere, says NVIDIA's cudnn-frontend
// (sdpa_support_surface.h); the library plans them all the same.
constexpr int64_t kLoad = 16;
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

constexpr int64_t kScoreBytes = 2;  // of a gradient of a score that is stored
// The scores of a head are stored in blocks of so many.
constexpr int64_t kQueryBlock = 64, kKeyBlock = 128;

const char* const kNames[] = {"q", "k", "v", "o", "do", "dq", "dk", "dv", "the bias"};

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

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
  if (tensor.alignment % kLoad != 0)
    return absl::UnimplementedError(absl::StrCat("cuDNN's attention loads ", kLoad,
                                                 " bytes at a time, and ", name, " is aligned to ",
                                                 tensor.alignment));
  constexpr int64_t kElement = 2;
  for (int d = 0; d < 3; ++d) {
    if (extents[d] == 1) continue;
    const int64_t bytes = tensor.strides[d] * kElement;
    if (bytes <= 0 || bytes % kLoad != 0)
      return absl::UnimplementedError(
          absl::StrCat("cuDNN's attention loads ", kLoad, " bytes at a time, and a step of ", name,
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
  if (bias.tensor.alignment % kLoad != 0)
    return absl::UnimplementedError(absl::StrCat("cuDNN's attention wants a bias aligned to ",
                                                 kLoad, " bytes, not to ", bias.tensor.alignment));
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

// The largest divisor of `total` of which `each` times it is within `most`; at least 1.
int64_t LargestPart(int64_t total, int64_t each, int64_t most) {
  for (int64_t part = total; part > 1; --part) {
    if (total % part == 0 && part * each <= most) return part;
  }
  return 1;
}

// Whether parts along a dimension of the bias begin where it may be loaded.
bool MayCutBias(const AttentionRoutine& routine, int dimension) {
  if (!routine.bias.has_value()) return true;
  return routine.bias->tensor.strides[dimension] * ByteSize(routine.bias->type) % kLoad == 0;
}

}  // namespace

bool AttentionRoutine::operator==(const AttentionRoutine& other) const {
  const auto same = [](const AttentionTensor& a, const AttentionTensor& b) {
    return a.strides == b.strides && a.alignment == b.alignment;
  };
  const auto numbers = [](const AttentionRoutine& r) {
    return std::array<int64_t, 8>{r.batch, r.heads, r.key_heads,   r.queries,
                                  r.keys,  r.width, r.value_width, r.most_score_bytes};
  };
  if (backward != other.backward || type != other.type || statistics != other.statistics ||
      scale != other.scale || numbers(*this) != numbers(other) ||
      causal.has_value() != other.causal.has_value() || bias.has_value() != other.bias.has_value())
    return false;
  if (causal.has_value() &&
      (causal->offset != other.causal->offset || causal->masked != other.causal->masked))
    return false;
  if (bias.has_value() &&
      (bias->type != other.bias->type || !same(bias->tensor, other.bias->tensor)))
    return false;
  return std::equal(tensors.begin(), tensors.begin() + TensorsOf(*this), other.tensors.begin(),
                    same);
}

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

AttentionParts PartsOf(const AttentionRoutine& routine) {
  AttentionParts made;
  AttentionRoutine& part = made.part;
  part = routine;
  if (part.causal.has_value() && part.causal->offset >= part.keys - 1) part.causal.reset();
  if (routine.backward) {
    AttentionRoutine unit = routine;  // the heads of one example that share keys
    unit.batch = 1;
    unit.heads = routine.heads / routine.key_heads;
    const int64_t bytes = ScoreBytes(unit);
    if (MayCutBias(routine, 0))
      part.batch = LargestPart(routine.batch, bytes * routine.key_heads, routine.most_score_bytes);
    if (part.batch == 1 && MayCutBias(routine, 1))
      part.key_heads = LargestPart(routine.key_heads, bytes, routine.most_score_bytes);
    part.heads = unit.heads * part.key_heads;
  }
  const int64_t element = ByteSize(routine.type);
  for (int64_t b = 0; b < routine.batch; b += part.batch) {
    for (int64_t h = 0; h < routine.key_heads; h += part.key_heads) {
      const int64_t head = h * (routine.heads / routine.key_heads);
      std::array<int64_t, kAttentionOperands> offsets = {};
      for (int t = 0; t < TensorsOf(routine); ++t) {
        const bool of_keys = t == kKey || t == kValue || t == kKeyGradient || t == kValueGradient;
        const auto& strides = routine.tensors[t].strides;
        offsets[t] = element * (b * strides[0] + (of_keys ? h : head) * strides[1]);
      }
      if (routine.bias.has_value()) {
        const auto& strides = routine.bias->tensor.strides;
        offsets[kAttentionBias] =
            ByteSize(routine.bias->type) * (b * strides[0] + head * strides[1]);
      }
      offsets[kStatistics] =
          ByteSize(ElementType::kF32) * routine.queries * (b * routine.heads + head);
      made.offsets.push_back(offsets);
    }
  }
  return made;
}

int64_t ScoreBytes(const AttentionRoutine& routine) {
  return kScoreBytes * routine.batch * routine.heads * RoundUp(routine.queries, kQueryBlock) *
         RoundUp(routine.keys, kKeyBlock);
}

int64_t TensorBytes(const AttentionRoutine& routine) {
  int64_t elements = 0;
  for (int t = 0; t < TensorsOf(routine); ++t) {
    int64_t of_tensor = 1;
    for (const int64_t extent : ExtentsOf(routine, static_cast<AttentionOperand>(t)))
      of_tensor *= extent;
    elements += of_tensor;
  }
  return elements * ByteSize(routine.type);
}

std::string TextOf(const AttentionRoutine& routine) {
  std::string text =
      absl::StrCat(Name(routine.type), ", ", routine.batch, " x ", routine.heads, " heads, ",
                   routine.queries, " queries by ", routine.keys, " keys of ", routine.width);
  if (routine.value_width != routine.width)
    absl::StrAppend(&text, " and values of ", routine.value_width);
  if (routine.key_heads != routine.heads)
    absl::StrAppend(&text, ", ", routine.key_heads, " heads of keys");
  if (routine.causal.has_value()) absl::StrAppend(&text, ", causal");
  if (routine.bias.has_value())
    absl::StrAppend(&text, ", with a bias of ", Name(routine.bias->type));
  return text;
}

std::array<int64_t, 4> ExtentsOf(const AttentionRoutine& routine, AttentionOperand tensor) {
  const AttentionRoutine& r = routine;
  switch (tensor) {
    case kQuery:
    case kQueryGradient: return {r.batch, r.heads, r.queries, r.width};
    case kKey:
    case kKeyGradient: return {r.batch, r.key_heads, r.keys, r.width};
    case kValue:
    case kValueGradient: return {r.batch, r.key_heads, r.keys, r.value_width};
    default: return {r.batch, r.heads, r.queries, r.value_width};
  }
}

}  // namespace yuba::cuda
