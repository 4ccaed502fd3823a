// Whether every node that is needed can be translated.
#ifndef YUBA_COMPILER_IMPORT_SUPPORTED_H_
#define YUBA_COMPILER_IMPORT_SUPPORTED_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

// The description with the operator's own name, or DescriptionNameOf (translate/by_name.h), by
// which users add operators; null where there is none. It goes before the table's row: the names of
// the descriptions that come with Yuba are not ONNX's.
const OpDescription* OwnEntry(const ::onnx::NodeProto& node, const OperatorLibrary& library);

// For messages: "opset 17", or for a domain other than ONNX's "version 2 of com.example".
std::string VersionOf(const ::onnx::NodeProto& node, const ::onnx::ModelProto& model,
                      int64_t opset);

// A node that could not be translated because planning does not know which nodes inside of it run.
struct UnknownNode {
  int position = -1;  // in the file; -1: there is none
  absl::Status why;
};

// The user's error where needed nodes have operators that neither the name table nor the library
// knows, or where `unknown` is one. It lists these nodes, with them those whose nodes inside run
// depending on values, says for each kind of operator what can be done, and names the tensors at
// which a part of the model ends that can be planned (--to-tensors).
absl::Status CheckSupported(const ::onnx::ModelProto& model, const FileGraph& order, int64_t opset,
                            const OperatorLibrary& library, const UnknownNode& unknown = {});

// The same of a node inside of another one, whose error names it.
absl::Status CheckInside(const ::onnx::NodeProto& node, const OperatorLibrary& library);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_SUPPORTED_H_
