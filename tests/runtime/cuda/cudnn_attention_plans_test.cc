// cuDNN plans attention and its gradients without a GPU: for A100, H100 and H200 as they are
// described, with a stand-in for the driver (planning_driver.cc).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/part.h"
#include "tests/support/status_matchers.h"
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_attention.h"
#include "tests/runtime/cuda/described_gpus.h"
#include "tests/runtime/cuda/planning_driver.h"
#endif

namespace yuba::cuda {
namespace {

#ifdef YUBA_WITH_CUDA

// Tensors that lie as [batch, position, head, width].
AttentionRoutine Attention(int64_t batch, int64_t heads, int64_t key_heads, int64_t queries,
                           int64_t keys, int64_t width) {
  AttentionRoutine made;
  made.batch = batch;
  made.heads = heads;
  made.key_heads = key_heads;
  made.queries = queries;
  made.keys = keys;
  made.width = made.value_width = width;
  made.scale = 0.125f;
  for (int t = 0; t < kAttentionTensors; ++t) {
    const auto [b, h, s, w] = ExtentsOf(made, static_cast<AttentionOperand>(t));
    made.tensors[t].strides = {h * s * w, w, h * w, 1};
  }
  return made;
}

AttentionRoutine Causal(AttentionRoutine routine, int64_t offset = 0) {
  routine.causal.emplace();
  routine.causal->offset = offset;
  return routine;
}

AttentionRoutine Biased(AttentionRoutine routine, ElementType type, bool by_batch, bool by_head,
                        bool by_query) {
  const int64_t row = routine.keys, square = by_query ? row * routine.queries : row;
  const int64_t example = by_head ? routine.heads * square : square;
  routine.bias.emplace();
  routine.bias->type = type;
  routine.bias->tensor.strides = {by_batch ? example : 0, by_head ? square : 0, by_query ? row : 0,
                                  1};
  return routine;
}

absl::StatusOr<CudnnAttention> PlanOf(const Cudnn& library, const AttentionRoutine& routine,
                                      const DescribedGpu& gpu) {
  CudnnTarget target;
  target.library = &library;
  target.description = gpu.description;
  return CudnnAttention::Make(target, routine);
}

TEST_CASE("cuDNN plans attention and its gradients for A100, H100 and H200") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  const auto large = Attention(8, 16, 16, 4096, 4096, 64);
  const auto grouped = Attention(1, 32, 8, 4096, 4096, 128);
  const auto gpt2 = Attention(4, 12, 12, 128, 128, 64);
  const std::vector<AttentionRoutine> routines = {
      large,
      Causal(large),
      Causal(grouped),
      Causal(gpt2),
      Biased(gpt2, ElementType::kF32, true, false, false),
      Biased(Causal(gpt2), ElementType::kBF16, false, true, true),
      Causal(Attention(2, 4, 2, 100, 127, 80), 27),  // no round number
      Attention(2, 4, 4, 7, 1000, 64),
      Attention(1, 32, 1, 16, 65536, 128),  // more shares of heads than anything else
  };
  const size_t gpus = DescribedGpus().size();
  for (size_t r = 0; r < routines.size(); ++r) {
    for (const bool half : {false, true}) {
      if (!IsTried(r + half, 2)) continue;
      for (const bool backward : {false, true}) {
        for (size_t gpu = 0; gpu < gpus; ++gpu) {
          if (!IsTried(r + backward + gpu, gpus)) continue;
          AttentionRoutine routine = routines[r];
          routine.type = half ? ElementType::kF16 : ElementType::kBF16;
          routine.backward = backward;
          const auto plan = PlanOf(*library, routine, DescribedGpus()[gpu]);
          INFO(DescribedGpus()[gpu].name << (backward ? ", gradients: " : ": ") << TextOf(routine));
          REQUIRE_THAT(plan, IsOk());
          const int64_t most =
              backward ? routine.most_score_bytes + ShareBytes(routine) + TensorBytes(routine)
                       : 256;
          CHECK(plan->workspace_bytes() <= most);
        }
      }
    }
  }
}

TEST_CASE("Attention without statistics has a plan, also of one query") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  for (const int64_t queries : {int64_t{1}, int64_t{64}}) {
    for (const bool statistics : {false, true}) {
      AttentionRoutine routine = Attention(2, 4, 2, queries, 128, 64);
      routine.statistics = statistics;
      for (size_t gpu = 0; gpu < DescribedGpus().size(); ++gpu) {
        if (!IsTried(queries + statistics + gpu, DescribedGpus().size())) continue;
        INFO(DescribedGpus()[gpu].name << ": " << TextOf(routine) << " " << statistics);
        CHECK_THAT(PlanOf(*library, routine, DescribedGpus()[gpu]), IsOk());
      }
    }
  }
}

TEST_CASE("What cuDNN has no engine for is said with the shape") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  AttentionRoutine wide = Attention(1, 2, 2, 64, 64, 512);
  const DescribedGpu& gpu = DescribedGpus()[0];
  CHECK_THAT(PlanOf(*library, wide, gpu), IsOk());
  wide.backward = true;
  CHECK_THAT(PlanOf(*library, wide, gpu),
             StatusIs(absl::StatusCode::kUnimplemented, "64 keys of 512"));
}

TEST_CASE("After Hopper cuDNN plans attention, and its gradients are refused") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  const DescribedGpu b200 = {"B200", Description("NVIDIA B200", 1000, 148, 191503138816, 232448,
                                                 132644864, 1965000, 3996000, 8192, 10496)};
  AttentionRoutine routine = Attention(2, 4, 4, 128, 128, 64);
  CHECK_THAT(PlanOf(*library, routine, b200), IsOk());
  routine.backward = true;
  CHECK_THAT(PlanOf(*library, routine, b200),
             StatusIs(absl::StatusCode::kUnimplemented, "this one has 10.0"));
}

TEST_CASE("Equal attentions are planned once") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  CudnnTarget target;
  target.library = library;
  target.description = DescribedGpus()[0].description;
  CudnnAttentions attentions(target);
  const auto first = attentions.Get(Attention(2, 4, 4, 64, 64, 64));
  const auto same = attentions.Get(Attention(2, 4, 4, 64, 64, 64));
  const auto other = attentions.Get(Causal(Attention(2, 4, 4, 64, 64, 64)));
  REQUIRE_THAT(first, IsOk());
  REQUIRE_THAT(other, IsOk());
  CHECK(*first == *same);
  CHECK(*first != *other);
}

#endif  // YUBA_WITH_CUDA

}  // namespace
}  // namespace yuba::cuda
