#include "tools/run/tuning_file.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/run/checkpoint/checkpoint_folder.h"

namespace yuba::tools {
namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

absl::StatusOr<std::shared_ptr<cuda::Tuning>> Read(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<std::shared_ptr<cuda::Tuning>> tuning = cuda::Tuning::Parse(text);
  if (tuning.ok()) return tuning;
  return UserError(path, ": ", tuning.status().message(),
                   "; it is no whole tuning and stays as it is: --tune with another name times ",
                   "products anew");
}

}  // namespace

absl::StatusOr<std::shared_ptr<cuda::Tuning>> ReadTuning(const std::string& path) {
  const absl::Status writable = Annotate(CheckOutput(path), "--tune");
  auto tuning = std::make_shared<cuda::Tuning>();
  if (Exists(path)) {
    YUBA_ASSIGN_OR_RETURN(tuning, Read(path));
  } else if (!writable.ok()) {
    return writable;
  }
  tuning->SetWritable(writable);
  return tuning;
}

absl::Status SaveTuning(const std::string& path, cuda::Tuning& tuning) {
  if (tuning.added().empty()) return absl::OkStatus();
  if (Exists(path)) {
    YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<cuda::Tuning> now, Read(path));
    tuning.Merge(*now);
  }
  return ReplaceFile(path,
                     [&](const std::string& file) { return WriteFile(file, tuning.Format()); });
}

}  // namespace yuba::tools
