// The graph as the file has it, checked and put in order: what translation may rely on. Every value
// that a needed node reads has exactly one source, and there is no cycle.
#ifndef YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_
#define YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/import/file/initialization.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/stored_form.h"

namespace yuba::onnx {

// What is known of an initializer besides its value.
struct StoredRole {
  // What the file itself says that it is in the user's program: a parameter, a buffer, or something
  // else, as a table that was computed when the file was written. kNone: it does not say.
  enum class Word { kNone, kParameter, kBuffer, kOther };
  Word word = Word::kNone;
  bool operand = false;      // some node has it as a weight, bias, slope or scale
  bool first_state = false;  // nodes read it as nothing but the first state of a recurrence
  // kParameter: the form of the user's parameters that it is; none: it is one of them as it is.
  absl::optional<StoredForm> form;
};

// Points into the GraphProto that it was made from, which must outlive it.
struct FileGraph {
  // Positions in the file of the nodes that an output needs (also by ReadsInside), each behind the
  // nodes whose values it reads: depth first from the outputs, whatever their order in the file.
  std::vector<int> nodes;
  std::map<std::string, const ::onnx::TensorProto*> initializers;  // by name
  std::vector<const ::onnx::ValueInfoProto*> inputs;  // those that no initializer gives a value
  Initialization
      initialization;  // how some of the inputs begin; who orders a graph leaves it empty
  // Of the initializers that nodes read, by name (parameters/stored_roles.h); left empty too.
  std::map<std::string, StoredRole> roles;
  // Of a part of the file (part.h); who orders a graph leaves them empty too. `cut` are the values
  // at which it begins, as the file declares them; nothing of the part reads `unread`.
  std::map<std::string, ::onnx::ValueInfoProto> cut;
  std::set<std::string> unread;  // inputs
};

// Errors (InvalidArgument) name the value: one that is given twice, one that nothing gives, a
// cycle, sparse initializers, a graph without outputs.
absl::StatusOr<FileGraph> OrderFileGraph(const ::onnx::GraphProto& graph);

// The values that nodes inside of the node, as in the branches of an If, read from outside of it;
// none for most nodes.
std::vector<std::string> ReadsInside(const ::onnx::NodeProto& node);
// The node's operands and ReadsInside.
std::vector<std::string> ReadsOf(const ::onnx::NodeProto& node);

// What messages call the node at `position` in the file: "'conv1' (Conv)", or, where it has no
// name, "number 7 (Conv, makes 'y')".
std::string NodeLabel(const ::onnx::NodeProto& node, int position);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_
