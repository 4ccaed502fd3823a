#include "compiler/import/parameters/folded.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "compiler/import/parameters/aten_calls.h"

namespace yuba::onnx {
namespace {

using Names = std::vector<std::string>;

bool Has(const Names& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// PyTorch's names of those parameters that the value is folded from.
Names ParametersIn(const Names& folded_from, const std::map<std::string, std::string>& parameters) {
  Names found;
  for (const auto& [called, name] : parameters) {
    if (Has(folded_from, name)) found.push_back(name);
  }
  return found;
}

// By the call that a row is of: its parameters are the argument's, in the argument's order.
absl::optional<StoredForm> ByCall(const FoldedValue& value, const AtenOperand& row,
                                  const std::map<std::string, std::string>& parameters) {
  StoredForm form;
  form.kind = *row.form;
  form.blocks = row.blocks;
  form.stored_as = value.tensor->name();
  if (row.argument >= static_cast<int>(value.call->arguments.size())) return absl::nullopt;
  const bool said = !value.folded_from.empty();
  for (const std::string& called : value.call->arguments[row.argument]) {
    const auto found = parameters.find(called);
    if (found == parameters.end() || (said && !Has(value.folded_from, found->second))) continue;
    form.parameters.push_back(found->second);
  }
  const bool several = row.form == StoredForm::kBlocks;
  if (form.parameters.empty() || (!several && form.parameters.size() > 1)) return absl::nullopt;
  // A list has the parameters of all layers: only what the value is folded from tells which.
  if (several && !said) return absl::nullopt;
  const Names all = ParametersIn(value.folded_from, parameters);
  if (said && all.size() != form.parameters.size()) return absl::nullopt;
  return form;
}

// By its name and those of what it is folded from: results of calls that only put elements in
// another order or shape, of one parameter.
absl::optional<StoredForm> ByName(const FoldedValue& value,
                                  const std::map<std::string, std::string>& parameters,
                                  const Names& inputs) {
  static const std::set<absl::string_view>* const kShapes = new std::set<absl::string_view>{
      "view",  "reshape",   "_unsafe_view", "unsqueeze", "squeeze", "flatten",
      "alias", "unflatten", "contiguous",   "clone",     "view_as", "reshape_as"};
  static const std::set<absl::string_view>* const kOrders = new std::set<absl::string_view>{
      "t", "transpose", "permute", "numpy_t", "movedim", "swapaxes"};
  const Names of = ParametersIn(value.folded_from, parameters);
  if (of.size() != 1) return absl::nullopt;
  int shapes = 0, orders = 0;
  Names names = value.folded_from;
  names.push_back(value.tensor->name());
  for (const std::string& name : names) {
    const absl::string_view call = CallNamed(name);
    if (name == of[0] || Has(inputs, name)) continue;
    const bool inner = call == "val" && name != value.tensor->name();  // inside of a call
    if (inner) continue;
    if (kShapes->count(call) == 0 && kOrders->count(call) == 0) return absl::nullopt;
    shapes += static_cast<int>(kShapes->count(call));
    orders += static_cast<int>(kOrders->count(call));
  }
  StoredForm form;
  form.parameters = of;
  form.stored_as = value.tensor->name();
  const int rank = value.tensor->dims_size();
  form.kind = orders == 0 || rank < 2                   ? StoredForm::kReshaped
              : orders == 1 && shapes == 0 && rank == 2 ? StoredForm::kTransposed
                                                        : StoredForm::kUnknown;
  return form;
}

}  // namespace

absl::string_view CallNamed(absl::string_view result) {
  const size_t line = result.rfind('_');
  const bool numbered = line != absl::string_view::npos && line + 1 < result.size() &&
                        std::all_of(result.begin() + static_cast<int64_t>(line) + 1, result.end(),
                                    [](unsigned char c) { return absl::ascii_isdigit(c); });
  return numbered ? result.substr(0, line) : result;
}

bool MakesConstant(absl::string_view result) {
  static const std::set<absl::string_view>* const kCalls = new std::set<absl::string_view>{
      "arange",    "empty",         "empty_like", "eye",       "full",      "full_like",
      "linspace",  "new_empty",     "new_full",   "new_ones",  "new_zeros", "ones",
      "ones_like", "scalar_tensor", "zeros",      "zeros_like"};
  return kCalls->count(CallNamed(result)) > 0;
}

absl::optional<StoredForm> FormOf(const FoldedValue& value,
                                  const std::map<std::string, std::string>& parameters,
                                  const std::vector<std::string>& inputs) {
  const AtenOperand* row = value.call.has_value()
                               ? FormedOperand(*value.call, value.reader->op_type(), value.operand)
                               : nullptr;
  if (row != nullptr) {
    auto form = ByCall(value, *row, parameters);
    if (form.has_value()) return form;
  }
  return ByName(value, parameters, inputs);
}

std::string ParameterOfOperand(const CallRecord& call, const std::string& op_type, int operand,
                               const std::map<std::string, std::string>& parameters) {
  const AtenOperand* row = FormedOperand(call, op_type, operand);
  if (row == nullptr || row->form == StoredForm::kBlocks) return "";
  if (row->argument >= static_cast<int>(call.arguments.size())) return "";
  const Names& names = call.arguments[row->argument];
  const auto found = names.size() == 1 ? parameters.find(names[0]) : parameters.end();
  return found == parameters.end() ? "" : found->second;
}

}  // namespace yuba::onnx
