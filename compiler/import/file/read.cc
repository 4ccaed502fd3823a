#include "compiler/import/file/read.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "compiler/import/file/outline.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// The size of an open regular file; pipes, which have none, are refused.
absl::StatusOr<int64_t> SizeOfRegularFile(const UniqueFd& file, const std::string& path) {
  struct stat status;
  if (fstat(file.get(), &status) != 0)
    return UserError("cannot read ", path, ": ", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return UserError("cannot read ", path, ": it is no regular file");
  return static_cast<int64_t>(status.st_size);
}

// A file whose size protobuf can read.
struct MessageFile {
  UniqueFd file;
  int64_t size = 0;
};

absl::StatusOr<MessageFile> OpenMessage(const std::string& path, absl::string_view what) {
  YUBA_ASSIGN_OR_RETURN(UniqueFd file, OpenToRead(path));
  YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOfRegularFile(file, path));
  if (size == 0) return UserError(path, " is empty: it holds no ", what);
  if (size > INT_MAX) {
    return UserError(path, " has ", size, " bytes, and protobuf reads at most 2 GB: save the ",
                     what, " with its weights as external data");
  }
  return MessageFile{std::move(file), size};
}

template <typename Message>
absl::StatusOr<Message> ReadMessage(const std::string& path, absl::string_view what) {
  YUBA_ASSIGN_OR_RETURN(const MessageFile file, OpenMessage(path, what));
  google::protobuf::io::FileInputStream stream(file.file.get());
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  Message message;
  if (!message.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return UserError("cannot read ", path, ": it is truncated, or no ", what,
                     " in ONNX's format (protobuf fails near byte ", coded.CurrentPosition(),
                     " of ", file.size, ")");
  }
  return message;
}

// The model without the weights in it; as it is where there is anything odd about it.
absl::StatusOr<::onnx::ModelProto> ReadOutline(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const MessageFile file, OpenMessage(path, "model"));
  const absl::optional<std::string> outline = OutlineOf(file.file, file.size, BaseName(path));
  ::onnx::ModelProto model;
  if (outline.has_value() && model.ParseFromString(*outline)) return model;
  return ReadMessage<::onnx::ModelProto>(path, "model");
}

}  // namespace

absl::StatusOr<::onnx::ModelProto> ReadModelFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(::onnx::ModelProto model, ReadOutline(path));
  // Many other files parse as a message without any field that we know.
  if (!model.has_graph())
    return UserError("cannot read ", path, ": it is no ONNX model (there is no graph in it)");
  return model;
}

absl::StatusOr<::onnx::TensorProto> ReadTensorProtoFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(::onnx::TensorProto tensor,
                        ReadMessage<::onnx::TensorProto>(path, "tensor"));
  if (!tensor.has_data_type())
    return UserError("cannot read ", path, ": it is no ONNX tensor (it has no element type)");
  return tensor;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace yuba::onnx
