#include "opsemantics/values/tensor_data.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "opsemantics/base/half.h"
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

double ValueAt(const TensorData& tensor, int64_t index) {
  const char* bytes = &tensor.data[index * ByteSize(tensor.type)];
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, ByteSize(tensor.type));
  double wide;
  switch (tensor.type) {
    case ElementType::kF64: std::memcpy(&wide, &bits, sizeof wide); return wide;
    case ElementType::kF32: return FloatOf(static_cast<uint32_t>(bits));
    case ElementType::kF16: return FromF16(static_cast<uint16_t>(bits));
    case ElementType::kBF16: return FromBF16(static_cast<uint16_t>(bits));
    case ElementType::kI64: return static_cast<double>(static_cast<int64_t>(bits));
    case ElementType::kI32: return static_cast<int32_t>(bits);
    case ElementType::kI8: return static_cast<int8_t>(bits);
    case ElementType::kU8: return static_cast<double>(bits);
    case ElementType::kBool: return bits != 0;
  }
  return 0;
}

}  // namespace yuba
