// The half of sources.h that adds the values that a file stores.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_STORED_SOURCES_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_STORED_SOURCES_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"

namespace yuba::onnx {

// A file and how it is read.
struct SourceFile {
  const ::onnx::GraphProto& proto;
  const FileGraph& order;
  const std::string& folder;
  const ImportOptions& options;
};

// Adds the initializers that something reads; a file may hold gigabytes of others. Values that
// decide nothing here stay in their files, where they are in one of their own.
absl::Status AddStored(const SourceFile& file, OnnxGraph& graph);

// Whether --state makes the input or initializer a state.
bool IsState(const ImportOptions& options, const std::string& name);

// The user's error where a tensor of the file, `what` ("the input"), cannot have the value that
// --bind gives it. With `any_rank` one element is one, whatever its shape.
absl::Status CheckBound(const TensorData& bound, const char* what, const OnnxValue& value,
                        bool any_rank);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_STORED_SOURCES_H_
