#include "search/baselines/baselines.h"

#include <algorithm>

namespace yuba::search {

absl::Span<const Baseline> Baselines() {
  static constexpr Baseline kBaselines[] = {
      {"data", "data parallel: everything cut on the batch, weights on every device", true,
       DataParallel},
      {"zero3", "the same with the weights shared out (ZeRO-3)", false, Zero3},
      {"megatron", "products with weights cut by columns, then by rows (Megatron-LM)", true,
       Megatron},
      {"all-row", "every tensor cut on its first dimension", false, AllRow},
      {"equal-chop", "every tensor cut on one dimension", false, EqualChop},
      {"spartan", "greedy, the largest tensor first (Spartan)", false, Spartan},
      {"icml18", "no cut of a reduction, so no partial sums (Jia et al.)", false, Icml18},
      {"mindspore", "greedy and recursive, the most work first (D-Rec)", false, MindSpore},
  };
  return kBaselines;
}

const Baseline* FindBaseline(absl::string_view name) {
  for (const Baseline& baseline : Baselines()) {
    if (name == baseline.name) return &baseline;
  }
  return nullptr;
}

}  // namespace yuba::search
