// A part of a file's graph: what leads from some of its values to others. Values are tensors of the
// file by name: inputs, initializers and outputs of nodes.
//
// Example: of x -> backbone -> feature -> head -> boxes, the part to {"feature"} is the backbone,
// and the part from {"feature"} is the head with `feature` as its input.
#ifndef YUBA_COMPILER_IMPORT_FILE_PART_H_
#define YUBA_COMPILER_IMPORT_FILE_PART_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Makes the values `to`, in this order, the graph's outputs, and the values `from` inputs behind
// those of the file, with the type and shape that the file declares, if any; an empty list changes
// nothing. Nodes stay, so that OrderFileGraph finds those that are needed. The user's error, naming
// the flag, where a name is given twice or is of no value (it lists names that are near), and where
// a value of `from` is stored in the file.
absl::Status CutPart(const std::vector<std::string>& from, const std::vector<std::string>& to,
                     ::onnx::GraphProto& graph);

// Fills in order.cut, and order.unread with the inputs that no needed node reads. The user's error
// where one of `from` is among them.
absl::Status MarkCuts(const std::vector<std::string>& from, const ::onnx::GraphProto& graph,
                      FileGraph& order);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_PART_H_
