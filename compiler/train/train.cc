#include "compiler/train/train.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/gradients.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// Exporters write -10^9, -10^4 or the like for -inf.
constexpr double kLowest = -1000;

// Masks are at most this large: more elements are not looked at.
constexpr int64_t kLargestMask = int64_t{1} << 22;

// Whether all elements are 0 or stand for -inf, which some do.
bool IsMask(const Model& model, TensorId id) {
  const Tensor& tensor = model.graph.tensors[id];
  const auto value = model.values.find(id);
  if (value == model.values.end() || value->second.kind != InitialValue::kData) return false;
  if (ElementCount(tensor.type) > kLargestMask) return false;
  const TensorValue elements =
      ValueFromBytes(tensor.type.type, tensor.type.dims, *value->second.data);
  bool lowest = false;
  for (const Scalar& element : elements.elements) {
    if (element.number != 0 && !(element.number <= kLowest)) return false;
    lowest |= element.number != 0;
  }
  return lowest;
}

class Chooser {
 public:
  Chooser(const Model& model, const TrainRecipe& recipe)
      : model_(model),
        statistics_(recipe.statistics),
        freeze_(recipe.freeze),
        used_(recipe.freeze.size(), false) {}

  std::vector<TensorId> Choose() {
    std::vector<TensorId> chosen;
    for (size_t t = 0; t < model_.graph.tensors.size(); ++t) {
      const Tensor& tensor = model_.graph.tensors[t];
      const auto id = static_cast<TensorId>(t);
      if (tensor.kind != TensorKind::kParameter || !IsFloat(tensor.type.type)) continue;
      if (IsFrozen(tensor.name)) {
        left_out_.push_back(absl::StrCat(tensor.name, " (--freeze)"));
      } else if (statistics_.count(tensor.name) > 0) {
        left_out_.push_back(absl::StrCat(tensor.name, " (running statistics)"));
      } else if (IsMask(model_, id)) {
        left_out_.push_back(absl::StrCat(tensor.name, " (a mask of 0 and -inf)"));
      } else if (!IsCarried(tensor)) {
        chosen.push_back(id);
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
  bool IsFrozen(const std::string& name) {
    bool frozen = false;
    for (size_t p = 0; p < freeze_.size(); ++p) {
      if (fnmatch(freeze_[p].c_str(), name.c_str(), 0) != 0) continue;
      used_[p] = frozen = true;
    }
    return frozen;
  }

  const Model& model_;
  const std::set<std::string>& statistics_;
  const std::vector<std::string>& freeze_;
  std::vector<bool> used_;
  std::vector<std::string> left_out_;
};

TensorId OutputNamed(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.outputs.begin(), graph.outputs.end(),
                                  [&](TensorId id) { return graph.tensors[id].name == name; });
  YUBA_CHECK(found != graph.outputs.end()) << name;
  return *found;
}

}  // namespace

absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model,
                                                           const TrainRecipe& recipe) {
  Chooser chooser(model, recipe);
  std::vector<TensorId> candidates = chooser.Choose();
  YUBA_RETURN_IF_ERROR(chooser.CheckPatterns());
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorId> found,
                        AddGradients(model, OutputNamed(model.graph, recipe.loss), candidates));
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
                                     " elements: ", absl::StrJoin(names, ", ")));
  if (!chooser.left_out().empty())
    model.notes.push_back(absl::StrCat("not trained: ", absl::StrJoin(chooser.left_out(), ", ")));
  return AddUpdates(model, recipe.optimizer, trained, gradients);
}

}  // namespace yuba::compiler
