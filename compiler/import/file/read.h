// Reading files: bytes to ONNX's protobuf, and its tensors to plain little-endian data. Nothing
// here knows what a node means. Everything is checked, since the bytes may be anything: each
// function returns an error that names the file or tensor, and none crashes.
#ifndef YUBA_COMPILER_IMPORT_FILE_READ_H_
#define YUBA_COMPILER_IMPORT_FILE_READ_H_

#include <string>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/onnx_tensor.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

// The model in `path`. Large raw data of its initializers stays in the file: the message has it as
// external data there (outline.h). An error that names the file and the cause where it is missing,
// no regular file, too large for protobuf (2 GB), truncated, or no model.
absl::StatusOr<::onnx::ModelProto> ReadModelFile(const std::string& path);

// A tensor file (input_0.pb of ONNX's test data).
absl::StatusOr<::onnx::TensorProto> ReadTensorProtoFile(const std::string& path);

// Whether the model keeps the tensor's value in a file.
bool IsExternal(const ::onnx::TensorProto& tensor);

// Where the value of an external tensor of a model in `folder` lies: in files in `folder` or below
// it, no others, also not by a link. Nothing of it is read. An error where the file is missing or
// too short, or where the data has another size than the type and the dimensions say.
absl::StatusOr<StoredTensor> LocateTensor(const ::onnx::TensorProto& tensor,
                                          const std::string& folder);

// Where the bytes of an external tensor lie, of whatever type: as many as its file says, where the
// type is not one that is read. Else as LocateTensor.
absl::StatusOr<FileRange> LocateBytes(const ::onnx::TensorProto& tensor, const std::string& folder);

// The value of a tensor of a model in `folder`, wherever the model keeps it: typed fields, raw
// data, or a file (LocateTensor).
absl::StatusOr<TensorData> ReadTensor(const ::onnx::TensorProto& tensor, const std::string& folder);

// "a/b.onnx" -> "a", "b.onnx" -> ".", "/b.onnx" -> "/".
std::string FolderOf(const std::string& path);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_READ_H_
