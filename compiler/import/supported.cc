#include "compiler/import/supported.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/translate/by_name.h"
#include "compiler/import/translate/table.h"
#include "compiler/import/translate/unsupported.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {
namespace {

constexpr size_t kMostTensors = 8;  // that are named as ends of a part
constexpr size_t kMostNodes = 8;    // that are listed, of those that are not supported

bool IsStandard(const ::onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

bool IsSupported(const ::onnx::NodeProto& node, const OperatorLibrary& library) {
  return (IsStandard(node) && FindRow(node.op_type()) != nullptr) ||
         OwnEntry(node, library) != nullptr;
}

std::string OperatorName(const ::onnx::NodeProto& node) {
  return absl::StrCat(IsStandard(node) ? "" : node.domain() + ".", node.op_type());
}

// Goes through the needed nodes once and finds what cannot be translated and where it begins.
class Survey {
 public:
  Survey(const ::onnx::GraphProto& graph, const FileGraph& order, const OperatorLibrary& library,
         int unknown)
      : graph_(graph), library_(library), unknown_(unknown) {
    for (const ::onnx::ValueInfoProto* input : order.inputs) data_.insert(input->name());
    inputs_ = data_;
    for (const ::onnx::TensorProto& stored : graph.initializer()) {
      stored_types_[stored.name()] = stored.data_type();
      if (MayBeTrained(stored, order)) weights_[stored.name()] = stored.name();
    }
    for (const int n : order.nodes) Visit(n);
    for (const ::onnx::ValueInfoProto& output : graph.output()) EndAt(output.name());
  }

  const std::set<int>& refused() const { return refused_; }
  // Whether the file cannot be read as far as is known before nodes are translated.
  bool certain() const { return certain_; }
  // Sentences, one for each kind of operator.
  std::vector<std::string> Advice() const {
    std::vector<std::string> lines;
    for (const auto& [why, names] : kinds_)
      lines.push_back(AdviceOf(why, absl::StrJoin(names, ", ")));
    std::vector<std::string> folded;
    for (const auto& [name, nodes] : of_constants_) {
      const int all = nodes_.at(name);
      folded.push_back(nodes == all ? name : absl::StrCat(name, " (", nodes, " of ", all, ")"));
    }
    if (!folded.empty()) {
      lines.push_back(absl::StrCat(
          absl::StrJoin(folded, ", "),
          ": here it is computed from constants and shapes alone, so that it can be folded: ",
          "onnxsim, or ONNX Runtime at level basic, writes such a model",
          folded_weight_.empty()
              ? ""
              : absl::StrCat(", in which '", folded_weight_, "' is not ", "trained")));
    }
    if (!why_not_typed_.empty()) lines.push_back(why_not_typed_);
    if (!ends_.empty()) {
      lines.push_back(
          absl::StrCat("To plan what comes before: --to-tensors ", absl::StrJoin(ends_, ",")));
    }
    return lines;
  }

 private:
  static bool MayBeTrained(const ::onnx::TensorProto& stored, const FileGraph& order) {
    using Word = StoredRole::Word;
    const auto role = order.roles.find(stored.name());
    const Word word = role == order.roles.end() ? Word::kNone : role->second.word;
    const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(stored.data_type());
    if (!type.ok() || !IsFloat(*type)) return false;
    const bool several = std::any_of(stored.dims().begin(), stored.dims().end(),
                                     [](int64_t dim) { return dim != 1; });
    return word == Word::kParameter || (word == Word::kNone && several);
  }

  // The weight that one of the values is, or is computed of; empty where none is.
  std::string WeightAmong(const std::vector<std::string>& values) const {
    for (const std::string& value : values) {
      const auto weight = weights_.find(value);
      if (weight != weights_.end()) return weight->second;
    }
    return "";
  }

  void Visit(int n) {
    const ::onnx::NodeProto& node = graph_.node(n);
    const std::vector<std::string> reads = ReadsOf(node);
    const auto any_in = [&](const std::set<std::string>& values) {
      return std::any_of(reads.begin(), reads.end(),
                         [&](const std::string& read) { return values.count(read) > 0; });
    };
    const bool data = any_in(data_), supported = n != unknown_ && IsSupported(node, library_);
    const bool refused = !supported || MayBeUnknown(node);
    certain_ |= !supported;
    const bool behind = refused || any_in(behind_);
    const std::string weight = WeightAmong(reads);
    for (const std::string& output : node.output()) {
      if (!weight.empty()) weights_[output] = weight;
      if (behind) behind_.insert(output);
      if (data && !(IsStandard(node) && ReadsShapeOnly(node.op_type()))) data_.insert(output);
    }
    if (!refused) return;
    refused_.insert(n);
    const WhyUnsupported why =
        WhyUnsupportedIs(IsStandard(node) ? "" : node.domain(), node.op_type());
    const bool describable =
        why == WhyUnsupported::kUndescribed || why == WhyUnsupported::kOptimised;
    const bool foldable = !data && (describable || why == WhyUnsupported::kShapeFromData);
    const std::string described = DescriptionNameOf(node);
    const bool renamed = describable && described != node.op_type();
    const std::string name =
        absl::StrCat(OperatorName(node), renamed ? absl::StrCat(" (as ", described, ")") : "");
    ++nodes_[OperatorName(node)];
    if (foldable) ++of_constants_[OperatorName(node)];
    // What folds constants does not know the operators of other domains; and what is folded is not
    // trained.
    if (foldable && folded_weight_.empty()) folded_weight_ = weight;
    if (!foldable || !IsStandard(node) || !weight.empty()) kinds_[why].insert(name);
    for (const std::string& read : reads) {
      EndAt(read);
      CheckType(read);
    }
  }

  // Whether the operands that decide which nodes inside run may depend on values of inputs.
  bool MayBeUnknown(const ::onnx::NodeProto& node) const {
    if (!IsStandard(node) || OwnEntry(node, library_) != nullptr) return false;
    const int known = std::min(KnownOperands(node.op_type()), node.input_size());
    return std::any_of(node.input().begin(), node.input().begin() + known,
                       [&](const std::string& input) { return data_.count(input) > 0; });
  }

  // A description does not help where a type is not supported either. Looks at initializers alone:
  // the types of other tensors follow from nodes that may not be supported.
  void CheckType(const std::string& value) {
    const auto stored = stored_types_.find(value);
    if (stored == stored_types_.end() || !why_not_typed_.empty()) return;
    const absl::Status known = ElementTypeFromOnnx(stored->second).status();
    if (known.ok()) return;
    why_not_typed_ =
        absl::StrCat("No description helps where a node reads '", value, "': ", known.message());
  }

  // A part may end at a value that is computed from inputs, by nodes that can be translated.
  void EndAt(const std::string& value) {
    if (data_.count(value) == 0 || inputs_.count(value) > 0 || behind_.count(value) > 0) return;
    const bool listed = std::count(ends_.begin(), ends_.end(), value) > 0;
    if (!listed && ends_.size() < kMostTensors) ends_.push_back(value);
  }

  const ::onnx::GraphProto& graph_;
  const OperatorLibrary& library_;
  const int unknown_;  // the position of a node that is not supported as it is used; -1: none
  bool certain_ = false;
  std::map<std::string, std::string> weights_;   // by value: the weight that it is computed of
  std::string folded_weight_;                    // one that folding would make a constant
  std::map<std::string, int32_t> stored_types_;  // of initializers: numbers of element types
  std::string why_not_typed_;      // a sentence on the first of a type that is not supported, or ""
  std::set<int> refused_;          // positions of nodes
  std::set<std::string> inputs_;   // of the file
  std::set<std::string> data_;     // values that depend on those of inputs, not on shapes alone
  std::set<std::string> behind_;   // values that need a refused node
  std::vector<std::string> ends_;  // of the part that can be planned
  std::map<WhyUnsupported, std::set<std::string>> kinds_;
  // By operator: how many nodes are not supported, and how many of these read no data.
  std::map<std::string, int> nodes_, of_constants_;
};

}  // namespace

const OpDescription* OwnEntry(const ::onnx::NodeProto& node, const OperatorLibrary& library) {
  const OpDescription* own = library.Find(DescriptionNameOf(node));
  return own != nullptr ? own : library.Find(node.op_type());
}

std::string VersionOf(const ::onnx::NodeProto& node, const ::onnx::ModelProto& model,
                      int64_t opset) {
  if (IsStandard(node)) return absl::StrCat("opset ", opset);
  for (const ::onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (import.domain() == node.domain())
      return absl::StrCat("version ", import.version(), " of ", node.domain());
  }
  return absl::StrCat("the model names no version of ", node.domain());
}

absl::Status CheckSupported(const ::onnx::ModelProto& model, const FileGraph& order, int64_t opset,
                            const OperatorLibrary& library, const UnknownNode& unknown) {
  const Survey survey(model.graph(), order, library, unknown.position);
  if (!survey.certain()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const int n : survey.refused()) {
    if (lines.size() == kMostNodes) break;
    const ::onnx::NodeProto& node = model.graph().node(n);
    lines.push_back(absl::StrCat("  node ", NodeLabel(node, n), ": operator ", OperatorName(node),
                                 " (", VersionOf(node, model, opset), ")"));
    if (n == unknown.position) absl::StrAppend(&lines.back(), ": ", unknown.why.message());
  }
  const size_t nodes = survey.refused().size();
  if (nodes > lines.size())
    lines.push_back(absl::StrCat("  and ", nodes - lines.size(), " more nodes"));
  return UserError(nodes, nodes == 1 ? " node has" : " nodes have",
                   " an operator that is not supported:\n", absl::StrJoin(lines, "\n"), "\n",
                   absl::StrJoin(survey.Advice(), "\n"));
}

absl::Status CheckInside(const ::onnx::NodeProto& node, const OperatorLibrary& library) {
  if (IsSupported(node, library)) return absl::OkStatus();
  const std::string name = OperatorName(node);
  return UserError(
      "node '", node.name(), "' inside of it: operator ", name, " is not supported: ",
      AdviceOf(WhyUnsupportedIs(IsStandard(node) ? "" : node.domain(), node.op_type()), name));
}

}  // namespace yuba::onnx
