// What is known of PyTorch's calls beside their names: which of their arguments the operands of the
// nodes are that its exporter makes of them.
//
// Example: aten.linear(x, weight, bias) becomes a MatMul whose operand 1 is argument 1, transposed,
// or a Gemm whose operand 2 is argument 2.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_ATEN_CALLS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_ATEN_CALLS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "compiler/import/parameters/export_record.h"
#include "opsemantics/values/stored_form.h"

namespace yuba::onnx {

struct AtenOperand {
  absl::string_view call;  // without its overload
  absl::string_view op;    // ONNX's operator
  int operand;             // of the node
  int argument;            // of the call
  // That the parameter is folded into; none: the operand is a bias as it is, and the exporter's
  // optimizer leaves it out where all of it is 0.
  absl::optional<StoredForm::Kind> form;
  std::vector<int> blocks;  // of StoredForm
};

// The row of an operand in another form; null where there is none.
const AtenOperand* FormedOperand(const CallRecord& call, const std::string& op_type, int operand);

// The rows of biases that a node of that operator, which is part of the call, may lack.
std::vector<const AtenOperand*> Biases(const CallRecord& call, const std::string& op_type);

// Whether the operands of the node that is made of the call stand in the call's order.
bool HasOperandsInOrder(const CallRecord& call);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_ATEN_CALLS_H_
