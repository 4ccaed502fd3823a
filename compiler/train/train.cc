#include "compiler/train/train.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/gradients.h"
#include "compiler/train/precision.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// "a, b, c", of many the first and how many more there are.
std::string FirstOf(std::vector<std::string> names) {
  constexpr size_t kMost = 8;
  const size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

// Exporters write -10^9, -10^4 or the like for -inf.
constexpr double kLowest = -1000;

// Masks are at most this large: more elements are not looked at.
constexpr int64_t kLargestMask = int64_t{1} << 22;

// What is known of elements of a tensor that may be a mask.
struct MaskCheck {
  bool possible = true, lowest = false;

  void Look(const TensorValue& elements) {
    for (const Scalar& element : elements.elements) {
      possible &= element.number == 0 || element.number <= kLowest;
      lowest |= element.number <= kLowest;
    }
  }
};

// Looks at a tensor in a file, as far as it may be a mask.
void LookAtFile(const FileRange& range, ElementType type, MaskCheck& check) {
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(range);
  constexpr int64_t kPiece = 1 << 16;  // bytes; a multiple of every element's size
  check.possible = reader.ok();        // who needs the values says what is wrong with the file
  std::string piece;
  for (int64_t at = 0; check.possible && at < reader->length(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, reader->length() - at)));
    const auto count = static_cast<int64_t>(piece.size());
    if (!reader->Read(at, count, piece.data()).ok()) check.possible = false;
    if (check.possible) check.Look(ValueFromBytes(type, {count / ByteSize(type)}, piece));
  }
}

// Whether all elements are 0 or stand for -inf, which some do.
bool IsMask(const Tensor& tensor, const InitialValue& value) {
  if (ElementCount(tensor.type) > kLargestMask) return false;
  MaskCheck check;
  if (value.kind == InitialValue::kFile) {
    LookAtFile(value.range, tensor.type.type, check);
  } else if (value.data != nullptr) {
    const std::vector<int64_t> one;
    check.Look(ValueFromBytes(
        tensor.type.type, value.kind == InitialValue::kFill ? one : tensor.type.dims, *value.data));
  }
  return check.possible && check.lowest;
}

// Whether all elements are 0 because a node of the file fills it, as a recurrence's first state.
bool IsZeroFill(const Tensor& tensor, const InitialValue& value) {
  return value.kind == InitialValue::kFill &&
         ValueFromBytes(tensor.type.type, {}, *value.data).elements[0].number == 0;
}

class Chooser {
 public:
  Chooser(const Model& model, const TrainRecipe& recipe)
      : model_(model),
        kept_(recipe.kept),
        freeze_(recipe.freeze),
        used_(recipe.freeze.size(), false) {}

  std::vector<TensorId> Choose() {
    std::vector<TensorId> chosen;
    for (size_t t = 0; t < model_.graph.tensors.size(); ++t) {
      const Tensor& tensor = model_.graph.tensors[t];
      const auto id = static_cast<TensorId>(t);
      if (tensor.kind != TensorKind::kParameter || !IsFloat(tensor.type.type)) continue;
      const std::string reason = WhyNot(tensor, id);
      if (reason.empty()) {
        chosen.push_back(id);
      } else {
        left_out_.push_back(absl::StrCat(tensor.name, " (", reason, ")"));
      }
    }
    return chosen;
  }

  void LeaveOut(TensorId tensor) {
    left_out_.push_back(
        absl::StrCat(model_.graph.tensors[tensor].name, " (the loss does not depend on it)"));
  }

  absl::Status CheckPatterns() const {
    for (size_t p = 0; p < freeze_.size(); ++p) {
      if (!used_[p]) return UserError("--freeze ", freeze_[p], ": no parameter has such a name");
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  // Why the parameter is not trained; empty where it is.
  std::string WhyNot(const Tensor& tensor, TensorId id) {
    if (IsFrozen(tensor.name)) return "--freeze";
    const auto kept = kept_.find(tensor.name);
    if (kept != kept_.end()) return kept->second;
    const auto value = model_.values.find(id);
    if (value == model_.values.end()) return "";
    if (IsMask(tensor, value->second)) return "a mask of 0 and -inf";
    return IsZeroFill(tensor, value->second) ? "a fill of 0" : "";
  }

  bool IsFrozen(const std::string& name) {
    bool frozen = false;
    for (size_t p = 0; p < freeze_.size(); ++p) {
      if (fnmatch(freeze_[p].c_str(), name.c_str(), 0) != 0) continue;
      used_[p] = frozen = true;
    }
    return frozen;
  }

  const Model& model_;
  const std::map<std::string, std::string>& kept_;
  const std::vector<std::string>& freeze_;
  std::vector<bool> used_;
  std::vector<std::string> left_out_;
};

TensorId TensorNamed(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  YUBA_CHECK(found != graph.tensors.end()) << name;
  return static_cast<TensorId>(found - graph.tensors.begin());
}

}  // namespace

absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model,
                                                           const TrainRecipe& recipe) {
  Chooser chooser(model, recipe);
  std::vector<TensorId> candidates = chooser.Choose();
  YUBA_RETURN_IF_ERROR(chooser.CheckPatterns());
  if (recipe.precision.has_value()) ComputeProductsIn(*recipe.precision, model);
  // Of a part of a batch the gradients of the total are added up, and divided in the end.
  const bool total = recipe.micro_batches.has_value() && !recipe.total.empty();
  const TensorId minimized = TensorNamed(model.graph, total ? recipe.total : recipe.loss);
  TensorId weight = recipe.weight.empty() ? -1 : TensorNamed(model.graph, recipe.weight);
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorId> found,
                        AddGradients(model, minimized, candidates));
  std::vector<TensorId> trained, gradients;
  std::vector<std::string> names;
  int64_t elements = 0;
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (found[c] < 0) {
      chooser.LeaveOut(candidates[c]);
      continue;
    }
    trained.push_back(candidates[c]);
    gradients.push_back(found[c]);
    names.push_back(model.graph.tensors[candidates[c]].name);
    elements += ElementCount(model.graph.tensors[candidates[c]].type);
  }
  if (trained.empty()) {
    return UserError(
        "nothing can be trained: the loss depends on no parameter of floats",
        chooser.left_out().empty()
            ? ""
            : absl::StrCat("; not trained: ", absl::StrJoin(chooser.left_out(), ", ")));
  }
  model.notes.push_back(absl::StrCat("trained: ", names.size(), " tensors of ", elements,
                                     " elements: ", FirstOf(names)));
  if (!chooser.left_out().empty())
    model.notes.push_back(absl::StrCat("not trained: ", FirstOf(chooser.left_out())));
  std::vector<UpdatedState> updated;
  if (recipe.micro_batches.has_value()) {
    YUBA_ASSIGN_OR_RETURN(
        updated, AddUpMicroBatches(model, *recipe.micro_batches, trained, gradients, weight));
  }
  if (recipe.clipping.has_value()) {
    YUBA_ASSIGN_OR_RETURN(gradients, ClipGradients(model, *recipe.clipping, gradients));
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<UpdatedState> of_step,
                        AddUpdates(model, recipe.optimizer, trained, gradients, weight));
  updated.insert(updated.end(), of_step.begin(), of_step.end());
  return updated;
}

}  // namespace yuba::compiler
