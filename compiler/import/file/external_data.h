// Values of a model that lie in a file beside it: where a model is written anew, what is to be
// written there.
#ifndef YUBA_COMPILER_IMPORT_FILE_EXTERNAL_DATA_H_
#define YUBA_COMPILER_IMPORT_FILE_EXTERNAL_DATA_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

// Takes the value away, wherever it stands; name, type, shape and what else is said stay.
void ClearValue(::onnx::TensorProto& tensor);

// A file of values that is yet to be written. Values begin at multiples of 4096 bytes, with zeros
// between them.
class ExternalData {
 public:
  // `name` is the file's, beside the model that names it.
  explicit ExternalData(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool empty() const { return values_.empty(); }

  // Makes the file the place of the tensor's value, which is `view` as elements of `type`.
  void Place(const StoredView& view, ElementType type, ::onnx::TensorProto& tensor);

  // Does so with every external tensor of the model, which was read from `folder`: of its graphs,
  // nodes and functions, whatever their types, but for those of `but`. What lies in one place stays
  // in one. An error names a tensor whose data is missing.
  absl::Status PlaceAll(const std::string& folder, const std::set<std::string>& but,
                        ::onnx::ModelProto& model);

  // Writes the file to `path`, whole or not at all. At most one value is in memory at a time.
  absl::Status Write(const std::string& path) const;

 private:
  struct Value {
    int64_t offset = 0, length = 0;  // in the new file, bytes
    StoredView view;
    ElementType type = ElementType::kU8;
  };
  int64_t PlaceOf(const StoredView& view, ElementType type);

  std::string name_;
  std::vector<Value> values_;  // by offset
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_EXTERNAL_DATA_H_
