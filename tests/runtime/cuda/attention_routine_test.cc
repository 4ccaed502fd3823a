// What of attention cuDNN cannot do is known, with the cause; how a routine is cut into parts.
#include "runtime/cuda/library/attention_routine.h"

#include <catch2/catch.hpp>
#include <functional>

#include "runtime/cuda/library/attention_limits.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kVersion = 91900;
constexpr int kHopper = 90, kAmpere = 80;

// [batch, position, head, width], with gradients.
AttentionRoutine Routine() {
  AttentionRoutine made;
  made.backward = true;
  made.batch = 4;
  made.heads = 8;
  made.key_heads = 4;
  made.queries = made.keys = 128;
  made.width = made.value_width = 64;
  for (int t = 0; t < kAttentionTensors; ++t) {
    const auto [b, h, s, w] = ExtentsOf(made, static_cast<AttentionOperand>(t));
    made.tensors[t].strides = {h * s * w, w, h * w, 1};
  }
  return made;
}

absl::Status Checked(const std::function<void(AttentionRoutine&)>& change,
                     int64_t version = kVersion, int capability = kHopper) {
  AttentionRoutine routine = Routine();
  change(routine);
  return CheckAttention(routine, version, capability);
}

TEST_CASE("What cuDNN cannot do of attention is said with its cause") {
  using Routine = AttentionRoutine;
  const auto lacks = [](const char* part) {
    return StatusIs(absl::StatusCode::kUnimplemented, part);
  };
  CHECK_THAT(Checked([](Routine&) {}), IsOk());
  CHECK_THAT(Checked([](Routine& r) { r.type = ElementType::kF32; }), lacks("not of f32"));
  CHECK_THAT(Checked([](Routine& r) { r.width = 60; }), lacks("multiples of 8, not 60 and 64"));
  CHECK_THAT(Checked([](Routine& r) { r.tensors[kKey].strides[3] = 2; }),
             lacks("those of k are 2 apart"));
  CHECK_THAT(Checked([](Routine& r) { r.tensors[kValueGradient].alignment = 8; }),
             lacks("dv is aligned to 8"));
  CHECK_THAT(Checked([](Routine& r) { r.tensors[kQuery].strides[2] = 514; }),
             lacks("a step of q along dimension 2 is 1028 bytes"));
  CHECK_THAT(Checked([](Routine& r) { r.tensors[kKey].strides[1] = 0; }),
             lacks("a step of k along dimension 1 is 0 bytes"));
  CHECK_THAT(Checked([](Routine& r) { r.queries = r.keys = 1; }), lacks("one query to one key"));
  CHECK_THAT(Checked([](Routine& r) { r.causal = CausalMask{-3, -1e30f}; }),
             lacks("the first 3 see none"));
  CHECK_THAT(Checked([](Routine& r) { r.causal = CausalMask{0, -50}; }), lacks("a score of -50"));
  const auto bias = [](ElementType type, int64_t step, int64_t alignment) {
    return [=](Routine& r) { r.bias = AttentionBias{type, {{0, 0, 128, step}, alignment}}; };
  };
  CHECK_THAT(Checked(bias(ElementType::kF32, 1, 16)), IsOk());
  CHECK_THAT(Checked(bias(ElementType::kBool, 1, 16)), lacks("no bias of bool"));
  CHECK_THAT(Checked(bias(ElementType::kF32, 0, 16)), lacks("these are 0 apart"));
  CHECK_THAT(Checked(bias(ElementType::kF32, 1, 4)), lacks("not to 4"));
}

// Along a dimension of one element nothing is stepped.
TEST_CASE("Steps along a dimension of one element do not matter") {
  AttentionRoutine routine = Routine();
  routine.backward = false;
  routine.queries = 1;
  routine.tensors[kQuery].strides[2] = 3;
  routine.tensors[kAttended].strides[2] = 3;
  CHECK_THAT(CheckAttention(routine, kVersion, kHopper), IsOk());
}

TEST_CASE("Versions of cuDNN that compute attention wrongly are too old") {
  const auto old = [](const char* part) { return StatusIs(absl::StatusCode::kUnavailable, part); };
  const auto same = [](AttentionRoutine&) {};
  const auto odd = [](AttentionRoutine& r) { r.keys = 100; };
  CHECK_THAT(Checked(same, 91001), old("cuDNN 9.10.1 is too old for attention"));
  CHECK_THAT(Checked(same, 91002), IsOk());
  CHECK_THAT(Checked(odd, 91500), old("install cuDNN 9.15.1"));
  CHECK_THAT(Checked(odd, 91501), IsOk());
  const auto two_widths = [](AttentionRoutine& r) { r.width = 192; };
  CHECK_THAT(Checked(two_widths, 91200), old("install cuDNN 9.13.0"));
  CHECK_THAT(Checked(two_widths, 91300), IsOk());
}

TEST_CASE("Gradients are refused where they may differ from run to run") {
  const auto same = [](AttentionRoutine&) {};
  const auto forward = [](AttentionRoutine& r) { r.backward = false; };
  CHECK_THAT(Checked(same, 91801, kAmpere), IsOk());
  CHECK_THAT(Checked(same, 91800, kAmpere),
             StatusIs(absl::StatusCode::kUnavailable, "install cuDNN 9.18.1"));
  CHECK_THAT(Checked(forward, 91002, kAmpere), IsOk());
  CHECK_THAT(Checked(same, 91002, 89), Fails("9.18.1"));
  for (const int capability : {75, 100, 120}) {
    CHECK_THAT(Checked(same, kVersion, capability),
               StatusIs(absl::StatusCode::kUnimplemented, "the same in every run"));
  }
  CHECK_THAT(Checked(same, kVersion, 100), Fails("this one has 10.0"));
  CHECK_THAT(Checked(forward, kVersion, 120), IsOk());
}

TEST_CASE("Parts are of the batch, then of the heads, and say where they begin") {
  AttentionRoutine routine = Routine();
  routine.bias = AttentionBias{ElementType::kF32, {{8 * 128 * 128, 128 * 128, 128, 1}, 16}};
  const int64_t all = ScoreBytes(routine);
  CHECK(all == 2 * 4 * 8 * 128 * 128);
  routine.most_score_bytes = all / 2;
  AttentionParts parts = PartsOf(routine);
  REQUIRE(parts.offsets.size() == 2);
  CHECK(parts.part.batch == 2);
  CHECK(parts.part.heads == 8);
  CHECK(parts.offsets[1][kQuery] == 2 * 2 * 128 * 8 * 64);
  CHECK(parts.offsets[1][kKey] == 2 * 2 * 128 * 4 * 64);
  routine.most_score_bytes = all / 8;  // half of the heads of one example
  parts = PartsOf(routine);
  REQUIRE(parts.offsets.size() == 8);
  CHECK(parts.part.batch == 1);
  CHECK(parts.part.heads == 4);
  CHECK(parts.part.key_heads == 2);
  CHECK(parts.offsets[3][kQuery] == 2 * (128 * 8 * 64 + 4 * 64));
  CHECK(parts.offsets[3][kKeyGradient] == 2 * (128 * 4 * 64 + 2 * 64));
  CHECK(parts.offsets[3][kAttentionBias] == 4 * 128 * 128 * (8 + 4));
  CHECK(parts.offsets[3][kStatistics] == 4 * 128 * (8 + 4));
}

TEST_CASE("Forward, and where parts of the bias would not be aligned, there is one part") {
  AttentionRoutine routine = Routine();
  routine.most_score_bytes = 1;
  routine.backward = false;
  CHECK(PartsOf(routine).offsets.size() == 1);
  routine.backward = true;
  CHECK(PartsOf(routine).offsets.size() == 16);
  routine.bias = AttentionBias{ElementType::kBF16, {{9, 0, 0, 1}, 16}};
  CHECK(PartsOf(routine).offsets.size() == 1);
}

TEST_CASE("The largest attentions hold 256 MiB of scores at a time") {
  AttentionRoutine routine = Routine();
  routine.batch = 8;
  routine.heads = routine.key_heads = 16;
  routine.queries = routine.keys = 4096;
  CHECK(PartsOf(routine).offsets.size() == 16);
  CHECK(ScoreBytes(PartsOf(routine).part) == int64_t{256} << 20);
}

TEST_CASE("Routines are equal where all that matters is") {
  AttentionRoutine routine = Routine();
  CHECK(routine == Routine());
  routine.causal.emplace();
  CHECK_FALSE(routine == Routine());
  AttentionRoutine other = Routine();
  other.causal.emplace();
  CHECK(routine == other);
  other.causal->offset = 1;
  CHECK_FALSE(routine == other);
  other = routine;
  other.scale = 2;
  CHECK_FALSE(routine == other);
  other = routine;
  other.tensors[kKeyGradient].strides[0] += 8;
  CHECK_FALSE(routine == other);
}

}  // namespace
}  // namespace yuba::cuda
