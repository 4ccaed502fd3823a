// Which GPUs the ranks of a launch may have: those that are there, without those that were given
// up. Rank r has the r-th of them.
#ifndef YUBA_TOOLS_LAUNCH_GPUS_H_
#define YUBA_TOOLS_LAUNCH_GPUS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace yuba::tools {

// In the process of LaunchPart::kGpus: writes what names each GPU (GpuFacts::uuid) as a line. None
// is no error.
absl::Status ListGpus(const std::string& file);
absl::StatusOr<std::vector<std::string>> ReadGpus(const std::string& file);

class Gpus {
 public:
  Gpus() = default;
  explicit Gpus(std::vector<std::string> there) : usable_(std::move(there)) {}

  // Takes away those that are not there any more.
  void KeepThose(const std::vector<std::string>& there);
  // Takes away that of a rank of so many devices, which have the first of them; the last of these
  // where none is named.
  void GiveUp(int rank, int devices);

  const std::vector<std::string>& usable() const { return usable_; }
  // The value of CUDA_VISIBLE_DEVICES with which processes see these alone; empty as long as all
  // that were there are usable, as it stays what it is then.
  std::string Visible() const;

 private:
  std::vector<std::string> usable_;
  bool some_left_out_ = false;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_GPUS_H_
