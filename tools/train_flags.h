// The flags of a training step: --train, --loss and those that go with them.
#ifndef YUBA_TOOLS_TRAIN_FLAGS_H_
#define YUBA_TOOLS_TRAIN_FLAGS_H_

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "compiler/import/options.h"
#include "tools/command.h"

namespace yuba::tools {

void AddTrainFlags(CLI::App* app, ModelFlags& flags);

// What the flags say, where --train is among them. The user's error where a text is not the number
// that it must be.
absl::StatusOr<onnx::TrainOptions> TrainOptionsOf(const ModelFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_TRAIN_FLAGS_H_
