#include "tools/zoo/zoo.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kMostParameters = 1000000000000000000;
constexpr int64_t kMost = int64_t{1} << 24, kMostNodes = 4096;

std::string OptionsText(const Sizes& sizes) {
  return absl::StrJoin(sizes, " ", [](std::string* out, const auto& size) {
    absl::StrAppend(out, "--", size.first);
  });
}

// The family of that name, or that of the preset, with the preset's sizes in it.
absl::StatusOr<Family> FamilyNamed(const std::string& name) {
  const std::vector<Family>& families = Families();
  const auto named = [&families](const std::string& family) {
    return std::find_if(families.begin(), families.end(),
                        [&](const Family& other) { return other.name == family; });
  };
  if (const auto family = named(name); family != families.end()) return *family;
  for (const Preset& preset : Presets()) {
    if (preset.name != name) continue;
    Family family = *named(preset.family);
    for (const auto& [option, size] : preset.sizes) family.sizes[option] = size;
    return family;
  }
  return UserError("there is no model '", name, "' in the zoo; yuba zoo lists them all");
}

}  // namespace

const std::vector<Option>& Options() {
  static const auto* const kOptions = new std::vector<Option>{
      {"batch", "samples of a step", kMost},
      {"capacity", "places of an expert, in percent of an even share", 100000},
      {"channels", "of the input", kMostNodes},
      {"chosen", "experts of a token", kMostNodes},
      {"classes", "of the output", kMost},
      {"experts", "of each layer", kMostNodes},
      {"feed-forward", "width inside feed-forward layers", kMost},
      {"heads", "of attention", kMostNodes},
      {"image", "height, width and depth of the input", kMostNodes},
      {"inputs", "width of the input", kMost},
      {"kv-heads", "heads of keys and values", kMostNodes},
      {"layers", "how many", kMostNodes},
      {"patch", "height and width of a patch", kMostNodes},
      {"rows", "of a table at most", int64_t{1} << 40},
      {"sequence", "positions, or steps of a recurrence", kMost},
      {"tables", "one for each column of categories", kMostNodes},
      {"theta", "of rotary positions", int64_t{1} << 40},
      {"vocab", "tokens that there are", kMost},
      {"width", "of the model; of convolutions, how many times as wide", kMost},
  };
  return *kOptions;
}

const std::vector<Family>& Families() {
  static const auto* const kFamilies =
      new std::vector<Family>{Mlp(),        Gpt(),           Llama(),  Moe(), Bert(), Vit(),
                              WideResNet(), ResNetOfCifar(), Unet3d(), Rnn(), Dlrm()};
  return *kFamilies;
}

absl::Status CheckMultiple(const Sizes& sizes, const std::string& whole, const std::string& part) {
  if (sizes.at(whole) % sizes.at(part) == 0) return absl::OkStatus();
  return UserError("--", whole, " ", sizes.at(whole), " is no multiple of --", part, " ",
                   sizes.at(part));
}

absl::StatusOr<ZooModel> MakeModel(const std::string& name, const Sizes& given) {
  YUBA_ASSIGN_OR_RETURN(Family family, FamilyNamed(name));
  for (const auto& [option, size] : given) {
    const auto own = family.sizes.find(option);
    if (own == family.sizes.end()) {
      return UserError("--", option, " is no option of ", name, "; it has ",
                       OptionsText(family.sizes));
    }
    own->second = size;
  }
  GraphBuilder builder(name);
  YUBA_RETURN_IF_ERROR(family.build(family.sizes, builder));
  if (builder.parameters() > kMostParameters) {
    return UserError(name, " would have more than 10^18 parameters with these sizes: give smaller ",
                     "ones");
  }
  return ZooModel{builder.Finish(), builder.parameters(), family.loss, family.sizes};
}

}  // namespace yuba::zoo
