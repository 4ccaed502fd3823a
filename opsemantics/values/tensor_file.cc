#include "opsemantics/values/tensor_file.h"

#include "absl/strings/match.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba {

absl::StatusOr<int64_t> ElementsOf(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return UserError("a dimension is ", extent, ", which no tensor has");
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > (int64_t{1} << 48)) {
      return UserError("the dimensions make more elements than memory can hold");
    }
  }
  return elements;
}

absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  absl::StatusOr<HostTensor> tensor =
      absl::EndsWith(path, ".npy") ? ParseNpy(bytes)
      : absl::EndsWith(path, ".pb")
          ? ParseTensorProto(bytes)
          : UserError("the ending says neither .npy nor .pb, the formats that are read");
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return tensor;
}

absl::StatusOr<std::map<std::string, HostTensor>> ReadSafetensors(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  auto tensors = ParseSafetensors(bytes);
  if (!tensors.ok()) return Annotate(tensors.status(), path);
  return tensors;
}

}  // namespace yuba
