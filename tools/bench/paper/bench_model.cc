#include "tools/bench/paper/bench_model.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/zoo.h"

namespace yuba::tools {

absl::StatusOr<std::unique_ptr<LoadedModel>> ZooStep(const std::string& name,
                                                     const zoo::Sizes& sizes,
                                                     const std::string& optimizer) {
  YUBA_ASSIGN_OR_RETURN(const zoo::ZooModel made, zoo::MakeModel(name, sizes));
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / absl::StrCat("yuba-bench-", getpid(), ".onnx");
  YUBA_RETURN_IF_ERROR(WriteFile(file.string(), made.bytes));
  ModelFlags flags;
  flags.file = file.string();
  if (!optimizer.empty()) flags.given = {{"train", {optimizer}}, {"loss", {made.loss}}};
  absl::StatusOr<LoadedModel> loaded = LoadModel(flags);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!loaded.ok()) return Annotate(loaded.status(), name);
  return std::make_unique<LoadedModel>(*std::move(loaded));
}

absl::StatusOr<int64_t> BatchOf(const std::string& name) {
  YUBA_ASSIGN_OR_RETURN(const zoo::ZooModel made, zoo::MakeModel(name, {}));
  return made.sizes.at("batch");
}

}  // namespace yuba::tools
