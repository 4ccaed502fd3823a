#include "opsemantics/values/tensor_data.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba {

absl::StatusOr<int64_t> ElementsOf(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return UserError("dimension ", dim, " is negative");
    zero |= dim == 0;
  }
  if (zero) return 0;
  for (const int64_t dim : dims) {
    if (dim > (int64_t{1} << 58) / product) {
      return UserError("shape [", absl::StrJoin(dims, ", "), "] has too many elements");
    }
    product *= dim;
  }
  return product;
}

absl::StatusOr<TensorData> TensorOf(ElementType type, std::vector<int64_t> dims, std::string data) {
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(dims));
  const int64_t size = elements * ByteSize(type);
  if (static_cast<int64_t>(data.size()) != size) {
    return UserError("its shape [", absl::StrJoin(dims, ", "), "] of ", Name(type), " needs ", size,
                     " bytes, the file has ", data.size());
  }
  if (type == ElementType::kBool) {
    for (char& byte : data) byte = byte != 0;
  }
  return TensorData{type, std::move(dims), std::move(data)};
}

}  // namespace yuba
