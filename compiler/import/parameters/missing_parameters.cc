#include "compiler/import/parameters/missing_parameters.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "compiler/import/parameters/float_tensor.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/named_operands.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

using Word = StoredRole::Word;
using Names = std::vector<std::string>;

bool Has(const Names& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) > 0;
}

class MissingFinder {
 public:
  MissingFinder(const ::onnx::GraphProto& graph, const ExportRecord& record, const FileGraph& order,
                const NodeRecords& nodes, StoredRoles& roles)
      : graph_(graph),
        record_(record),
        order_(order),
        nodes_(nodes),
        program_(graph, record),
        roles_(roles) {}

  void Find() {
    for (const auto& [name, role] : roles_.of) {
      if (role.word != Word::kParameter) continue;
      stored_.insert(name);
      if (role.form.has_value())
        stored_.insert(role.form->parameters.begin(), role.form->parameters.end());
    }
    for (const auto& [n, node] : nodes_) {
      if (node.call.has_value()) LookAtCall(n, *node.call);
    }
    for (const auto& [name, role] : roles_.of) LookAtValue(name, role);
    LookAtOutputs();
    FindUnused();
    roles_.missing.merge(missing_);
  }

 private:
  // What no node names is unused or tied to others, unless results are gone that it may have been
  // part of. As many as are named by several calls may be tied to these.
  void FindUnused() {
    std::vector<std::pair<std::string, std::string>> others;
    for (const auto& [called, name] : record_.parameters) {
      if (stored_.count(name) + missing_.count(name) + order_.initializers.count(name) == 0)
        others.emplace_back(called, name);
    }
    if (others.empty()) return;
    const std::map<std::string, std::set<std::string>> named = AllNamed();
    Names unused;
    for (const auto& [called, name] : others) {
      if (named.count(called) == 0) unused.push_back(name);
    }
    const auto several = std::count_if(record_.parameters.begin(), record_.parameters.end(),
                                       [&](const auto& parameter) {
                                         const auto calls = named.find(parameter.first);
                                         return calls != named.end() && calls->second.size() > 1;
                                       });
    const bool tied = static_cast<int64_t>(unused.size()) <= several;
    if (lost_.empty() || tied) return void(roles_.unused = std::move(unused));
    for (const std::string& name : unused)
      Miss(name, absl::StrCat("no node names it, and ", lost_[0]));
  }

  void Miss(const std::string& name, const std::string& why) {
    std::string& known = missing_[name];
    if (known.empty()) known = why;
  }

  void LookAtCall(int n, const CallRecord& call) {
    const ::onnx::NodeProto& node = graph_.node(n);
    Names lacking, buffers;
    for (const std::string& called : call.values) {
      const auto parameter = record_.parameters.find(called);
      if (parameter != record_.parameters.end() && stored_.count(parameter->second) == 0)
        lacking.push_back(parameter->second);
      const auto buffer = record_.buffers.find(called);
      if (buffer != record_.buffers.end() && order_.initializers.count(buffer->second) == 0)
        buffers.push_back(buffer->second);
    }
    const NamedOperands operands = program_.Of(n);
    Names instead;
    for (const int i : operands.stand_ins) instead.push_back(node.input(i));
    const bool clear = instead.size() == lacking.size() && buffers.empty();
    for (size_t i = 0; i < lacking.size(); ++i) {
      Miss(lacking[i], clear ? absl::StrCat("stored once, as ", instead[i]) : "");
      if (clear) roles_.merged[lacking[i]] = instead[i];
    }
    // A buffer that became one with a parameter would be trained.
    if (lacking.empty() && !instead.empty()) {
      for (const std::string& buffer : buffers)
        Miss(buffer, absl::StrCat("a buffer, stored once with ", absl::StrJoin(instead, " or ")));
    }
    LookAtOthers(node, operands);
    if (call.arguments.size() > 5 && call.texts[5] == "True" &&
        absl::StrContains(call.target, "batch_norm") && IsInference(node)) {
      Miss(absl::StrCat("training mode of ", ModuleOf(call, node)),
           "the file has that batch norm with its running statistics; where it was to use them in "
           "training too, --allow-missing-parameters trains it so");
    }
  }

  // What PyTorch calls the module whose call the node is, "b1" where it reads b1.weight.
  std::string ModuleOf(const CallRecord& call, const ::onnx::NodeProto& node) const {
    for (const std::string& called : call.values) {
      for (const auto* names : {&record_.parameters, &record_.buffers}) {
        const auto found = names->find(called);
        if (found == names->end() || !absl::StrContains(found->second, '.')) continue;
        return found->second.substr(0, found->second.rfind('.'));
      }
    }
    return node.output(0);
  }

  // Whether the call that is gone may have been x * 1 or x + 0.
  static bool MayBeNeutral(const std::string& called) {
    static const std::set<absl::string_view>* const kNeutral =
        new std::set<absl::string_view>{"add", "sub", "mul", "div"};
    return kNeutral->count(CallNamed(called)) > 0;
  }

  void LookAtOutputs() {
    for (int o = 0; o < graph_.output_size(); ++o) {
      const int maker = program_.MakerOf(graph_.output(o).name());
      if (maker < 0 || !program_.call(maker).has_value()) continue;
      if (o >= static_cast<int>(record_.outputs.size())) return;
      const std::string& called = record_.outputs[o];
      if (program_.call(maker)->result != called && MayBeNeutral(called))
        lost_.push_back(absl::StrCat(called, " is not there"));
    }
  }

  // Results that stand for others: of a call of the same kind, which had equal operands when the
  // file was written, or of what is left of x * 1 and x + 0.
  void LookAtOthers(const ::onnx::NodeProto& node, const NamedOperands& operands) {
    for (const int i : operands.others) {
      const std::string& value = node.input(i);
      const int maker = program_.MakerOf(value);
      for (const std::string& called : operands.absent) {
        const bool same = CallNamed(called) == CallNamed(value);
        if (same) LookAtNumbers(called, value);
        if (same && maker >= 0 && ReadsParameter(maker))
          lost_.push_back(absl::StrCat(called, " and ", value, " are one"));
        if (!same && MayBeNeutral(called)) lost_.push_back(absl::StrCat(called, " is not there"));
      }
    }
  }

  // Two results that were equal when the file was written are computed once. A parameter of one
  // element may have been a number in the other.
  void LookAtNumbers(const std::string& called, const std::string& value) {
    for (const std::string& parameter : ParametersOf(value)) {
      const auto stored = order_.initializers.find(parameter);
      if (stored == order_.initializers.end()) continue;
      const auto& dims = stored->second->dims();
      if (!std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; })) continue;
      Miss(called, absl::StrCat("computed once with ", value, ", in which an equal number may be ",
                                parameter));
    }
  }

  // PyTorch's names of the parameters that the value was computed of.
  std::set<std::string> ParametersOf(const std::string& value) const {
    std::set<std::string> parameters, seen;
    Names next = {value};
    while (!next.empty()) {
      const std::string at = next.back();
      next.pop_back();
      const int maker = program_.MakerOf(at);
      if (maker < 0 || !seen.insert(at).second) continue;
      const auto& operands = graph_.node(maker).input();
      next.insert(next.end(), operands.begin(), operands.end());
      if (!program_.call(maker).has_value()) continue;
      for (const std::string& called : program_.call(maker)->values) {
        const auto parameter = record_.parameters.find(called);
        if (parameter != record_.parameters.end()) parameters.insert(parameter->second);
      }
    }
    return parameters;
  }

  bool ReadsParameter(int n) const {
    if (!program_.call(n).has_value()) return false;
    const Names& values = program_.call(n)->values;
    return std::any_of(values.begin(), values.end(), [&](const std::string& called) {
      return record_.parameters.count(called) > 0;
    });
  }

  // Whether the batch norm of the node uses running statistics; others are folded, and lack their
  // parameters.
  static bool IsInference(const ::onnx::NodeProto& node) {
    if (node.op_type() != "BatchNormalization") return false;
    return std::none_of(node.attribute().begin(), node.attribute().end(),
                        [](const ::onnx::AttributeProto& attribute) {
                          return attribute.name() == "training_mode" && attribute.i() != 0;
                        });
  }

  // What became part of a value that is no parameter: a product, or something else under the
  // parameter's own name.
  void LookAtValue(const std::string& name, const StoredRole& role) {
    if (role.word != Word::kOther) return;
    const auto value = record_.values.find(name);
    for (const auto& [called, parameter] : record_.parameters) {
      const bool stored = stored_.count(parameter) > 0;
      if (!stored && parameter == name) Miss(parameter, "the file has something else by that name");
      // What was computed of a parameter keeps its value, though the parameter itself is trained.
      if (HoldsFloats(*order_.initializers.at(name)) && value != record_.values.end() &&
          Has(value->second.folded_from, parameter))
        Miss(parameter, absl::StrCat(stored ? "as part of " : "part of ", name));
    }
  }

  // What calls of any part of the file name, and the results of these.
  std::map<std::string, std::set<std::string>> AllNamed() const {
    std::map<std::string, std::set<std::string>> named;
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (!program_.call(n).has_value()) continue;
      for (const std::string& called : program_.call(n)->values)
        named[called].insert(program_.call(n)->result);
    }
    return named;
  }

  const ::onnx::GraphProto& graph_;
  const ExportRecord& record_;
  const FileGraph& order_;
  const NodeRecords& nodes_;
  const ExportedProgram program_;
  StoredRoles& roles_;
  std::set<std::string> stored_;                // parameters that stored values are
  std::map<std::string, std::string> missing_;  // and what is known of them
  Names lost_;                                  // results that stand for others
};

}  // namespace

void FindMissing(const ::onnx::GraphProto& graph, const ExportRecord& record,
                 const FileGraph& order, const NodeRecords& nodes, StoredRoles& roles) {
  MissingFinder(graph, record, order, nodes, roles).Find();
}

std::map<std::string, std::string> WithoutTensor(const StoredRoles& roles,
                                                 const ExportRecord& record) {
  std::set<std::string> of_program;
  for (const auto* names : {&record.parameters, &record.buffers}) {
    for (const auto& [called, name] : *names) of_program.insert(name);
  }
  std::map<std::string, std::string> without;
  for (const auto& [name, why] : roles.missing) {
    if (of_program.count(name) == 0) continue;  // a mode of training, a result
    const auto merged = roles.merged.find(name);
    const auto value = record.values.find(name);
    const bool renamed = value != record.values.end() && !value->second.renamed_from.empty();
    std::string stored_as = merged == roles.merged.end() ? "" : merged->second;
    if (roles.of.count(name) > 0) stored_as = name;
    without[renamed ? value->second.renamed_from : name] = std::move(stored_as);
  }
  return without;
}

absl::Status CheckMissing(const StoredRoles& roles, const TrainOptions& options) {
  Names missing;
  for (const auto& [name, why] : roles.missing) {
    const auto merged = roles.merged.find(name);
    const bool tied =
        merged != roles.merged.end() &&
        std::any_of(options.ties.begin(), options.ties.end(), [&, &name = name](const auto& tie) {
          return tie.tied == name && tie.kept == merged->second;
        });
    if (!tied) missing.push_back(why.empty() ? name : absl::StrCat(name, " (", why, ")"));
  }
  if (missing.empty() || options.allow_missing) return absl::OkStatus();
  return UserError(
      "it was exported from a PyTorch model of which it lacks ", absl::StrJoin(missing, ", "),
      ": PyTorch's default exporter folds batch norms, stores equal tensors once and computes ",
      "what depends on parameters alone, so that training it would train another model. Export ",
      "it again with torch.onnx.export(..., dynamo=False, "
      "training=torch.onnx.TrainingMode.TRAINING, ",
      "do_constant_folding=False), or, without batch norms, with optimize=False; ",
      "--allow-missing-parameters trains those that are there, and --trainable PATTERN with it ",
      "what was made of the others",
      roles.merged.empty()
          ? ""
          : "; of what PyTorch has tied and the file stores once, --tie A=B says so");
}

}  // namespace yuba::onnx
