#include "compiler/import/parameters/stored_roles.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/parameters/float_tensor.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/missing_parameters.h"
#include "compiler/import/parameters/operand_words.h"

namespace yuba::onnx {
namespace {

using Word = StoredRole::Word;

// Who reads a stored value.
struct Readers {
  bool exported = false;                    // a node that PyTorch's exporter wrote
  bool called = false;                      // a call that names the value's parameter
  bool operand = false;                     // an operand that is a weight, bias, slope or scale
  bool others = false;                      // an operand that is no first state
  int scales = 0;                           // nodes that have it as a scale
  bool variance = false;                    // an operand that is a variance
  std::vector<std::pair<int, int>> places;  // nodes, and their operands
};

class RoleFinder {
 public:
  RoleFinder(const ::onnx::GraphProto& graph, const ExportRecord& record, const FileGraph& order)
      : graph_(graph), record_(record), order_(order), says_(record.SaysKinds()) {
    for (const auto& [called, name] : record_.parameters) called_[name] = called;
    for (const ::onnx::ValueInfoProto& input : graph.input()) inputs_.push_back(input.name());
  }

  StoredRoles Find() {
    for (const int n : order_.nodes) {
      if (says_) nodes_[n] = ReadNodeRecord(graph_.node(n));
      Look(n);
    }
    for (const auto& [name, readers] : readers_) {
      StoredRole& role = roles_.of[name];
      role.operand = readers.operand;
      role.first_state = !readers.others;
      SetWord(name, readers, role);
    }
    if (says_) {
      FindSame();
      FindMissing(graph_, record_, order_, nodes_, roles_);
      for (auto& [name, role] : roles_.of) {
        if (role.word == Word::kOther && !role.form.has_value()) role.form = MadeOfMissing(name);
      }
    }
    roles_.notes = Notes();
    return std::move(roles_);
  }

 private:
  void Look(int n) {
    const ::onnx::NodeProto& node = graph_.node(n);
    const NodeRecord record = says_ ? nodes_.at(n) : NodeRecord();
    if (!record.unread.empty()) ++unread_calls_;
    if (node.input_size() > 0 && node.output_size() > 0 && IsView(node.op_type())) {
      const std::string of = StoredBehind(node.input(0));
      if (!of.empty()) views_[node.output(0)] = of;
      if (!of.empty() && IsCopy(node.op_type()) && HoldsFloats(*order_.initializers.at(of)))
        copies_[of].push_back(node.output(0));
    }
    if (MultipliesMatrices(node.op_type()) && node.input_size() > 1 &&
        IsColumn(StoredBehind(node.input(1))))
      products_.insert(node.output().begin(), node.output().end());
    for (int i = 0; i < node.input_size(); ++i) {
      LookThroughView(node, i);
      if (order_.initializers.count(node.input(i)) == 0) continue;
      Readers& readers = readers_[node.input(i)];
      const bool added = Adds(node.op_type()) && node.input_size() == 2 &&
                         order_.initializers.at(node.input(i))->dims_size() == 1 &&
                         products_.count(node.input(1 - i)) > 0;
      const OperandWord word = added ? OperandWord::kBias : WordOfOperand(node.op_type(), i);
      readers.exported |= record.exported;
      readers.operand |= word != OperandWord::kNone && word != OperandWord::kFirstState &&
                         word != OperandWord::kVariance;
      readers.scales += word == OperandWord::kScale;
      readers.variance |= word == OperandWord::kVariance;
      readers.others |= word != OperandWord::kFirstState && !BeginsWhatRunsChange(node, i);
      readers.called |= record.call.has_value() && Names(*record.call, node.input(i));
      readers.places.emplace_back(n, i);
    }
    for (const std::string& name : ReadsInside(node)) {
      if (order_.initializers.count(name) > 0) readers_[name].others = true;
    }
  }

  // Whether the initializer is the weight of a linear layer with one output, transposed or not.
  bool IsColumn(const std::string& name) const {
    if (name.empty()) return false;
    const ::onnx::TensorProto& tensor = *order_.initializers.at(name);
    return tensor.dims_size() == 2 && (tensor.dims(0) == 1 || tensor.dims(1) == 1);
  }

  // The initializer that the value is, or is a view of; empty where there is none.
  std::string StoredBehind(const std::string& value) const {
    if (order_.initializers.count(value) > 0) return value;
    const auto view = views_.find(value);
    return view == views_.end() ? "" : view->second;
  }

  // What a node calls a view it calls the stored value, as a slope with dimensions of 1 before it.
  void LookThroughView(const ::onnx::NodeProto& node, int operand) {
    const auto view = views_.find(node.input(operand));
    if (view == views_.end()) return;
    const OperandWord word = WordOfOperand(node.op_type(), operand);
    readers_[view->second].operand |= word != OperandWord::kNone &&
                                      word != OperandWord::kFirstState &&
                                      word != OperandWord::kVariance;
  }

  // Whether the call has the parameter of that name among its arguments.
  bool Names(const CallRecord& call, const std::string& name) const {
    const auto found = called_.find(name);
    return found != called_.end() &&
           std::count(call.values.begin(), call.values.end(), found->second) > 0;
  }

  void SetWord(const std::string& name, const Readers& readers, StoredRole& role) {
    if (!says_) return;
    const auto found = record_.values.find(name);
    const ValueRecord value = found == record_.values.end() ? ValueRecord() : found->second;
    if (value.kind == ValueRecord::kParameter) {
      role.word = Word::kParameter;
      role.form = TransposedForm(name, value, readers);
      if (!role.form.has_value()) role.form = RenamedForm(name, value);
    } else if (value.kind == ValueRecord::kBuffer) {
      role.word = Word::kBuffer;
      role.form = RenamedForm(name, value);
    } else if (readers.called) {
      role.word = Word::kParameter;  // a tool has dropped the word beside the value
    } else {
      role.form = HoldsFloats(*order_.initializers.at(name)) ? FormFor(name, value, readers)
                                                             : absl::nullopt;
      role.word = role.form.has_value()                            ? Word::kParameter
                  : readers.exported || !value.folded_from.empty() ? Word::kOther
                                                                   : Word::kNone;
      if (role.word == Word::kOther) role.form = ComputedOf(name, value);
    }
  }

  // A square matrix that was symmetric when it was stored, as of ones or zeros: the exporter stores
  // it and its transpose once, under the parameter's name. Its readers say which of the two it is.
  absl::optional<StoredForm> TransposedForm(const std::string& name, ValueRecord value,
                                            const Readers& readers) const {
    const ::onnx::TensorProto& tensor = *order_.initializers.at(name);
    if (tensor.dims_size() != 2 || tensor.dims(0) != tensor.dims(1)) return absl::nullopt;
    value.folded_from = {name};
    auto form = FormFor(name, value, readers);
    if (!form.has_value() || form->kind != StoredForm::kTransposed) return absl::nullopt;
    return form;
  }

  static absl::optional<StoredForm> RenamedForm(const std::string& name, const ValueRecord& value) {
    if (value.renamed_from.empty()) return absl::nullopt;
    return StoredForm{StoredForm::kRenamed, {value.renamed_from}, {}, name};
  }

  // Of a value that has a parameter's name and is something else, as the filter of a convolution
  // into which a batch norm is folded, the file does not say what it was computed of: it may be all
  // that is missing.
  absl::optional<StoredForm> MadeOfMissing(const std::string& name) const {
    if (called_.count(name) == 0 || !HoldsFloats(*order_.initializers.at(name)))
      return absl::nullopt;
    StoredForm form;
    form.kind = StoredForm::kUnknown;
    form.stored_as = name;
    form.parameters = {name};
    for (const auto& [missing, why] : roles_.missing) {
      if (missing != name) form.parameters.push_back(missing);
    }
    return form;
  }

  // Of what parameters the value was computed, whose elements are not in it.
  absl::optional<StoredForm> ComputedOf(const std::string& name, const ValueRecord& value) const {
    StoredForm form;
    form.kind = StoredForm::kUnknown;
    form.stored_as = name;
    for (const auto& [called, parameter] : record_.parameters) {
      if (std::count(value.folded_from.begin(), value.folded_from.end(), parameter) > 0)
        form.parameters.push_back(parameter);
    }
    if (form.parameters.empty() || !HoldsFloats(*order_.initializers.at(name)))
      return absl::nullopt;
    return form;
  }

  // The form that all who read the value agree on.
  absl::optional<StoredForm> FormFor(const std::string& name, const ValueRecord& value,
                                     const Readers& readers) const {
    absl::optional<StoredForm> form;
    for (const auto& [n, operand] : readers.places) {
      const FoldedValue folded = {order_.initializers.at(name), value.folded_from, &graph_.node(n),
                                  operand, nodes_.at(n).call};
      const auto here = FormOf(folded, record_.parameters, inputs_);
      if (!here.has_value() || (form.has_value() && !(*form == *here))) return absl::nullopt;
      form = here;
    }
    return form;
  }

  static bool IsAsItIs(const StoredRole& role) {
    return !role.form.has_value() || role.form->kind == StoredForm::kRenamed;
  }

  // One parameter may be stored as it is and transposed, for two nodes that read it so. Where two
  // forms of one cannot be made one tensor, the other is no parameter, and missing so.
  void FindSame() {
    std::map<std::string, std::string> stored;  // the initializer by the parameter
    for (const auto& [name, role] : roles_.of) {
      if (role.word == Word::kParameter && IsAsItIs(role)) stored[name] = name;
    }
    for (auto& [name, role] : roles_.of) {
      if (role.word != Word::kParameter || IsAsItIs(role)) continue;
      const std::vector<std::string> parameters = role.form->parameters;
      const bool several = parameters.size() > 1;
      for (const std::string& parameter : parameters) {
        const auto [known, is_new] = stored.emplace(parameter, name);
        if (is_new) continue;
        const ::onnx::TensorProto &a = *order_.initializers.at(name),
                                  &b = *order_.initializers.at(known->second);
        const std::vector<int64_t> dims(a.dims().begin(), a.dims().end()),
            others(b.dims().begin(), b.dims().end());
        const bool turned = dims == std::vector<int64_t>(others.rbegin(), others.rend());
        if (several || !(dims == others || (dims.size() == 2 && turned))) {
          role.form = StoredForm{StoredForm::kUnknown, parameters, {}, name};
          role.word = Word::kOther;
          twice_.insert(parameter);
          break;
        }
        roles_.same.emplace_back(name, known->second);
      }
    }
    for (const std::string& parameter : twice_) {
      roles_.missing.emplace(parameter, "stored in two forms");
    }
  }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    if (says_) notes.push_back(CountsText());
    if (!record_.unread.empty()) {
      notes.push_back(absl::StrCat("what the exporter wrote is not understood: ",
                                   absl::StrJoin(record_.unread, "; ")));
    }
    if (unread_calls_ > 0) {
      notes.push_back(absl::StrCat("what the exporter wrote of the call that a node is part of is ",
                                   "not understood, of ", unread_calls_,
                                   unread_calls_ == 1 ? " node" : " nodes"));
    }
    for (const auto& [name, readers] : readers_) {
      if (says_ || readers.scales + (readers.variance ? 1 : 0) < 2) continue;
      notes.push_back(absl::StrCat(
          name, " is the scale of ", readers.scales, readers.scales == 1 ? " norm" : " norms",
          readers.variance ? " and a variance" : "",
          ": some exports store equal tensors once, and ",
          "in PyTorch each is trained by itself; export in training mode, with ",
          "do_constant_folding=False"));
    }
    for (const auto& [name, copies] : copies_) {
      if (says_) continue;
      notes.push_back(
          absl::StrCat("one with ", name, " in the file: ", absl::StrJoin(copies, ", "),
                       "; some exports store equal tensors once, and in PyTorch each is trained by "
                       "itself unless ",
                       "they are tied; export in training mode, with do_constant_folding=False"));
    }
    if (!roles_.unused.empty()) {
      notes.push_back(absl::StrCat("parameters of PyTorch's that no node was made of, unused or ",
                                   "tied to others: ", absl::StrJoin(roles_.unused, ", ")));
    }
    return notes;
  }

  // Of floats: integers are never trained.
  std::string CountsText() const {
    int parameters = 0, buffers = 0, others = 0, unsaid = 0;
    for (const auto& [name, role] : roles_.of) {
      if (!HoldsFloats(*order_.initializers.at(name))) continue;
      parameters += role.word == Word::kParameter;
      buffers += role.word == Word::kBuffer;
      others += role.word == Word::kOther;
      unsaid += role.word == Word::kNone;
    }
    std::string text = absl::StrCat("by PyTorch's word in the file: ", parameters,
                                    parameters == 1 ? " parameter, " : " parameters, ", buffers,
                                    buffers == 1 ? " buffer" : " buffers");
    if (others > 0) absl::StrAppend(&text, "; not trained as stored by its exporter: ", others);
    if (unsaid > 0) absl::StrAppend(&text, "; without a word, judged by what reads them: ", unsaid);
    return text;
  }

  const ::onnx::GraphProto& graph_;
  const ExportRecord& record_;
  const FileGraph& order_;
  const bool says_;
  std::map<std::string, std::string> called_;  // the name in the exported program by PyTorch's
  std::vector<std::string> inputs_;
  std::set<std::string> products_;            // results of linear layers with one output
  std::map<std::string, std::string> views_;  // the initializer by the name of a view of it
  std::map<std::string, std::vector<std::string>> copies_;  // by the initializer
  NodeRecords nodes_;
  std::map<std::string, Readers> readers_;  // by the initializer's name
  std::set<std::string> twice_;             // parameters in two forms that are not one tensor
  int unread_calls_ = 0;
  StoredRoles roles_;
};

}  // namespace

StoredRoles FindStoredRoles(const ::onnx::GraphProto& graph, const ExportRecord& record,
                            const FileGraph& order) {
  return RoleFinder(graph, record, order).Find();
}

}  // namespace yuba::onnx
