// Which dimension is the batch where nobody says it: the part of batch.h that looks at nodes and
// stored values.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/batch.h"
#include "compiler/import/loss.h"
#include "compiler/import/stored_batch.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {

// Dimensions of inputs that the labels have too, or, where there are none, some output, or, where
// the model has its loss inside, another input; each once.
std::vector<BatchFinder::Dim> BatchFinder::Candidates(int entry) const {
  std::vector<int> targets, inputs;
  for (const int input : InputsOf(entry)) {
    const bool labels = options_.train.has_value() && graph_.values[input].name == kLabels;
    (labels ? targets : inputs).push_back(input);
  }
  const bool minimizes = options_.train.has_value() && !options_.train->minimize.empty();
  if (targets.empty() && !minimizes) {
    for (const int output : graph_.outputs) {
      if (graph_.values[output].entry == entry) targets.push_back(output);
    }
  }
  if (minimizes) {
    targets.insert(targets.end(), inputs.begin(), inputs.end());
    inputs = targets;
  }
  std::vector<std::pair<int, std::vector<int>>> shared;  // a target, the flows of a dimension
  for (const int target : targets) {
    for (size_t d = 0; d < graph_.values[target].dims.size(); ++d)
      shared.emplace_back(target, FlowsOf({target, static_cast<int>(d)}));
  }
  const auto in_target = [&](int input, const std::vector<int>& flows) {
    return std::any_of(shared.begin(), shared.end(), [&](const auto& target) {
      return target.first != input && std::all_of(flows.begin(), flows.end(), [&](int flow) {
               return std::count(target.second.begin(), target.second.end(), flow) > 0;
             });
    });
  };
  std::vector<Dim> candidates;
  std::set<std::vector<int>> seen;
  for (const int input : inputs) {
    for (size_t d = 0; d < graph_.values[input].dims.size(); ++d) {
      const Dim dim = {input, static_cast<int>(d)};
      const std::vector<int> flows = FlowsOf(dim);
      if (!flows.empty() && in_target(input, flows) && seen.insert(flows).second)
        candidates.push_back(dim);
    }
  }
  return candidates;
}

// Why the dimension cannot be the batch, where nobody says that it is; empty where it can.
std::string BatchFinder::WhyNot(Dim dim) const {
  const std::vector<int> flows = FlowsOf(dim);
  for (const int flow : flows) {
    const AlongDim& along = flows_->First(flow);
    if (along.node >= 0) return absl::StrCat(LabelOf(along.node), " ", along.does, " ", Text(dim));
  }
  const std::set<int> along(flows.begin(), flows.end());
  for (size_t v = 0; v < graph_.values.size(); ++v) {
    const std::string why = WhyStored(static_cast<int>(v), along);
    if (!why.empty())
      return absl::StrCat(Text(dim), " is one of '", graph_.values[v].name, "', ", why);
  }
  return "";
}

bool BatchFinder::IsOpen(Dim dim) const {
  return open_.count({graph_.values[dim.first].name, dim.second}) > 0;
}

bool BatchFinder::IsOpen(const Batch& batch) const {
  return std::all_of(batch.dims.begin(), batch.dims.end(), [&](Dim dim) { return IsOpen(dim); });
}

void BatchFinder::Infer(int entry, Batch& batch) const {
  const std::vector<Dim> candidates = Candidates(entry);
  std::vector<Dim> fit;
  std::vector<std::string> reasons, names;
  for (const Dim& candidate : candidates) {
    const std::string why = WhyNot(candidate);
    if (why.empty()) fit.push_back(candidate);
    if (!why.empty()) reasons.push_back(why);
  }
  const bool open =
      fit.size() > 1 && std::any_of(fit.begin(), fit.end(), [&](Dim dim) { return IsOpen(dim); });
  if (open) {
    fit.erase(std::remove_if(fit.begin(), fit.end(), [&](Dim dim) { return !IsOpen(dim); }),
              fit.end());
  }
  for (const Dim& dim : fit) names.push_back(Text(dim));
  constexpr size_t kReasons = 4;
  for (const int input : candidates.empty() ? InputsOf(entry) : std::vector<int>()) {
    for (size_t d = 0; d < graph_.values[input].dims.size() && reasons.size() < kReasons; ++d) {
      const std::string why = WhyNot({input, static_cast<int>(d)});
      if (!why.empty()) reasons.push_back(why);
    }
  }
  const char* const ends = options_.train.has_value() ? "labels" : "outputs";
  batch.known_by =
      absl::StrCat("the one dimension ", open ? "without a length of its own " : "",
                   "that inputs and ", ends, " share and along which no node mixes anything");
  if (fit.size() > 1) {
    batch.sure = UserError("the batch may be ", absl::StrJoin(names, " or "), kSayWhich);
  } else if (fit.empty() && candidates.empty()) {
    batch.sure = UserError("inputs and ", ends, " share no dimension that could be the batch",
                           reasons.empty() ? "" : ": ", absl::StrJoin(reasons, "; "), kSayWhich);
  } else if (fit.empty()) {
    batch.sure = UserError("no dimension is the batch beyond doubt: ", absl::StrJoin(reasons, "; "),
                           kSayWhich);
  }
  const std::vector<Dim>& left = fit.empty() ? candidates : fit;
  const auto first =
      std::find_if(left.begin(), left.end(), [](Dim dim) { return dim.second == 0; });
  if (!left.empty()) batch.dims = {first == left.end() ? left[0] : *first};
}

// Which flat dimensions of a stored value are among these; none of one that is not stored.
std::vector<bool> BatchFinder::HasAlong(int value, const std::set<int>& along) const {
  const OnnxValue& stored = graph_.values[value];
  const TensorId tensor = tensor_of_[value];
  std::vector<bool> has;
  if (tensor < 0 || !HasInitialValue(stored.kind) || stored.kind == TensorKind::kState) return has;
  const auto rank = static_cast<int>(model_.graph.tensors[tensor].type.dims.size());
  for (int f = 0; f < rank; ++f) has.push_back(along.count(flows_->Of(tensor, f)) > 0);
  return has;
}

// Why a stored value cannot be of another number of examples where the batch is `along`; empty
// where it can, or has no batch.
std::string BatchFinder::WhyStored(int value, const std::set<int>& along) const {
  const std::vector<bool> has = HasAlong(value, along);
  if (std::count(has.begin(), has.end(), true) == 0) return "";
  const OnnxValue& stored = graph_.values[value];
  const StoredKind kind =
      KindAlong(stored.initial, model_.graph.tensors[tensor_of_[value]].type, has);
  if (kind == StoredKind::kOther) return "which is not the same for all examples";
  using Word = StoredRole::Word;
  const Word word = stored.role.word;
  const bool trained = stored.kind == TensorKind::kParameter && options_.train.has_value() &&
                       word != Word::kBuffer && word != Word::kOther;
  if (trained && (kind != StoredKind::kZeros || word == Word::kParameter))
    return "a parameter with a value for each example";
  return "";
}

}  // namespace yuba::onnx
