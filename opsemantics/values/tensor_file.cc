#include "opsemantics/values/tensor_file.h"

#include "absl/strings/match.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba {

absl::StatusOr<TensorData> ReadTensorFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  absl::StatusOr<TensorData> tensor =
      absl::EndsWith(path, ".npy") ? ParseNpy(bytes)
      : absl::EndsWith(path, ".pb")
          ? ParseTensorProto(bytes)
          : UserError("the ending says neither .npy nor .pb, the formats that are read");
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return tensor;
}

}  // namespace yuba
