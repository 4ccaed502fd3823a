#include "compiler/import/node_translator.h"

#include "absl/strings/str_cat.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/outputs.h"
#include "compiler/import/supported.h"
#include "compiler/import/translate/by_name.h"
#include "compiler/import/translate/caches.h"
#include "compiler/import/translate/known.h"
#include "compiler/import/translate/table.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kMostInside = 1 << 18;  // nodes; more take minutes

}  // namespace

absl::Status NodeTranslator::Translate(const ::onnx::NodeProto& node, int position) {
  const std::string label =
      node.name().empty() ? absl::StrCat(node.op_type(), "_", position) : node.name();
  NodeContext context(node, opset_, label, folder_, library_, graph_,
                      [this](const ::onnx::NodeProto& inside) { return TranslateInside(inside); });
  for (int i = 0; i < node.input_size() && !context.failed(); ++i) {
    if (!node.input(i).empty() && !context.Named(node.input(i)).has_value()) {
      context.Fail("its operand '", node.input(i), "' is ",
                   WhyNotMade(model_.graph(), node.input(i)));
    }
  }
  const OpDescription* own = OwnEntry(node, library_);
  if (own != nullptr || !TakesSequences(node.op_type())) context.CheckSequences();
  if (own != nullptr) {
    TranslateByName(*own, context);
  } else {
    TranslateByRow(context);
  }
  context.CheckSequences();
  unknown_ |= context.unknown();
  if (!context.failed()) return absl::OkStatus();
  return Annotate(context.status(), absl::StrCat("node ", NodeLabel(node, position), ", ",
                                                 VersionOf(node, model_, opset_)));
}

void NodeTranslator::TranslateByRow(NodeContext& context) {
  const OperatorRow& row = *FindRow(context.proto().op_type());
  context.Check(CheckKnown(context.proto(), opset_, row));
  if (context.failed()) return;
  if (CacheSlot* slot = CacheOf(context, graph_)) {
    TranslateCacheWrite(context, *slot, graph_);
  } else {
    TranslateNode(row, context);
  }
}

absl::Status NodeTranslator::TranslateInside(const ::onnx::NodeProto& node) {
  if (++inside_ > kMostInside)
    return UserError("the nodes inside of nodes run ", kMostInside, " times in all and more");
  YUBA_RETURN_IF_ERROR(CheckInside(node, library_));
  return Translate(node, 0);
}

}  // namespace yuba::onnx
