#include "compiler/train/choose.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/tables.h"
#include "compiler/train/trainable.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// Whether the stored tensor looks like a table of sines or powers, as far as that is known.
bool IsTable(const Tensor& tensor, const InitialValue& value) {
  const std::vector<int64_t> dims = WholeDims(tensor);
  const int64_t count = ElementsToSee(dims), bytes = count * ByteSize(tensor.type.type);
  if (count == 0) return false;
  std::string first;
  if (value.kind == InitialValue::kData) {
    first = value.data->substr(0, static_cast<size_t>(bytes));
  } else if (value.kind == InitialValue::kFile) {
    const absl::StatusOr<RangeReader> reader = RangeReader::Open(value.range);
    first.resize(static_cast<size_t>(bytes));
    if (!reader.ok() || !reader->Read(0, bytes, first.data()).ok()) return false;
  } else {
    return false;
  }
  return LooksLikeTable(dims, ValueFromBytes(tensor.type.type, {count}, first).elements);
}

}  // namespace

Chooser::Chooser(const Model& model, const TrainRecipe& recipe)
    : model_(model),
      options_(recipe.options),
      numbers_(recipe.numbers),
      freezes_(recipe.options.freeze.size(), false),
      trains_(recipe.options.trainable.size(), false) {}

absl::StatusOr<std::vector<TensorId>> Chooser::Choose() {
  std::vector<TensorId> chosen;
  for (size_t t = 0; t < model_.graph.tensors.size(); ++t) {
    const Tensor& tensor = model_.graph.tensors[t];
    const auto id = static_cast<TensorId>(t);
    if (tensor.kind != TensorKind::kParameter || !IsFloat(tensor.type.type)) continue;
    YUBA_RETURN_IF_ERROR(CheckJoined(tensor.name));
    const std::string reason = WhyNot(tensor, id);
    if (reason.empty()) {
      chosen.push_back(id);
    } else {
      left_out_.push_back(absl::StrCat(tensor.name, " (", reason, ")"));
    }
  }
  YUBA_RETURN_IF_ERROR(CheckPatterns());
  return chosen;
}

// Why the parameter is not trained; empty where it is.
std::string Chooser::WhyNot(const Tensor& tensor, TensorId id) {
  const bool trains = Matches(options_.trainable, tensor.name, trains_);
  const bool frozen = Matches(options_.freeze, tensor.name, freezes_);
  const std::string reason =
      trains && !IsStateOfModel(model_, id) ? "" : WhyNotTrainable(model_, id);
  if (reason.empty()) trainable_.insert(tensor.name);
  if (frozen) return "--freeze";
  const auto value = model_.values.find(id);
  const bool guessed = reason.empty() && !trains && model_.words.parameters.count(tensor.name) == 0;
  if (guessed && value != model_.values.end() && IsTable(tensor, value->second))
    tables_.push_back(tensor.name);
  return reason;
}

// Whether a pattern has the name, or one that the tensor has in the user's program or in the file;
// notes each that does in `used`.
bool Chooser::Matches(const std::vector<std::string>& patterns, const std::string& name,
                      std::vector<bool>& used) const {
  std::vector<std::string> names = {name};
  const auto form = model_.forms.find(name);
  if (form != model_.forms.end()) {
    names.insert(names.end(), form->second.parameters.begin(), form->second.parameters.end());
    names.push_back(form->second.stored_as);
  }
  for (const TiedWeights& tie : model_.ties) {
    if (tie.kept == name) names.push_back(tie.tied);
  }
  bool matches = false;
  for (size_t p = 0; p < patterns.size(); ++p) {
    for (const std::string& one : names) {
      if (fnmatch(patterns[p].c_str(), one.c_str(), 0) == 0) used[p] = matches = true;
    }
  }
  return matches;
}

// Of a tensor that is several parameters joined, all are frozen or none.
absl::Status Chooser::CheckJoined(const std::string& name) const {
  const auto form = model_.forms.find(name);
  if (form == model_.forms.end() || form->second.parameters.size() < 2) return absl::OkStatus();
  std::vector<std::string> frozen, others;
  for (const std::string& parameter : form->second.parameters) {
    const bool matches = std::any_of(options_.freeze.begin(), options_.freeze.end(),
                                     [&](const std::string& pattern) {
                                       return fnmatch(pattern.c_str(), parameter.c_str(), 0) == 0;
                                     });
    (matches ? frozen : others).push_back(parameter);
  }
  if (frozen.empty() || others.empty()) return absl::OkStatus();
  return UserError("--freeze: ", absl::StrJoin(frozen, ", "), " is stored joined with ",
                   absl::StrJoin(others, ", "), " as one tensor; freeze all of them or none");
}

void Chooser::LeaveOut(TensorId tensor) {
  left_out_.push_back(
      absl::StrCat(model_.graph.tensors[tensor].name, " (the loss does not depend on it)"));
}

absl::Status Chooser::CheckPatterns() const {
  for (size_t p = 0; p < freezes_.size(); ++p) {
    if (freezes_[p]) continue;
    return UserError("--freeze ", options_.freeze[p], ": no parameter has such a name");
  }
  for (size_t p = 0; p < trains_.size(); ++p) {
    if (trains_[p]) continue;
    return UserError("--trainable ", options_.trainable[p], ": no stored tensor of floats that a ",
                     "node reads has such a name; the value of a Constant node is never trained");
  }
  return absl::OkStatus();
}

// "a, b, c"; of many, unless all are asked for, the first and how many more there are.
std::string Chooser::List(std::vector<std::string> names) const {
  constexpr size_t kMost = 8;
  const size_t more = !options_.list_all && names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::vector<std::string> Chooser::Notes(const std::vector<TensorId>& trained) const {
  std::vector<std::string> names, notes;
  int64_t elements = 0;
  for (const TensorId tensor : trained) {
    names.push_back(model_.graph.tensors[tensor].name);
    elements += ElementCount(model_.graph.tensors[tensor].type);
  }
  notes.push_back(absl::StrCat("trained: ", names.size(), " tensors of ", elements,
                               " elements: ", List(names)));
  if (!left_out_.empty()) notes.push_back(absl::StrCat("not trained: ", List(left_out_)));
  if (!tables_.empty()) {
    notes.push_back(absl::StrCat("trained, though they look like tables of sines or powers: ",
                                 List(tables_), " (--freeze NAME keeps one)"));
  }
  if (!numbers_.empty()) {
    notes.push_back(
        absl::StrCat("not trained, as numbers that nothing calls a weight, bias, slope ",
                     "or scale: ", List(numbers_), " (--trainable NAME trains one)"));
  }
  return notes;
}

}  // namespace yuba::compiler
