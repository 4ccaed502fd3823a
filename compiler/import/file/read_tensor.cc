// The half of read.h that reads tensors, external data among them.
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "compiler/import/file/read.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

namespace fs = std::filesystem;

bool IsAbove(const fs::path& path) { return !path.empty() && *path.begin() == ".."; }

bool IsIn(const fs::path& file, const fs::path& folder) {
  return !IsAbove(file.lexically_relative(folder));
}

// Whether the file is where the model really lies: of models that were downloaded, caches have
// folders of links to the model and to its values, which lie beside each other elsewhere.
bool IsBesideModel(const fs::path& file, const std::string& folder) {
  std::error_code ended, missing;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    if (!at->is_symlink(missing) || !WasRead(at->path().string())) continue;
    if (IsIn(file, fs::canonical(at->path(), missing).parent_path())) return true;
  }
  return false;
}

// The path of the external file `location` of a model in `folder`; an error where it is not in the
// folder or below it, or a link leads out of it. Where there is no such file, whoever opens it says
// so.
absl::StatusOr<std::string> PathOf(const std::string& location, const std::string& folder) {
  if (location.empty()) return UserError("its external data names no file");
  if (location[0] == '/' || location.find('\0') != std::string::npos) {
    return UserError("its external data is in '", location,
                     "': only files beside the model are read, by a relative path");
  }
  if (IsAbove(fs::path(location).lexically_normal())) {
    return UserError("its external data is in '", location,
                     "', which leaves the model's folder: only files beside the model are read");
  }
  std::string path = folder == "." ? location : folder + "/" + location;
  std::error_code missing;
  const fs::path real = fs::canonical(path, missing), home = fs::canonical(folder, missing);
  // The model may be a link itself, and values that lie in it are external data of its own.
  if (!real.empty() && !IsIn(real, home) && !WasRead(path) && !IsBesideModel(real, folder)) {
    return UserError("its external data is in '", location, "', and a link leads from there to ",
                     real.string(), ", which is not in the model's folder: only files beside the ",
                     "model are read; copy the folder with what its links lead to (cp -RL)");
  }
  return path;
}

// The bytes of `path`, checked against its size.
absl::StatusOr<FileRange> RangeIn(const std::string& path, int64_t offset, int64_t length) {
  const absl::StatusOr<int64_t> size = SizeOfFile(path);
  if (!size.ok()) return Annotate(size.status(), "its external data");
  FileRange range{path, offset, length, *size};
  if (!IsWithinFile(range)) {
    return UserError("its external data is ", length, " bytes from ", offset, " of ", path,
                     ", which has only ", *size, ": bring the whole file");
  }
  return range;
}

// Of `size` bytes; -1: of as many as the tensor says.
absl::StatusOr<FileRange> ExternalRange(const ::onnx::TensorProto& tensor, int64_t size,
                                        const std::string& folder) {
  std::string location;
  int64_t offset = 0, length = size;
  for (const ::onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    int64_t* number = entry.key() == "offset"   ? &offset
                      : entry.key() == "length" ? &length
                                                : nullptr;
    if (number != nullptr && (!absl::SimpleAtoi(entry.value(), number) || *number < 0)) {
      return UserError("the ", entry.key(), " of its external data is '", entry.value(),
                       "', not a count of bytes");
    }
  }
  YUBA_ASSIGN_OR_RETURN(const std::string path, PathOf(location, folder));
  if (length < 0) return UserError("its external data does not say how long it is");
  if (size >= 0 && length != size)
    return UserError("its data has ", length, " bytes, its shape and type need ", size);
  return RangeIn(path, offset, length);
}

absl::StatusOr<StoredTensor> Locate(const ::onnx::TensorProto& tensor, const std::string& folder) {
  if (tensor.has_segment()) return UserError("it is stored in segments, which is not supported");
  StoredTensor stored;
  YUBA_ASSIGN_OR_RETURN(stored.type, ElementTypeFromOnnx(tensor.data_type()));
  stored.dims.assign(tensor.dims().begin(), tensor.dims().end());
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(stored.dims));
  YUBA_ASSIGN_OR_RETURN(stored.bytes,
                        ExternalRange(tensor, elements * ByteSize(stored.type), folder));
  return stored;
}

absl::StatusOr<TensorData> ReadWherever(const ::onnx::TensorProto& tensor,
                                        const std::string& folder) {
  if (tensor.has_segment()) return UserError("it is stored in segments, which is not supported");
  if (!IsExternal(tensor)) return DecodeTensor(tensor);
  YUBA_ASSIGN_OR_RETURN(StoredTensor stored, Locate(tensor, folder));
  YUBA_ASSIGN_OR_RETURN(std::string bytes, ReadRange(stored.bytes));
  return TensorOf(stored.type, std::move(stored.dims), std::move(bytes));
}

// The error says which tensor.
template <typename Value>
absl::StatusOr<Value> OfTensor(const ::onnx::TensorProto& tensor, absl::StatusOr<Value> value) {
  if (value.ok()) return value;
  return Annotate(value.status(), tensor.name().empty() ? std::string("a tensor without a name")
                                                        : "tensor '" + tensor.name() + "'");
}

}  // namespace

bool IsExternal(const ::onnx::TensorProto& tensor) {
  return tensor.data_location() == ::onnx::TensorProto::EXTERNAL;
}

absl::StatusOr<StoredTensor> LocateTensor(const ::onnx::TensorProto& tensor,
                                          const std::string& folder) {
  return OfTensor(tensor, Locate(tensor, folder));
}

absl::StatusOr<FileRange> LocateBytes(const ::onnx::TensorProto& tensor,
                                      const std::string& folder) {
  if (!ElementTypeFromOnnx(tensor.data_type()).ok())
    return OfTensor(tensor, ExternalRange(tensor, -1, folder));
  YUBA_ASSIGN_OR_RETURN(const StoredTensor stored, LocateTensor(tensor, folder));
  return stored.bytes;
}

absl::StatusOr<TensorData> ReadTensor(const ::onnx::TensorProto& tensor,
                                      const std::string& folder) {
  return OfTensor(tensor, ReadWherever(tensor, folder));
}

}  // namespace yuba::onnx
