// The name table: for each operator of ONNX the translation into descriptions.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_

#include <string>
#include <vector>

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

using Translate = void (*)(NodeContext& node);

// An attribute of the node that an entry takes as it is.
struct AttributeRow {
  const char* onnx;
  const char* entry;
  double absent;
};

struct OperatorRow {
  const char* onnx;
  const char* entry;    // the description, where operands and outputs correspond one to one
  Translate translate;  // else what to do
  std::vector<AttributeRow> attributes;
};

// Null for an operator that has no row.
const OperatorRow* FindRow(const std::string& op_type);
std::vector<std::string> MappedOperators();

void TranslateNode(const OperatorRow& row, NodeContext& node);

// By a description with the operator's own name: operands and outputs correspond one to one, and
// attributes by their names.
void TranslateByName(const OpDescription& op, NodeContext& node);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_TABLE_H_
