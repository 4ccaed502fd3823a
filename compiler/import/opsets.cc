#include "compiler/import/opsets.h"

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/versions.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kTableBegins = 6;  // the opset with which the table of versions begins

using NodeList = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
using OpsetList = google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;

bool IsOnnx(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

absl::optional<int64_t> Named(const OpsetList& opsets) {
  for (const ::onnx::OperatorSetIdProto& opset : opsets) {
    if (IsOnnx(opset.domain())) return opset.version();
  }
  return absl::nullopt;
}

// The version by whose text the operator means what it does in the opset; 0 before it came.
int64_t MeaningIn(const std::vector<OperatorVersion>& versions, int64_t opset) {
  if (opset < versions.front().since) return 0;
  return MeaningOf(versions, VersionAt(versions, opset).since);
}

// A node, also inside of nodes, whose operator means something else in opset `own` than in `model`;
// null where there is none.
const ::onnx::NodeProto* Differing(const NodeList& nodes, int64_t own, int64_t model) {
  for (const ::onnx::NodeProto& node : nodes) {
    const std::vector<OperatorVersion>* versions =
        IsOnnx(node.domain()) ? VersionsOf(node.op_type()) : nullptr;
    if (versions != nullptr && MeaningIn(*versions, own) != MeaningIn(*versions, model)) {
      return &node;
    }
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      const ::onnx::NodeProto* inside =
          attribute.has_g() ? Differing(attribute.g().node(), own, model) : nullptr;
      if (inside != nullptr) return inside;
    }
  }
  return nullptr;
}

absl::Status CheckFunctions(const ::onnx::ModelProto& model, int64_t opset) {
  for (const ::onnx::FunctionProto& function : model.functions()) {
    const int64_t own = Named(function.opset_import()).value_or(opset);
    const ::onnx::NodeProto* node = Differing(function.node(), own, opset);
    if (node == nullptr) continue;
    return UserError("the model is of opset ", opset, " and its function '", function.name(),
                     "' of opset ", own, ", and between these ", node->op_type(),
                     " changed: export both for one opset");
  }
  return absl::OkStatus();
}

// A node, also inside of nodes, whose operator changed, or came, after opset `own`, which is older
// than the table; null where there is none.
const ::onnx::NodeProto* ChangedSince(const NodeList& nodes, int64_t own) {
  for (const ::onnx::NodeProto& node : nodes) {
    const std::vector<OperatorVersion>* versions =
        IsOnnx(node.domain()) ? VersionsOf(node.op_type()) : nullptr;
    if (versions != nullptr && versions->front().since > own) return &node;
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      const ::onnx::NodeProto* inside =
          attribute.has_g() ? ChangedSince(attribute.g().node(), own) : nullptr;
      if (inside != nullptr) return inside;
    }
  }
  return nullptr;
}

absl::Status CheckOld(const ::onnx::ModelProto& model, int64_t opset) {
  const ::onnx::NodeProto* node = ChangedSince(model.graph().node(), opset);
  if (node == nullptr) return absl::OkStatus();
  return UserError("the model is of opset ", opset, ", and the oldest ", node->op_type(),
                   " that is known is that of opset ", VersionsOf(node->op_type())->front().since,
                   ": convert it (onnx.version_converter)");
}

}  // namespace

absl::StatusOr<int64_t> OpsetOf(const ::onnx::ModelProto& model, bool strict) {
  const absl::optional<int64_t> opset = Named(model.opset_import());
  if (!opset.has_value()) {
    for (const ::onnx::NodeProto& node : model.graph().node()) {
      if (IsOnnx(node.domain()))
        return UserError("the model does not say which version of ONNX's operators it uses");
    }
    return 0;
  }
  if (*opset < kTableBegins) YUBA_RETURN_IF_ERROR(CheckOld(model, *opset));
  if (strict && *opset > kNewestOpset) {
    return UserError("--strict: the model is of opset ", *opset, ", and what changed behind ",
                     kNewestOpset, " is not known: export it for opset ", kNewestOpset);
  }
  YUBA_RETURN_IF_ERROR(CheckFunctions(model, *opset));
  return *opset;
}

}  // namespace yuba::onnx
