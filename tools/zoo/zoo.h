// The zoo: models by name, as ONNX files that are small whatever they describe. A name is that of a
// family, whose sizes are options, or of a model of it with the sizes that it was published with.
//
// Example: MakeModel("gpt2", {{"layers", 2}}) is GPT-2 with two layers.
#ifndef YUBA_TOOLS_ZOO_ZOO_H_
#define YUBA_TOOLS_ZOO_ZOO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/zoo/family.h"

namespace yuba::zoo {

// An option of some families.
struct Option {
  const char* name;  // without dashes
  const char* help;
  int64_t most;  // the largest value; the smallest is 1
};
const std::vector<Option>& Options();

// A model with sizes of its own, over those of its family.
struct Preset {
  std::string name, family;
  Sizes sizes;
};

const std::vector<Family>& Families();
const std::vector<Preset>& Presets();  // by family

struct ZooModel {
  std::string bytes;       // of the ONNX file
  int64_t parameters = 0;  // trained elements
  std::string loss;        // that its output is meant for
  Sizes sizes;             // all of them
};

// The model of that name, a family or a preset, with these sizes in place of its own. The user's
// error where there is no such model, where it has no such option, and where sizes do not go
// together.
absl::StatusOr<ZooModel> MakeModel(const std::string& name, const Sizes& given);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_ZOO_H_
