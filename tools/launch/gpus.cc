#include "tools/launch/gpus.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"

namespace yuba::tools {

absl::Status ListGpus(const std::string& file) {
  std::string lines;
  const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  if (!gpus.ok()) std::cerr << "note: " << gpus.status().message() << "\n";
  if (gpus.ok()) {
    for (const cuda::GpuFacts& gpu : *gpus) absl::StrAppend(&lines, gpu.uuid, "\n");
  }
  return WriteFile(file, lines);
}

absl::StatusOr<std::vector<std::string>> ReadGpus(const std::string& file) {
  YUBA_ASSIGN_OR_RETURN(const std::string lines, ReadFile(file));
  return std::vector<std::string>(absl::StrSplit(lines, '\n', absl::SkipEmpty()));
}

void Gpus::KeepThose(const std::vector<std::string>& there) {
  const auto is_gone = [&](const std::string& gpu) {
    return std::find(there.begin(), there.end(), gpu) == there.end();
  };
  const auto gone = std::remove_if(usable_.begin(), usable_.end(), is_gone);
  some_left_out_ = some_left_out_ || gone != usable_.end();
  usable_.erase(gone, usable_.end());
}

void Gpus::GiveUp(int rank, int devices) {
  if (usable_.empty()) return;
  const int last = std::min(devices, static_cast<int>(usable_.size())) - 1;
  usable_.erase(usable_.begin() + (rank < 0 || rank > last ? last : rank));
  some_left_out_ = true;
}

std::string Gpus::Visible() const { return some_left_out_ ? absl::StrJoin(usable_, ",") : ""; }

}  // namespace yuba::tools
