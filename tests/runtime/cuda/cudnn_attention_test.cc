// Attention as it is described to cuDNN, computed by the stand-in for the library (fake_graph.h),
// which computes what it is told, against a direct computation in doubles.
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "opsemantics/base/half.h"
#include "tests/runtime/cuda/attention_reference.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

// How the tensors lie: heads by heads, position by position, or position by position inside of
// larger rows, as the parts of one product that gives queries, keys and values.
enum class Layout { kHeads, kPositions, kInRows };

void Lay(Layout layout, AttentionRoutine& routine) {
  for (int t = 0; t < kAttentionTensors; ++t) {
    const auto [b, h, s, w] = ExtentsOf(routine, static_cast<AttentionOperand>(t));
    if (layout == Layout::kHeads) {
      routine.tensors[t].strides = {h * s * w, s * w, w, 1};
    } else {
      const int64_t row = layout == Layout::kPositions ? h * w : 3 * h * w;
      routine.tensors[t].strides = {s * row, w, row, 1};
    }
  }
}

AttentionRoutine Routine(int64_t batch, int64_t heads, int64_t key_heads, int64_t queries,
                         int64_t keys, int64_t width, int64_t value_width) {
  AttentionRoutine made;
  made.batch = batch;
  made.heads = heads;
  made.key_heads = key_heads;
  made.queries = queries;
  made.keys = keys;
  made.width = width;
  made.value_width = value_width;
  made.scale = 0.4f;
  made.statistics = true;
  Lay(Layout::kPositions, made);
  return made;
}

AttentionRoutine Causal(AttentionRoutine routine, int64_t offset) {
  routine.causal.emplace();
  routine.causal->offset = offset;
  return routine;
}

// A bias for each of `dimensions`, of "bhq", and for each key.
AttentionRoutine Biased(AttentionRoutine routine, ElementType type, const std::string& dimensions) {
  routine.bias.emplace();
  routine.bias->type = type;
  auto& strides = routine.bias->tensor.strides;
  strides = {0, 0, 0, 1};
  int64_t next = (routine.keys + 7) / 8 * 8;
  const int64_t extents[] = {routine.batch, routine.heads, routine.queries};
  for (int d = 3; d-- > 0;) {
    if (dimensions.find("bhq"[d]) == std::string::npos) continue;
    strides[d] = next;
    next *= extents[d];
  }
  return routine;
}

double Rounded(double value, ElementType type) {
  const auto small = static_cast<float>(value);
  return type == ElementType::kF16    ? FromF16(ToF16(small))
         : type == ElementType::kBF16 ? FromBF16(ToBF16(small))
                                      : small;
}

struct Strided {
  std::array<int64_t, 4> extents, strides;
  ElementType type;
};

// The operands of a routine that lie in the GPU's memory.
Strided Placed(const AttentionRoutine& routine, int operand) {
  const std::array<int64_t, 4> rows = {routine.batch, routine.heads, routine.queries, 1};
  if (operand == kStatistics) return {rows, {rows[1] * rows[2], rows[2], 1, 1}, ElementType::kF32};
  if (operand == kAttentionBias) {
    const auto& strides = routine.bias->tensor.strides;
    std::array<int64_t, 4> extents = rows;
    extents[3] = routine.keys;
    for (int d = 0; d < 4; ++d) extents[d] = strides[d] == 0 ? 1 : extents[d];
    return {extents, strides, routine.bias->type};
  }
  return {ExtentsOf(routine, static_cast<AttentionOperand>(operand)),
          routine.tensors[operand].strides, routine.type};
}

void ForEach(const Strided& tensor,
             const std::function<void(std::array<int64_t, 4>, int64_t)>& visit) {
  const auto& [e, s, type] = tensor;
  for (int64_t a = 0; a < e[0]; ++a)
    for (int64_t b = 0; b < e[1]; ++b)
      for (int64_t c = 0; c < e[2]; ++c)
        for (int64_t d = 0; d < e[3]; ++d)
          visit({a, b, c, d}, a * s[0] + b * s[1] + c * s[2] + d * s[3]);
}

constexpr char kUnwritten = 0x7b;

std::string ToBytes(const Strided& tensor, const Array4& array) {
  int64_t elements = 1;
  for (int d = 0; d < 4; ++d) elements += (tensor.extents[d] - 1) * tensor.strides[d];
  const int64_t size = ByteSize(tensor.type);
  std::string bytes(elements * size, kUnwritten);
  if (array.values.empty()) return bytes;
  ForEach(tensor, [&](const std::array<int64_t, 4>& p, int64_t at) {
    const auto value = static_cast<float>(array.At(p[0], p[1], p[2], p[3]));
    const uint16_t half = tensor.type == ElementType::kF16 ? ToF16(value) : ToBF16(value);
    std::memcpy(&bytes[at * size],
                size == 4 ? static_cast<const void*>(&value) : static_cast<const void*>(&half),
                size);
  });
  return bytes;
}

Array4 FromBytes(const Strided& tensor, const std::string& bytes) {
  Array4 array = Array4::Of(tensor.extents);
  const int64_t size = ByteSize(tensor.type);
  ForEach(tensor, [&](const std::array<int64_t, 4>& p, int64_t at) {
    float value = 0;
    uint16_t half = 0;
    std::memcpy(size == 4 ? static_cast<void*>(&value) : static_cast<void*>(&half),
                &bytes[at * size], size);
    array.At(p[0], p[1], p[2], p[3]) = size == 4                          ? value
                                       : tensor.type == ElementType::kF16 ? FromF16(half)
                                                                          : FromBF16(half);
  });
  return array;
}

// A fake GPU with a stream, and the library's handle for it.
class FakeGpu {
 public:
  FakeGpu() : fakes_(1) {
    REQUIRE(cudaStreamCreateWithFlags(&stream_, 0) == cudaSuccess);
    target_.library = *Cudnn::Open();
    REQUIRE(target_.library->cudnnCreate(&target_.handle) == CUDNN_STATUS_SUCCESS);
    target_.library->cudnnSetStream(target_.handle, stream_);
  }
  ~FakeGpu() {
    target_.library->cudnnDestroy(target_.handle);
    cudaStreamDestroy(stream_);
  }
  const CudnnTarget& target() const { return target_; }

  // Runs the routine on these operands, of which those that it does not read are left out, and
  // gives them back.
  std::array<std::string, kAttentionOperands> Run(
      const CudnnAttention& attention, const std::array<std::string, kAttentionOperands>& bytes) {
    CudnnAttention::Pointers pointers = {};
    for (int t = 0; t < kAttentionOperands; ++t) {
      if (bytes[t].empty()) continue;
      REQUIRE(cudaMalloc(&pointers[t], bytes[t].size()) == cudaSuccess);
      cudaMemcpyAsync(pointers[t], bytes[t].data(), bytes[t].size(), cudaMemcpyHostToDevice,
                      stream_);
    }
    void* workspace = nullptr;
    REQUIRE(cudaMalloc(&workspace, attention.workspace_bytes()) == cudaSuccess);
    REQUIRE_THAT(attention.Execute(pointers, static_cast<char*>(workspace)), IsOk());
    std::array<std::string, kAttentionOperands> after = bytes;
    for (int t = 0; t < kAttentionOperands; ++t) {
      cudaMemcpyAsync(after[t].data(), pointers[t], after[t].size(), cudaMemcpyDeviceToHost,
                      stream_);
    }
    REQUIRE(cudaStreamSynchronize(stream_) == cudaSuccess);
    for (void* const pointer : pointers) cudaFree(pointer);
    cudaFree(workspace);
    return after;
  }

 private:
  const OnFakes fakes_;
  cudaStream_t stream_ = nullptr;
  CudnnTarget target_;
};

AttentionArrays RandomArrays(const AttentionRoutine& routine) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  AttentionArrays arrays;
  for (int t = 0; t < kAttentionOperands; ++t) {
    if (t == kAttentionBias && !routine.bias.has_value()) continue;
    const Strided placed = Placed(routine, t);
    arrays[t] = Array4::Of(placed.extents);
    for (double& value : arrays[t].values) value = Rounded(normal(random), placed.type);
  }
  return arrays;
}

// Whether the bytes have the values of the array, to `tolerance` times the largest, and are as they
// were everywhere else.
void CheckWritten(const Strided& placed, const std::string& bytes, const Array4& expected,
                  double tolerance) {
  const Array4 found = FromBytes(placed, bytes);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    largest = std::max(largest, std::abs(expected.values[i]));
    const double here = std::abs(expected.values[i] - found.values[i]);
    difference = std::isnan(here) ? INFINITY : std::max(difference, here);
  }
  CHECK(difference <= tolerance * largest);
  std::string others = bytes;
  const int64_t size = ByteSize(placed.type);
  ForEach(placed, [&](const std::array<int64_t, 4>&, int64_t at) {
    std::memset(&others[at * size], kUnwritten, size);
  });
  CHECK(others == std::string(others.size(), kUnwritten));
}

// Runs the routine on random numbers and checks all that it writes; gives how many calls it took.
int64_t Check(AttentionRoutine routine) {
  FakeGpu gpu;
  INFO(TextOf(routine) << (routine.backward ? ", gradients" : ""));
  AttentionArrays arrays = RandomArrays(routine);
  ComputeAttention(routine, arrays);
  const auto attention = CudnnAttention::Make(gpu.target(), routine);
  REQUIRE_THAT(attention, IsOk());
  std::array<std::string, kAttentionOperands> bytes;
  std::vector<int> written;
  for (int t = 0; t < kAttentionOperands; ++t) {
    const bool forward_only = t == kAttended || t == kStatistics;
    const bool used = t < TensorsOf(routine) || (t == kAttentionBias && routine.bias.has_value()) ||
                      (t == kStatistics && (routine.backward || routine.statistics));
    if (!used) continue;
    const bool is_written =
        routine.backward ? t >= kQueryGradient && t <= kValueGradient : forward_only;
    if (is_written) written.push_back(t);
    bytes[t] = ToBytes(Placed(routine, t), is_written ? Array4() : arrays[t]);
  }
  const auto after = gpu.Run(*attention, bytes);
  const double rounding = routine.type == ElementType::kF16 ? 1.0 / 2048 : 1.0 / 256;
  for (const int t : written) {
    INFO("operand " << t);
    CheckWritten(Placed(routine, t), after[t], arrays[t], t == kStatistics ? 1e-5 : 3 * rounding);
  }
  CHECK(Fake().attentions == attention->calls());
  return attention->calls();
}

// In both directions, types and several layouts.
void CheckAll(AttentionRoutine routine) {
  for (const Layout layout : {Layout::kHeads, Layout::kPositions, Layout::kInRows}) {
    Lay(layout, routine);
    for (const ElementType type : {ElementType::kBF16, ElementType::kF16}) {
      routine.type = type;
      for (const bool backward : {false, true}) {
        routine.backward = backward;
        Check(routine);
      }
    }
  }
}

TEST_CASE("Attention without a mask is what it says") { CheckAll(Routine(2, 3, 3, 5, 9, 8, 16)); }

TEST_CASE("Causal attention is what it says, square and not") {
  CheckAll(Causal(Routine(2, 2, 2, 8, 8, 8, 8), 0));
  CheckAll(Causal(Routine(1, 2, 2, 4, 11, 8, 8), 7));  // the last queries of a longer sequence
  CheckAll(Causal(Routine(1, 2, 2, 11, 4, 8, 8), 0));
  CheckAll(Causal(Routine(1, 2, 2, 3, 7, 8, 8), 5));   // which hides one key from one query
  CheckAll(Causal(Routine(1, 2, 2, 3, 7, 8, 8), 20));  // and nothing
}

TEST_CASE("A large negative score of masked keys is -∞") {
  AttentionRoutine routine = Causal(Routine(2, 2, 2, 8, 8, 8, 8), 0);
  routine.causal->masked = -65504;
  CheckAll(routine);
}

TEST_CASE("A bias is added, repeated along any dimension") {
  for (const char* const dimensions : {"", "b", "h", "q", "bq", "hq", "bhq"}) {
    INFO(dimensions);
    AttentionRoutine routine = Biased(Routine(2, 3, 3, 4, 6, 8, 8), ElementType::kF32, dimensions);
    for (const bool backward : {false, true}) {
      routine.backward = backward;
      Check(routine);
    }
  }
  CheckAll(Biased(Causal(Routine(2, 4, 2, 5, 7, 8, 8), 2), ElementType::kBF16, "bhq"));
}

TEST_CASE("Several heads share keys and values") {
  CheckAll(Causal(Routine(2, 6, 2, 5, 5, 8, 8), 0));
  CheckAll(Routine(2, 4, 1, 3, 5, 16, 8));
}

TEST_CASE("Without statistics attention is the same") {
  AttentionRoutine routine = Causal(Routine(2, 4, 2, 5, 5, 8, 8), 0);
  routine.statistics = false;
  Check(routine);
}

TEST_CASE("Gradients are done in parts of the batch and the heads where scores are many") {
  AttentionRoutine routine =
      Biased(Causal(Routine(4, 6, 3, 5, 8, 8, 8), 3), ElementType::kF32, "bhq");
  routine.backward = true;
  AttentionRoutine one = routine;
  one.batch = 1;
  CHECK(Check(routine) == 1);
  routine.most_score_bytes = 2 * ScoreBytes(one);
  CHECK(Check(routine) == 2);
  routine.most_score_bytes = ScoreBytes(one);
  CHECK(Check(routine) == 4);
  routine.most_score_bytes = ScoreBytes(one) / 2;  // of three heads of keys not the half
  CHECK(Check(routine) == 12);
  routine.most_score_bytes = 1;
  CHECK(Check(routine) == 12);
}

TEST_CASE("Gradients add up in one order") {
  FakeGpu gpu;
  AttentionRoutine routine = Routine(1, 2, 2, 4, 4, 8, 8);
  const auto forward = CudnnAttention::Make(gpu.target(), routine);
  REQUIRE_THAT(forward, IsOk());
  routine.backward = true;
  const auto backward = CudnnAttention::Make(gpu.target(), routine);
  REQUIRE_THAT(backward, IsOk());
  CHECK(backward->engine() == 6);
  Fake().sm = 100;
  CHECK_THAT(CudnnAttention::Make(gpu.target(), routine), Fails("the same in every run"));
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
