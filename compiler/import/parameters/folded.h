// What PyTorch's exporter has made of parameters before it wrote the file, where that is another
// form of theirs and no other number: a table of calls, and the names of calls that are gone.
//
// Example: the call aten.linear becomes a MatMul whose operand 1 is the call's argument 1,
// transposed.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_FOLDED_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_FOLDED_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "compiler/import/parameters/export_record.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/stored_form.h"

namespace yuba::onnx {

// A stored value, and a node that reads it.
struct FoldedValue {
  const ::onnx::TensorProto* tensor = nullptr;
  std::vector<std::string> folded_from;  // empty: the file does not say
  const ::onnx::NodeProto* reader = nullptr;
  int operand = 0;                  // of the reader
  absl::optional<CallRecord> call;  // that the reader is part of
};

// The form of parameters that the value is; nothing where it is none, as a product of two, a part
// of one or one repeated, or where the file does not tell. `parameters` and `inputs`: PyTorch's
// names by those in the exported program, and the names of the graph's inputs.
absl::optional<StoredForm> FormOf(const FoldedValue& value,
                                  const std::map<std::string, std::string>& parameters,
                                  const std::vector<std::string>& inputs);

// "view_1" is a result of the call `view`.
absl::string_view CallNamed(absl::string_view result);

// Whether the result is of a call that makes a tensor of no other, as `ones`. What other calls
// compute may be of parameters.
bool MakesConstant(absl::string_view result);

// PyTorch's name of the one parameter that the table has for the operand of a node that is part of
// the call; empty where it has none.
std::string ParameterOfOperand(const CallRecord& call, const std::string& op_type, int operand,
                               const std::map<std::string, std::string>& parameters);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_FOLDED_H_
