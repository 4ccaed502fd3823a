#include "opsemantics/values/tensor_data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
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

TensorData Transposed(const TensorData& matrix) {
  YUBA_CHECK(matrix.dims.size() == 2);
  const auto rows = static_cast<size_t>(matrix.dims[0]),
             columns = static_cast<size_t>(matrix.dims[1]);
  const auto bytes = static_cast<size_t>(ByteSize(matrix.type));
  TensorData transposed{matrix.type, {matrix.dims[1], matrix.dims[0]}, ""};
  transposed.data.resize(matrix.data.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      std::copy_n(&matrix.data[(row * columns + column) * bytes], bytes,
                  &transposed.data[(column * rows + row) * bytes]);
    }
  }
  return transposed;
}

bool Widens(ElementType from, ElementType to) {
  const bool half = from == ElementType::kF16 || from == ElementType::kBF16;
  return (to == ElementType::kF32 && half) ||
         (to == ElementType::kF64 && (half || from == ElementType::kF32));
}

absl::StatusOr<TensorData> Widened(TensorData tensor, ElementType type) {
  if (tensor.type == type) return tensor;
  if (!Widens(tensor.type, type)) {
    return UserError("elements of ", Name(tensor.type), ", and ", Name(type), " is wanted");
  }
  TensorData wide{type, tensor.dims, ""};
  const auto count = static_cast<int64_t>(tensor.data.size()) / ByteSize(tensor.type);
  wide.data.reserve(static_cast<size_t>(count * ByteSize(type)));
  for (int64_t i = 0; i < count; ++i) {
    const double value = ValueAt(tensor, i);
    const auto single = static_cast<float>(value);
    const bool is_double = type == ElementType::kF64;
    wide.data.append(
        is_double ? reinterpret_cast<const char*>(&value) : reinterpret_cast<const char*>(&single),
        static_cast<size_t>(ByteSize(type)));
  }
  return wide;
}

absl::StatusOr<TensorData> ReadView(const StoredView& view, ElementType type) {
  YUBA_ASSIGN_OR_RETURN(std::string bytes, ReadRange(view.tensor.bytes));
  YUBA_ASSIGN_OR_RETURN(TensorData tensor,
                        TensorOf(view.tensor.type, view.tensor.dims, std::move(bytes)));
  if (view.transposed) tensor = Transposed(tensor);
  return Widened(std::move(tensor), type);
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
    case ElementType::kU64: return static_cast<double>(bits);
    default: return static_cast<double>(WrapInteger(static_cast<int64_t>(bits), tensor.type));
  }
}

}  // namespace yuba
