// A tensor and its elements: the one form in which values are read from files, given to programs
// and read back from them.
//
// f32[2, 3] has dims {2, 3} and 24 bytes of data, element [1, 0] in bytes 12 to 15.
#ifndef YUBA_OPSEMANTICS_VALUES_TENSOR_DATA_H_
#define YUBA_OPSEMANTICS_VALUES_TENSOR_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/file_range.h"

namespace yuba {

struct TensorData {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;  // extents, none below 0; empty: a scalar
  std::string data;           // row-major, little-endian, ByteSize(type) bytes an element
};

// A tensor that stays in its file: `bytes` are what `data` would be, as many as the type and the
// dimensions say; bytes of bools are 0 or any other.
struct StoredTensor {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  FileRange bytes;
};

// The product of `dims`; a user's error where one is negative, or where there would be more than
// 2^58 elements, so that their bytes fit 62 bits.
absl::StatusOr<int64_t> ElementsOf(const std::vector<int64_t>& dims);

// The tensor of these parts; a user's error where the bytes are not as many as the type and the
// dimensions say. Bools become 0 or 1.
absl::StatusOr<TensorData> TensorOf(ElementType type, std::vector<int64_t> dims, std::string data);

// The transpose of a matrix.
TensorData Transposed(const TensorData& matrix);

// Whether floats of the second type have all elements of the first, and more: f16 and bf16 fit into
// f32, and all of them into f64.
bool Widens(ElementType from, ElementType to);
// The same elements as another type that widens theirs, or their own. Any other is a user's error.
absl::StatusOr<TensorData> Widened(TensorData tensor, ElementType type);

// A value of a file for something of another name: as it is stored, or transposed.
struct StoredView {
  StoredTensor tensor;
  bool transposed = false;  // a matrix
};
// Reads it, transposes it and widens it to `type`. Fails as ReadRange and Widened do.
absl::StatusOr<TensorData> ReadView(const StoredView& view, ElementType type);

// The element at this position in row-major order, as a number.
double ValueAt(const TensorData& tensor, int64_t index);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_TENSOR_DATA_H_
