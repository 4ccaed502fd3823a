// The name table: for each operator of ONNX its translation into descriptions. It is the only place
// in the compiler where a new operator of ONNX must be named.
//
// Example: {"Relu", "relu"} translates by name; {"LeakyRelu", "leaky_relu", attributes {{"alpha",
// "alpha", 0.01}}} passes an attribute on; {"Conv", TranslateConv} calls a function.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_

#include <string>
#include <vector>

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

using Translate = void (*)(NodeContext& node);

// An attribute of the node that the description takes as it is.
struct AttributeRow {
  const char* onnx;   // its name in ONNX
  const char* entry;  // its name in the description
  double absent;      // its value where the node has none
};

struct OperatorRow {
  const char* onnx;   // the operator's name
  const char* entry;  // the description, where operands and outputs correspond one to one; or null
  Translate translate;                   // the function, where they do not; or null
  std::vector<AttributeRow> attributes;  // with `entry`
};

// The row of an operator; null where there is none. Rows live as long as the program.
const OperatorRow* FindRow(const std::string& op_type);
// Whether the operator's result depends on no element of its operand.
bool ReadsShapeOnly(const std::string& op_type);
// The names of all operators that have a row.
std::vector<std::string> MappedOperators();

// Translates by the row; mistakes are recorded in `node`.
void TranslateNode(const OperatorRow& row, NodeContext& node);

// Translates by the description `entry`, where operands and outputs correspond one to one.
void TranslateOneToOne(NodeContext& node, const std::string& entry, const Attributes& attributes);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
