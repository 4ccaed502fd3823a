// What PyTorch's exporter of today (the default of torch.onnx.export since PyTorch 2.9) writes
// beside the values and nodes of a file: which values are parameters of the user's program and
// which are buffers, of what constant folding has made others, and of which call of the exported
// program a node is part.
//
// Example: of a linear layer `q` behind an activation of three dimensions the file has
//   the graph's signature           p_q_weight: PARAMETER target='q.weight'
//   an initializer val_2 [in, out]  folded from ['q.weight']
//   a node MatMul(h, val_2)         %linear : ... [target=torch.ops.aten.linear.default](args =
//                                   (%h, %p_q_weight), kwargs = {})
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_EXPORT_RECORD_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_EXPORT_RECORD_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Of one value of the file.
struct ValueRecord {
  enum Kind { kUnsaid, kParameter, kBuffer };
  Kind kind = kUnsaid;
  std::string called;        // in the exported program, as "p_q_weight"; or ""
  std::string renamed_from;  // PyTorch's name, where no value of the file has it; or ""
  // Names of values, of the file before folding; of what the exporter has renamed, the new ones.
  std::vector<std::string> folded_from;
};

struct ExportRecord {
  std::map<std::string, ValueRecord> values;  // by name in the file: those that it says anything of
  // PyTorch's name, "q.weight", by the name in the exported program, "p_q_weight"; the file's where
  // it has renamed it. Constants that the program has lifted are among the buffers.
  std::map<std::string, std::string> parameters, buffers;
  // Of the user, by their names in the exported program, in order.
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> unread;  // for people: texts of a known key that could not be read
  // Whether it says of any value what that is in the user's program.
  bool SaysKinds() const;
};

// Of the whole graph. Texts that cannot be read are named in `unread` and count as not there.
ExportRecord ReadExportRecord(const ::onnx::GraphProto& graph);

// A call of the exported program.
struct CallRecord {
  std::string result;  // "linear"
  std::string target;  // "aten.linear.default"
  // [positional argument]: the names of values in it, {"h"} or, of a list, several; none of a
  // number.
  std::vector<std::vector<std::string>> arguments;
  std::vector<std::string> texts;   // [positional argument]: as it is written
  std::vector<std::string> values;  // that any argument names, those by keyword too
};

struct NodeRecord {
  bool exported = false;            // PyTorch's exporter has written anything beside the node
  absl::optional<CallRecord> call;  // of which the node is part
  std::string unread;               // the text of the call, where it is there and no such text
};
NodeRecord ReadNodeRecord(const ::onnx::NodeProto& node);

// Makes a new node say the call that it is part of, as the exporter writes it.
void SayCall(const std::string& text, ::onnx::NodeProto& node);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_EXPORT_RECORD_H_
