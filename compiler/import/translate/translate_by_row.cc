// TranslateNode of table.h.
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/import/translate/table.h"
#include "compiler/import/translate/versions.h"

namespace yuba::onnx {
namespace {

// How operands of elementwise operators align in versions that are older than NumPy's broadcasting:
// of two operands by the attributes `broadcast` and `axis`, of any number not at all.
constexpr int64_t kPairs = 7, kMany = 8;  // the opsets with which NumPy's rule came

const OperatorVersion& VersionOf(const NodeContext& node) {
  return VersionAt(*VersionsOf(node.proto().op_type()), node.opset());
}

// The second operand begins at dimension `axis` of the first, or ends with it. The text allows
// dimensions of 1 only where all are; files of PyTorch's have them elsewhere too, and runtimes
// repeat them.
void AlignSecond(NodeContext& node, bool has_axis, int64_t axis, std::vector<int>& operands) {
  const Dims& first = node.Dims(operands[0]);
  Dims dims = node.Dims(operands[1]);
  const int rank = static_cast<int>(first.size()), own = static_cast<int>(dims.size());
  const int begin = has_axis ? node.Axis(axis, rank) : rank - own;
  if (node.failed()) return;
  const auto fits = [](int64_t dim, int64_t of_first) { return dim == 1 || dim == of_first; };
  if (begin < 0 || begin + own > rank ||
      !std::equal(dims.begin(), dims.end(), first.begin() + begin, fits)) {
    return node.Fail("its operand ", Extents(dims), " is no part of ", Extents(first),
                     has_axis ? absl::StrCat(" from dimension ", begin, " on") : " at its end",
                     ", as its version needs it (opset ", kPairs, " has NumPy's broadcasting)");
  }
  dims.resize(rank - begin, 1);
  if (dims != node.Dims(operands[1])) operands[1] = node.Reshape(operands[1], dims);
}

// Gives the second of two operands the dimensions under which it broadcasts as NumPy does, as the
// node's version says it: Add-6 of [2, 3, 4] and [3] with broadcast = 1 and axis = 1 reads the
// second as [3, 1]. A mistake where the version does not let shapes differ so. Newer versions, and
// operators with other numbers of operands, stay as they are.
void AlignOperands(NodeContext& node, std::vector<int>& operands) {
  if (node.failed() || node.opset() >= kMany || operands.size() < 2) return;
  for (const int operand : operands) {
    if (operand < 0) return;
  }
  const Dims first = node.Dims(operands[0]);
  // Slopes for each channel, dimension 1.
  const bool slopes = node.opset() < kPairs && node.proto().op_type() == "PRelu";
  if (slopes) {
    const bool channels = node.Rank(operands[1]) == 1 && first.size() > 1;
    return AlignSecond(node, channels, 1, operands);
  }
  const OperatorVersion& version = VersionOf(node);
  const bool pair = version.attributes.count("broadcast") > 0;
  if (pair && node.Int("broadcast", 0) != 0)
    return AlignSecond(node, node.HasAttribute("axis"), node.Int("axis", 0), operands);
  if (!pair && version.most_inputs <= 2) return;
  for (const int operand : operands) {
    if (node.Dims(operand) == first) continue;
    return node.Fail("its operands ", Extents(first), " and ", Extents(node.Dims(operand)),
                     " differ, and its version takes others of one shape alone",
                     pair ? " where it has no `broadcast`" : "", " (opset ", pair ? kPairs : kMany,
                     " has NumPy's broadcasting)");
  }
}

// Whether the operands of the operator broadcast, or did not yet; Where and Clip are younger.
bool IsElementwise(const OperatorRow& row) {
  constexpr Translate kOthers[] = {TranslateMax, TranslateMean, TranslateMin, TranslatePow,
                                   TranslateSum};
  return row.translate == nullptr ||
         std::count(std::begin(kOthers), std::end(kOthers), row.translate) > 0;
}

// Those at the end that are absent are left out.
std::vector<int> OperandsOf(const NodeContext& node) {
  std::vector<int> operands;
  for (int i = 0; i < node.InputCount(); ++i) operands.push_back(node.Optional(i));
  while (!operands.empty() && operands.back() < 0) operands.pop_back();
  return operands;
}

void TranslateTo(NodeContext& node, const std::string& entry, const std::vector<int>& operands,
                 const Attributes& attributes) {
  const std::vector<int> outputs = node.EntryOutputs(entry, operands, attributes);
  for (size_t i = 0; i < outputs.size(); ++i) node.SetOutput(static_cast<int>(i), outputs[i]);
}

}  // namespace

void TranslateOneToOne(NodeContext& node, const std::string& entry, const Attributes& attributes) {
  TranslateTo(node, entry, OperandsOf(node), attributes);
}

void TranslateNode(const OperatorRow& row, NodeContext& node) {
  std::vector<int> operands = OperandsOf(node);
  if (IsElementwise(row)) AlignOperands(node, operands);
  if (row.translate != nullptr) return row.translate(node);
  Attributes attributes;
  for (const AttributeRow& attribute : row.attributes)
    attributes[attribute.entry] = node.Float(attribute.onnx, attribute.absent);
  TranslateTo(node, row.entry, operands, attributes);
}

}  // namespace yuba::onnx
