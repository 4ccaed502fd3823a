// The half of read.h that reads tensors, external data among them.
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
  const absl::StatusOr<UniqueFd> file = OpenToRead(path);
  if (!file.ok()) return Annotate(file.status(), "its external data");
  struct stat status;
  if (fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return UserError("its external data ", path, " is no regular file");
  }
  if (offset > status.st_size || length > status.st_size - offset) {
    return UserError("its external data is ", length, " bytes from ", offset, " of ", path,
                     ", which has only ", static_cast<int64_t>(status.st_size));
  }
  std::string bytes(static_cast<size_t>(length), '\0');
  const absl::Status read = ReadFully(file->get(), offset, bytes);
  if (!read.ok()) return UserError("cannot read ", path, ": ", read.message());
  return bytes;
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

absl::StatusOr<TensorData> ReadWherever(const ::onnx::TensorProto& tensor,
                                        const std::string& folder) {
  if (tensor.has_segment()) return UserError("it is stored in segments, which is not supported");
  if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL) return DecodeTensor(tensor);
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ElementTypeFromOnnx(tensor.data_type()));
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(dims));
  YUBA_ASSIGN_OR_RETURN(std::string bytes,
                        ExternalBytes(tensor, elements * ByteSize(type), folder));
  return TensorOf(type, std::move(dims), std::move(bytes));
}

}  // namespace

absl::StatusOr<TensorData> ReadTensor(const ::onnx::TensorProto& tensor,
                                      const std::string& folder) {
  absl::StatusOr<TensorData> value = ReadWherever(tensor, folder);
  if (value.ok()) return value;
  return Annotate(value.status(), tensor.name().empty() ? std::string("a tensor without a name")
                                                        : "tensor '" + tensor.name() + "'");
}

}  // namespace yuba::onnx
