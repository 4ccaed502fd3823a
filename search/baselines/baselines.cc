#include "search/baselines/baselines.h"

namespace yuba::search {

absl::Span<const Baseline> Baselines() {
  constexpr BaselinePart kData = {DataParallel, SuitsDataParallel}, kZero3 = {Zero3},
                         kMegatron = {Megatron, SuitsMegatron};
  static constexpr Baseline kBaselines[] = {
      {"data",
       "data parallel: everything cut on the batch, weights on every device",
       true,
       {kData},
       Split::kBest,
       nullptr,
       OfDataParallel,
       StatesAndGradients},
      {"zero1",
       "the same with the optimizer's states cut (ZeRO-1)",
       true,
       {kData},
       Split::kBest,
       nullptr,
       OfZero1,
       Gradients},
      {"zero2",
       "the same with gradients cut too (ZeRO-2)",
       true,
       {kData},
       Split::kBest,
       nullptr,
       OfZero2},
      {"zero3",
       "the same with weights cut too (ZeRO-3, FSDP)",
       false,
       {kZero3},
       Split::kBest,
       nullptr,
       OfZero3},
      {"hsdp",
       "ZeRO-3 over the inner links, data parallel over the others (hybrid sharding)",
       true,
       {kData, kZero3},
       Split::kKinds,
       nullptr,
       OfHybrid},
      {"megatron",
       "products with weights cut by columns, then by rows (Megatron-LM)",
       true,
       {kMegatron},
       Split::kBest,
       nullptr,
       OfMegatron},
      {"megatron-data",
       "that on the inner axes, data parallel with ZeRO-1 on the others",
       true,
       {kData, kMegatron},
       Split::kBest,
       nullptr,
       OfMegatronData},
      {"all-row", "every tensor cut on its first dimension", false, {{AllRow}}},
      {"equal-chop", "every tensor cut on one dimension", false, {{EqualChop}}},
      {"spartan", "greedy, the largest tensor first (Spartan)", false, {}, Split::kBest, Spartan},
      {"icml18", "no cut of a reduction, so no partial sums (Jia et al.)", false, {{Icml18}}},
      {"mindspore",
       "greedy and recursive, the most work first (D-Rec)",
       false,
       {},
       Split::kBest,
       MindSpore},
  };
  return kBaselines;
}

const Baseline* FindBaseline(absl::string_view name) {
  for (const Baseline& baseline : Baselines()) {
    if (name == baseline.name) return &baseline;
  }
  return nullptr;
}

bool HaveSamePlans(const Baseline& a, const Baseline& b) {
  return a.greedy == b.greedy && a.split == b.split && a.parts[0].restrict == b.parts[0].restrict &&
         a.parts[1].restrict == b.parts[1].restrict;
}

bool IsPure(const Baseline& baseline, const Mesh& mesh) {
  return baseline.IsProduct() &&
         (mesh.axes.size() < 2 || (baseline.split == Split::kKinds && mesh.kinds() == 1));
}

}  // namespace yuba::search
