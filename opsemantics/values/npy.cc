// NumPy's format 1.0 to 3.0: magic, version, header length, a Python dictionary, the data.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

struct NpyType {
  ElementType type;
  const char* code;  // without the byte order
};
constexpr NpyType kNpyTypes[] = {
    {ElementType::kF64, "f8"}, {ElementType::kF32, "f4"},  {ElementType::kF16, "f2"},
    {ElementType::kI64, "i8"}, {ElementType::kI32, "i4"},  {ElementType::kI8, "i1"},
    {ElementType::kU8, "u1"},  {ElementType::kBool, "b1"}, {ElementType::kI16, "i2"},
    {ElementType::kU16, "u2"}, {ElementType::kU32, "u4"},  {ElementType::kU64, "u8"}};

// The text between 'key': and `end` in the header.
absl::StatusOr<std::string> Field(absl::string_view header, absl::string_view key, char end) {
  const size_t at = header.find(absl::StrCat("'", key, "'"));
  const size_t colon = at == absl::string_view::npos ? at : header.find(':', at);
  const size_t stop = colon == absl::string_view::npos ? colon : header.find(end, colon);
  if (stop == absl::string_view::npos) return UserError("the .npy header has no '", key, "'");
  return std::string(absl::StripAsciiWhitespace(header.substr(colon + 1, stop - colon - 1)));
}

absl::StatusOr<ElementType> TypeOf(absl::string_view code) {
  absl::string_view name = code;
  while (!name.empty() && std::strchr("'\"", name.front())) name.remove_prefix(1);
  while (!name.empty() && std::strchr("'\"", name.back())) name.remove_suffix(1);
  if (name.empty() || name.front() == '>') {
    return UserError("the .npy type ", code, " is not little-endian");
  }
  if (std::strchr("<|=", name.front())) name.remove_prefix(1);
  for (const NpyType& known : kNpyTypes) {
    if (name == known.code) return known.type;
  }
  return UserError("the .npy type ", code, " is not one that Yuba reads");
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(absl::string_view text) {
  std::vector<int64_t> shape;
  absl::ConsumePrefix(&text, "(");
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t extent = 0;
    if (!absl::SimpleAtoi(part, &extent)) return UserError("the .npy shape has '", part, "'");
    shape.push_back(extent);
  }
  return shape;
}

// Where the data begin, from the first 12 bytes of a file or more.
absl::StatusOr<int64_t> DataOffset(absl::string_view bytes) {
  if (bytes.size() < 10 || !absl::StartsWith(bytes, kMagic)) {
    return UserError("this is no .npy file: it does not start with its magic bytes");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  const size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix) return UserError("the .npy file ends in its header");
  int64_t length = 0;
  for (size_t i = prefix; i-- > 8;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(prefix) + length;
}

// The tensor of a file of `size` bytes that begins with `header`, which ends where the data begin;
// its data are a range without a file's name.
absl::StatusOr<StoredTensor> ParseHeader(absl::string_view header, int64_t size) {
  StoredTensor tensor;
  YUBA_ASSIGN_OR_RETURN(const std::string code, Field(header, "descr", ','));
  YUBA_ASSIGN_OR_RETURN(tensor.type, TypeOf(code));
  YUBA_ASSIGN_OR_RETURN(const std::string order, Field(header, "fortran_order", ','));
  if (order != "False") return UserError("the .npy array is column-major: save it in C order");
  YUBA_ASSIGN_OR_RETURN(const std::string shape, Field(header, "shape", ')'));
  YUBA_ASSIGN_OR_RETURN(tensor.dims, ShapeOf(shape));
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor.dims));
  tensor.bytes.offset = static_cast<int64_t>(header.size());
  tensor.bytes.length = elements * ByteSize(tensor.type);
  tensor.bytes.file_size = size;
  if (size - tensor.bytes.offset != tensor.bytes.length) {
    return UserError("the .npy file has ", size - tensor.bytes.offset,
                     " bytes of data, its shape needs ", tensor.bytes.length);
  }
  return tensor;
}

// Of the files that people have, headers have some hundred bytes.
constexpr int64_t kLargestHeader = 1 << 20;

}  // namespace

absl::StatusOr<TensorData> ParseNpy(absl::string_view bytes) {
  YUBA_ASSIGN_OR_RETURN(const int64_t offset, DataOffset(bytes));
  const auto size = static_cast<int64_t>(bytes.size());
  if (offset > size) return UserError("the .npy file ends in its header");
  YUBA_ASSIGN_OR_RETURN(StoredTensor stored, ParseHeader(bytes.substr(0, offset), size));
  return TensorData{stored.type, std::move(stored.dims), std::string(bytes.substr(offset))};
}

absl::StatusOr<StoredTensor> ReadNpyHeader(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOfFile(path));
  YUBA_ASSIGN_OR_RETURN(const std::string prefix,
                        ReadRange({path, 0, std::min<int64_t>(size, 12), size}));
  const absl::StatusOr<int64_t> offset = DataOffset(prefix);
  if (!offset.ok()) return Annotate(offset.status(), path);
  if (*offset > std::min(size, kLargestHeader)) {
    return UserError(path, ": the .npy file ends in its header, which should have ", *offset,
                     " bytes");
  }
  YUBA_ASSIGN_OR_RETURN(const std::string header, ReadRange({path, 0, *offset, size}));
  absl::StatusOr<StoredTensor> tensor = ParseHeader(header, size);
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  tensor->bytes.file = path;
  return tensor;
}

std::string FormatNpy(const TensorData& tensor) {
  if (tensor.type == ElementType::kBF16) {
    TensorData wide{ElementType::kF32, tensor.dims, ""};
    for (size_t i = 0; i + 1 < tensor.data.size(); i += 2) {
      const char bits[4] = {0, 0, tensor.data[i],
                            tensor.data[i + 1]};  // bf16 is the upper half of f32
      wide.data.append(bits, 4);
    }
    return FormatNpy(wide);
  }
  std::string code;
  for (const NpyType& known : kNpyTypes) {
    if (known.type == tensor.type) code = known.code;
  }
  std::string shape;
  for (int64_t extent : tensor.dims) absl::StrAppend(&shape, extent, ", ");
  std::string header = absl::StrCat("{'descr': '", code[1] == '1' ? "|" : "<", code,
                                    "', 'fortran_order': False, 'shape': (", shape, "), }");
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = absl::StrCat(absl::string_view(kMagic, 6), absl::string_view("\x01\x00", 2));
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return absl::StrCat(bytes, header, tensor.data);
}

}  // namespace yuba
