// The half of read.h that reads tensors: element types, typed fields, raw and external data.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/import/file/read.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// The bytes of `values`, each narrowed to T: typed fields hold small types in wider ones.
template <typename T, typename Field>
std::string Narrow(const Field& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(T));
  for (const auto& value : values) {
    const T narrow = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(T));
  }
  return bytes;
}

std::string TypedField(const ::onnx::TensorProto& tensor, ElementType type) {
  switch (type) {
    case ElementType::kF64: return Narrow<double>(tensor.double_data());
    case ElementType::kF32: return Narrow<float>(tensor.float_data());
    case ElementType::kF16:
    case ElementType::kBF16: return Narrow<uint16_t>(tensor.int32_data());
    case ElementType::kI64: return Narrow<int64_t>(tensor.int64_data());
    case ElementType::kI32: return Narrow<int32_t>(tensor.int32_data());
    case ElementType::kI8: return Narrow<int8_t>(tensor.int32_data());
    case ElementType::kU8: return Narrow<uint8_t>(tensor.int32_data());
    case ElementType::kBool: return Narrow<bool>(tensor.int32_data());
  }
  return "";
}

// Whether `location`, the name of an external file, stays in the model's folder.
absl::Status CheckLocation(const std::string& location) {
  if (location.empty()) return UserError("its external data names no file");
  if (location[0] == '/' || location.find('\0') != std::string::npos)
    return UserError("its external data is in '", location,
                     "': only files beside the model are read, by a relative path");
  for (absl::string_view part : absl::StrSplit(location, '/')) {
    if (part == "..")
      return UserError("its external data is in '", location,
                       "', which leaves the model's folder: only files beside the model are read");
  }
  return absl::OkStatus();
}

absl::Status ReadFully(int descriptor, int64_t offset, std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pread(descriptor, &bytes[done], bytes.size() - done, offset + static_cast<int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return UserError(count < 0 ? std::strerror(errno) : "it ended early");
    done += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadRange(const std::string& path, int64_t offset, int64_t length) {
  const absl::StatusOr<int> opened = OpenToRead(path);
  if (!opened.ok()) return Annotate(opened.status(), "its external data");
  const int descriptor = *opened;
  absl::StatusOr<std::string> result = std::string();
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    result = UserError("its external data ", path, " is no regular file");
  } else if (offset > status.st_size || length > status.st_size - offset) {
    result = UserError("its external data is ", length, " bytes from ", offset, " of ", path,
                       ", which has only ", static_cast<int64_t>(status.st_size));
  } else {
    result->resize(static_cast<size_t>(length));
    const absl::Status read = ReadFully(descriptor, offset, *result);
    if (!read.ok()) result = UserError("cannot read ", path, ": ", read.message());
  }
  close(descriptor);
  return result;
}

absl::StatusOr<std::string> ExternalBytes(const ::onnx::TensorProto& tensor, int64_t size,
                                          const std::string& folder) {
  std::string location;
  int64_t offset = 0, length = size;
  for (const ::onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    int64_t* number = entry.key() == "offset"   ? &offset
                      : entry.key() == "length" ? &length
                                                : nullptr;
    if (number != nullptr && (!absl::SimpleAtoi(entry.value(), number) || *number < 0))
      return UserError("the ", entry.key(), " of its external data is '", entry.value(),
                       "', not a count of bytes");
  }
  YUBA_RETURN_IF_ERROR(CheckLocation(location));
  if (length != size)
    return UserError("its external data has ", length, " bytes, its shape and type need ", size);
  return ReadRange(folder + "/" + location, offset, length);
}

absl::StatusOr<TensorBytes> ReadTensorBytes(const ::onnx::TensorProto& tensor,
                                            const std::string& folder) {
  TensorBytes value;
  YUBA_ASSIGN_OR_RETURN(value.type, ElementTypeFromOnnx(tensor.data_type()));
  value.dims.assign(tensor.dims().begin(), tensor.dims().end());
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, CheckedElements(value.dims));
  const int64_t size = elements * ByteSize(value.type);
  if (tensor.has_segment()) return UserError("it is stored in segments, which is not supported");
  std::string bytes;
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    YUBA_ASSIGN_OR_RETURN(bytes, ExternalBytes(tensor, size, folder));
  } else {
    bytes = tensor.has_raw_data() ? tensor.raw_data() : TypedField(tensor, value.type);
  }
  if (static_cast<int64_t>(bytes.size()) != size)
    return UserError("its shape [", absl::StrJoin(value.dims, ", "), "] of ", Name(value.type),
                     " needs ", size, " bytes, the file has ", bytes.size());
  if (value.type == ElementType::kBool) {
    for (char& byte : bytes) byte = byte != 0;
  }
  value.data = std::make_shared<const std::string>(std::move(bytes));
  return value;
}

}  // namespace

absl::StatusOr<TensorBytes> ReadTensor(const ::onnx::TensorProto& tensor,
                                       const std::string& folder) {
  absl::StatusOr<TensorBytes> value = ReadTensorBytes(tensor, folder);
  if (value.ok()) return value;
  return Annotate(value.status(), tensor.name().empty() ? std::string("a tensor without a name")
                                                        : "tensor '" + tensor.name() + "'");
}

absl::StatusOr<ElementType> ElementTypeFromOnnx(int64_t data_type) {
  switch (data_type) {
    case ::onnx::TensorProto::FLOAT: return ElementType::kF32;
    case ::onnx::TensorProto::DOUBLE: return ElementType::kF64;
    case ::onnx::TensorProto::FLOAT16: return ElementType::kF16;
    case ::onnx::TensorProto::BFLOAT16: return ElementType::kBF16;
    case ::onnx::TensorProto::INT64: return ElementType::kI64;
    case ::onnx::TensorProto::INT32: return ElementType::kI32;
    case ::onnx::TensorProto::INT8: return ElementType::kI8;
    case ::onnx::TensorProto::UINT8: return ElementType::kU8;
    case ::onnx::TensorProto::BOOL: return ElementType::kBool;
  }
  const std::string name = data_type >= 0 && data_type <= ::onnx::TensorProto::BFLOAT16
                               ? ::onnx::TensorProto::DataType_Name(
                                     static_cast<::onnx::TensorProto::DataType>(data_type))
                               : absl::StrCat("number ", data_type);
  return UserError("element type ", name,
                   " is not supported (f64, f32, f16, bf16, i64, i32, i8, u8 and bool are)");
}

absl::StatusOr<int64_t> CheckedElements(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return UserError("dimension ", dim, " is negative");
    zero |= dim == 0;
  }
  if (zero) return 0;
  for (const int64_t dim : dims) {
    if (dim > (int64_t{1} << 58) / product)
      return UserError("shape [", absl::StrJoin(dims, ", "), "] has too many elements");
    product *= dim;
  }
  return product;
}

}  // namespace yuba::onnx
