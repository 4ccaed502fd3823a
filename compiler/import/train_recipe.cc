#include "compiler/import/train_recipe.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr char kLearningRate[] = "lr";

// Whether the description judges an output by labels: one scalar, or a total and its weight.
bool Judges(const OpDescription& op) {
  const auto plain = [](const Param& param) { return param.role == Param::kPlain; };
  const auto scalar = [](const Output& output) {
    return output.dims.empty() && output.name.back() != '\'';
  };
  return op.params.size() == 2 && std::all_of(op.params.begin(), op.params.end(), plain) &&
         !op.outputs.empty() && op.outputs.size() <= 2 &&
         std::all_of(op.outputs.begin(), op.outputs.end(), scalar);
}

// Whether it has a gradient too.
bool IsLoss(const OpDescription& op) {
  return Judges(op) && std::none_of(op.items.begin(), op.items.end(), [&](const Item& item) {
           return item.nograd && item.name == op.outputs[0].name;
         });
}

// Whether the description updates what is trained, at a learning rate.
bool IsOptimizer(const OpDescription& op) {
  return compiler::CheckOptimizer(op).ok() &&
         std::any_of(op.params.begin(), op.params.end(),
                     [](const Param& param) { return param.name == kLearningRate; });
}

// The description of that name, with - for _. Of unknown names the error lists those that are
// `like` what is meant.
absl::StatusOr<const OpDescription*> Find(const char* flag, const std::string& name,
                                          const OperatorLibrary& library,
                                          bool (*like)(const OpDescription&)) {
  const OpDescription* found = library.Find(absl::StrReplaceAll(name, {{"-", "_"}}));
  if (found != nullptr) return found;
  std::vector<std::string> known;
  for (const std::string& other : library.Names()) {
    if (like(*library.Find(other))) known.push_back(absl::StrReplaceAll(other, {{"_", "-"}}));
  }
  return UserError(flag, " ", name, ": there is no description of that name; there are ",
                   absl::StrJoin(known, ", "), ", and --operators adds others");
}

// The attributes that the text NAME=NUMBER,... gives.
absl::StatusOr<Attributes> AttributesOf(const OpDescription& op, const std::string& text) {
  Attributes attributes;
  std::vector<std::string> names;
  for (const Attribute& attribute : op.attributes) names.push_back(attribute.name);
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::vector<std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    double number = 0;
    if (pair.size() != 2 || !absl::SimpleAtod(pair[1], &number) || !std::isfinite(number)) {
      return UserError("'", part, "' is no NAME=NUMBER");
    }
    if (std::count(names.begin(), names.end(), pair[0]) == 0) {
      return UserError(op.name, " has no attribute ", pair[0], "; it has ",
                       names.empty() ? "none" : absl::StrJoin(names, ", "));
    }
    if (!attributes.emplace(pair[0], number).second)
      return UserError("the attribute ", pair[0], " is given twice");
  }
  return attributes;
}

// What the text NAME or NAME:ATTRIBUTE=NUMBER,... of a flag says.
absl::StatusOr<Named> FindNamed(const char* flag, const std::string& text,
                                const OperatorLibrary& library,
                                bool (*like)(const OpDescription&)) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  Named named;
  YUBA_ASSIGN_OR_RETURN(named.op, Find(flag, parts[0], library, like));
  if (parts.size() == 1) return named;
  absl::StatusOr<Attributes> attributes = AttributesOf(*named.op, parts[1]);
  if (!attributes.ok()) return Annotate(attributes.status(), absl::StrCat(flag, " ", text));
  named.attributes = *std::move(attributes);
  return named;
}

}  // namespace

absl::StatusOr<Named> FindLoss(const std::string& text, const OperatorLibrary& library) {
  YUBA_ASSIGN_OR_RETURN(Named loss, FindNamed("--loss", text, library, IsLoss));
  if (IsLoss(*loss.op)) return loss;
  return UserError(
      "--loss ", text, ": ", loss.op->name,
      " is no loss: it needs two operands, an output of the model and labels, and one ",
      "output without dimensions, with a gradient, or two, of which the second is the weight");
}

absl::StatusOr<const OpDescription*> FindMetric(const std::string& name,
                                                const OperatorLibrary& library) {
  YUBA_ASSIGN_OR_RETURN(const OpDescription* metric, Find("--metrics", name, library, Judges));
  if (Judges(*metric)) return metric;
  return UserError("--metrics ", name, ": ", metric->name, " measures nothing: it needs two ",
                   "operands, an output of the model and labels, and one output without ",
                   "dimensions, or two, of which the second is the weight");
}

absl::StatusOr<compiler::TrainRecipe> RecipeOf(const TrainOptions& options,
                                               const OperatorLibrary& library) {
  YUBA_ASSIGN_OR_RETURN(const Named optimizer,
                        FindNamed("--train", options.optimizer, library, IsOptimizer));
  YUBA_RETURN_IF_ERROR(Annotate(compiler::CheckOptimizer(*optimizer.op),
                                absl::StrCat("--train ", options.optimizer)));
  if (options.minimize.empty()) YUBA_RETURN_IF_ERROR(FindLoss(options.loss, library).status());
  compiler::TrainRecipe recipe{options, library};
  recipe.optimizer = {*optimizer.op, optimizer.attributes, {{kLearningRate, options.lr}}};
  return recipe;
}

}  // namespace yuba::onnx
