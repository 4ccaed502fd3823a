// TranslateNode of table.h.
#include "compiler/import/translate/table.h"

namespace yuba::onnx {
namespace {

// Before opset 7 an elementwise operator names the dimension at which its second operand begins.
void AlignSecondOperand(NodeContext& node, std::vector<int>& operands) {
  if (node.opset() >= 7 || operands.size() != 2 || node.failed()) return;
  const bool slopes = node.proto().op_type() == "PRelu" && node.Rank(operands[1]) == 1 &&
                      node.Rank(operands[0]) > 1;  // slopes for each channel, dimension 1
  if (!slopes && (node.Int("broadcast", 0) == 0 || !node.HasAttribute("axis"))) return;
  const int rank = node.Rank(operands[0]);
  const int axis = node.Axis(slopes ? 1 : node.Int("axis", 0), rank);
  if (node.failed()) return;
  std::vector<int64_t> dims = node.Dims(operands[1]);
  if (axis + static_cast<int>(dims.size()) > rank) return node.Fail("its operands do not align");
  dims.resize(rank - axis, 1);
  operands[1] = node.Reshape(operands[1], dims);
}

}  // namespace

void TranslateOneToOne(NodeContext& node, const std::string& entry, const Attributes& attributes) {
  std::vector<int> operands;
  for (int i = 0; i < node.InputCount(); ++i) operands.push_back(node.Optional(i));
  while (!operands.empty() && operands.back() < 0) operands.pop_back();
  AlignSecondOperand(node, operands);
  const std::vector<int> outputs = node.EntryOutputs(entry, operands, attributes);
  for (size_t i = 0; i < outputs.size(); ++i) node.SetOutput(static_cast<int>(i), outputs[i]);
}

void TranslateNode(const OperatorRow& row, NodeContext& node) {
  if (row.translate != nullptr) return row.translate(node);
  Attributes attributes;
  for (const AttributeRow& attribute : row.attributes)
    attributes[attribute.entry] = node.Float(attribute.onnx, attribute.absent);
  TranslateOneToOne(node, row.entry, attributes);
}

}  // namespace yuba::onnx
