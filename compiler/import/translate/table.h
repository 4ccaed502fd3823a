// The name table: for each operator of ONNX its translation into descriptions. It is the only place
// in the compiler where a new operator of ONNX must be named.
//
// Example: Same("Relu", 14, "relu") translates by name; Same("LeakyRelu", 16, "leaky_relu",
// {{"alpha", "alpha", 0.01}}) passes an attribute on; By("Softmax", 13, TranslateSoftmax, {"axis"})
// calls a function that reads `axis`. The numbers are versions of the operators (versions.h).
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_

#include <cstdint>
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
  int64_t newest;     // the newest version that it was read for; later ones of other element types
                      // alone are read as this one
  const char* entry;  // the description, where operands and outputs correspond one to one; or null
  Translate translate;                   // the function, where they do not; or null
  std::vector<AttributeRow> attributes;  // with `entry`
  // Other attributes, of any version, that the translation reads or that change nothing that is
  // supported. What is in neither list must be at its default (known.h).
  std::vector<std::string> reads;
};

// The row of an operator; null where there is none. Rows live as long as the program.
const OperatorRow* FindRow(const std::string& op_type);
// Whether the operator's result depends on no element of its operand.
bool ReadsShapeOnly(const std::string& op_type);
// Whether an operand of the operator may be a sequence of tensors.
bool TakesSequences(const std::string& op_type);
// How many of its first operands must be known when planning, so that it is known which nodes
// inside of the operator run.
int KnownOperands(const std::string& op_type);
// The names of all operators that have a row.
std::vector<std::string> MappedOperators();

// Translates by the row; mistakes are recorded in `node`.
void TranslateNode(const OperatorRow& row, NodeContext& node);

// Translates by the description `entry`, where operands and outputs correspond one to one.
void TranslateOneToOne(NodeContext& node, const std::string& entry, const Attributes& attributes);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
