// The models with names of their own. Sizes are those of the papers and of the published weights.
#include "absl/strings/str_cat.h"
#include "tools/zoo/zoo.h"

namespace yuba::zoo {
namespace {

Sizes Gpt2Sizes(int64_t layers, int64_t width, int64_t heads) {
  return {{"heads", heads}, {"layers", layers}, {"width", width}};
}

Sizes Gpt3Sizes(int64_t layers, int64_t width, int64_t heads) {
  return {{"heads", heads}, {"layers", layers}, {"sequence", 2048}, {"width", width}};
}

Sizes Llama2Sizes(int64_t layers, int64_t width, int64_t heads, int64_t keys, int64_t inner) {
  return {{"feed-forward", inner}, {"heads", heads}, {"kv-heads", keys}, {"layers", layers},
          {"theta", 10000},        {"vocab", 32000}, {"width", width}};
}

Sizes Llama3Sizes(int64_t layers, int64_t width, int64_t heads, int64_t inner) {
  return {{"feed-forward", inner}, {"heads", heads},   {"kv-heads", 8},
          {"layers", layers},      {"sequence", 8192}, {"width", width}};
}

Sizes MixtralSizes(int64_t layers, int64_t width, int64_t heads, int64_t inner) {
  return {{"feed-forward", inner}, {"heads", heads}, {"layers", layers}, {"width", width}};
}

Sizes VitSizes(int64_t layers, int64_t width, int64_t heads, int64_t patch) {
  return {{"heads", heads}, {"layers", layers}, {"patch", patch}, {"width", width}};
}

// Table 2 of the Tofu paper. It trained WResNets with batches from 128 to 8 and names three of
// them, which stand here; the others are between. RNNs had 512 or 256, the largest 128.
void AddTofuModels(std::vector<Preset>& presets) {
  for (const int64_t layers : {50, 101, 152}) {
    for (const int64_t width : {4, 6, 8, 10}) {
      const bool first = layers == 50 && width == 4, last = layers == 152 && width == 10;
      presets.push_back({absl::StrCat("wresnet-", layers, "-", width),
                         "wresnet",
                         {{"batch", first  ? 128
                                    : last ? 8
                                           : 32},
                          {"layers", layers},
                          {"width", width}}});
    }
  }
  for (const int64_t layers : {6, 8, 10}) {
    for (const int64_t thousands : {4, 6, 8}) {
      const int64_t batch = thousands == 4 ? 512 : layers == 10 && thousands == 8 ? 128 : 256;
      presets.push_back({absl::StrCat("rnn-", layers, "-", thousands, "k"),
                         "rnn",
                         {{"batch", batch}, {"layers", layers}, {"width", 1024 * thousands}}});
    }
  }
}

}  // namespace

const std::vector<Preset>& Presets() {
  static const auto* const kPresets = [] {
    auto* presets = new std::vector<Preset>{
        {"gpt2", "gpt", Gpt2Sizes(12, 768, 12)},
        {"gpt2-medium", "gpt", Gpt2Sizes(24, 1024, 16)},
        {"gpt2-large", "gpt", Gpt2Sizes(36, 1280, 20)},
        {"gpt2-xl", "gpt", Gpt2Sizes(48, 1600, 25)},
        {"gpt3-6.7b", "gpt", Gpt3Sizes(32, 4096, 32)},
        {"gpt3-13b", "gpt", Gpt3Sizes(40, 5120, 40)},
        {"gpt3-175b", "gpt", Gpt3Sizes(96, 12288, 96)},
        {"llama2-7b", "llama", Llama2Sizes(32, 4096, 32, 32, 11008)},
        {"llama2-13b", "llama", Llama2Sizes(40, 5120, 40, 40, 13824)},
        {"llama2-70b", "llama", Llama2Sizes(80, 8192, 64, 8, 28672)},
        {"llama3-8b", "llama", Llama3Sizes(32, 4096, 32, 14336)},
        {"llama3-70b", "llama", Llama3Sizes(80, 8192, 64, 28672)},
        {"llama3-405b", "llama", Llama3Sizes(126, 16384, 128, 53248)},
        {"mixtral-8x7b", "moe", MixtralSizes(32, 4096, 32, 14336)},
        {"mixtral-8x22b", "moe", MixtralSizes(56, 6144, 48, 16384)},
        {"bert-base", "bert", {{"heads", 12}, {"layers", 12}, {"width", 768}}},
        {"bert-large", "bert", {{"heads", 16}, {"layers", 24}, {"width", 1024}}},
        {"vit-b-16", "vit", VitSizes(12, 768, 12, 16)},
        {"vit-l-16", "vit", VitSizes(24, 1024, 16, 16)},
        {"vit-h-14", "vit", VitSizes(32, 1280, 16, 14)},
        {"resnet-50", "wresnet", {{"layers", 50}}},
        {"resnet-101", "wresnet", {{"layers", 101}}},
        {"resnet-152", "wresnet", {{"layers", 152}}},
        {"resnet-1001", "resnet-cifar", {{"layers", 1001}}},
        {"dlrm-terabyte", "dlrm", {{"rows", 40000000}}},
    };
    AddTofuModels(*presets);
    return presets;
  }();
  return *kPresets;
}

}  // namespace yuba::zoo
