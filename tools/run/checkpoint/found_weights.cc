#include "tools/run/checkpoint/found_weights.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/form_values.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/missing_weights.h"

namespace yuba::tools {
namespace {

// The start of names, up to the first dot, without which some are names of parameters; empty: there
// is none.
std::string PrefixThatFits(const WeightFiles& files, const RunPorts& ports) {
  for (const auto& [name, tensor] : files.file.tensors) {
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      if (ports.parameters.count(name.substr(dot + 1)) > 0) return name.substr(0, dot + 1);
    }
  }
  return "";
}

absl::Status NothingFits(const WeightFiles& files, const RunPorts& ports) {
  const std::string prefix = PrefixThatFits(files, ports);
  return UserError(files.path, ": none of its ", Counted(files.file.tensors.size(), "tensor"),
                   " has the name of a parameter of the program",
                   prefix.empty() ? "" : absl::StrCat("; try --weights-prefix ", prefix));
}

bool HasShape(const StoredView& view, const PortType& type) {
  std::vector<int64_t> dims = view.tensor.dims;
  if (view.transposed) std::reverse(dims.begin(), dims.end());
  return dims == type.dims;
}

// The value of a parameter that is also the weight `tie.tied`.
absl::StatusOr<absl::optional<StoredView>> FindTied(const WeightFiles& files,
                                                    const program::Tie& tie,
                                                    const absl::optional<StoredView>& own) {
  YUBA_ASSIGN_OR_RETURN(absl::optional<StoredView> other, FindWeight(files, tie.tied()));
  if (!other.has_value()) return own;
  other->transposed ^= tie.transposed();
  const bool one = own.has_value() && own->tensor.bytes == other->tensor.bytes &&
                   own->transposed == other->transposed;
  if (!own.has_value() || one) return other;
  const absl::Status equal = CheckEqual(*own, *other);
  if (equal.ok()) return own;
  return Annotate(equal, absl::StrCat(files.path, ": ", tie.tied(), " and ", tie.kept(),
                                      " are one tensor of the program"));
}

// What of a tensor training adds to the model: numbers that all updates share, and states of one
// weight, which have its name and shape.
bool IsOfTraining(const RunPorts& ports, const std::string& name) {
  if (ports.settings.empty() || ports.trainable.count(name) > 0) return false;
  const PortType& type = ports.types.at(name);
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return type.dims.empty();
  const std::string weight = name.substr(0, dot);
  return ports.trainable.count(weight) > 0 && ports.types.at(weight).dims == type.dims;
}

// The names that files may have a value of the tensor by, those that come first before others: what
// PyTorch's exporter has renamed is looked for by PyTorch's name first, as another tensor of
// PyTorch's may have the file's.
std::vector<std::string> NamesOf(const RunPorts& ports, const std::string& name) {
  const auto form = ports.forms.find(name);
  if (form == ports.forms.end() || form->second.kind == StoredForm::kUnknown) return {name};
  const std::string& parameter = form->second.parameters[0];
  if (form->second.kind == StoredForm::kRenamed) return {parameter, name};
  return {name, form->second.stored_as, parameter};
}

absl::StatusOr<absl::optional<StoredView>> FindNumber(const WeightFiles& files,
                                                      const RunPorts& ports,
                                                      const std::string& name) {
  std::vector<std::string> names = NamesOf(ports, name);
  for (const program::Tie& tie : ports.ties) {
    if (tie.kept() == name) names.push_back(tie.tied());
  }
  absl::optional<StoredView> view;
  for (size_t i = 0; i < names.size() && !view.has_value(); ++i) {
    YUBA_ASSIGN_OR_RETURN(view, FindWeight(files, names[i]));
  }
  return view;
}

// The parameters, of those that the tensor is joined of, that the files have.
absl::StatusOr<JoinedParts> FindParts(const WeightFiles& files, const StoredForm& form) {
  JoinedParts parts;
  parts.form = form;
  if (form.kind != StoredForm::kBlocks) return parts;
  for (size_t p = 0; p < form.parameters.size(); ++p) {
    YUBA_ASSIGN_OR_RETURN(const auto view, FindWeight(files, form.parameters[p]));
    if (view.has_value()) parts.values[p] = *view;
  }
  return parts;
}

// Whether the files have parameters of the user's program of which the model has only what was
// computed of them. Then a value by the name of the result is another one.
absl::StatusOr<bool> HasOperands(const WeightFiles& files, const StoredForm& form) {
  if (form.kind != StoredForm::kUnknown) return false;
  for (const std::string& name : form.parameters) {
    if (name == form.stored_as) continue;
    YUBA_ASSIGN_OR_RETURN(const auto view, FindWeight(files, name));
    if (view.has_value()) return true;
  }
  return false;
}

// Adds what the files have of a tensor that is parameters in another form, and returns it where it
// is there as it is.
absl::StatusOr<absl::optional<StoredView>> AddFormed(const WeightFiles& files,
                                                     const RunPorts& ports, const StoredForm& form,
                                                     const std::string& name, FoundWeights& found) {
  const PortType& type = ports.types.at(name);
  auto made =
      FindInForm(form, type.dims, [&](const std::string& one) { return FindWeight(files, one); });
  if (!made.ok()) return Annotate(made.status(), files.path);
  if (made->made.has_value()) {
    auto wide = Widened(*made->made, type.type);
    if (!wide.ok()) return Annotate(wide.status(), absl::StrCat(files.path, ": ", name));
    found.made[name] = *std::move(wide);
  }
  if (made->view.has_value() || made->made.has_value()) return made->view;
  YUBA_ASSIGN_OR_RETURN(JoinedParts parts, FindParts(files, form));
  if (parts.values.empty()) return absl::optional<StoredView>();
  for (size_t p = 0; p < form.parameters.size(); ++p) {
    if (parts.values.count(p) == 0) found.missing.push_back(form.parameters[p]);
  }
  found.joined[name] = std::move(parts);
  return absl::optional<StoredView>();
}

class Finder {
 public:
  Finder(const WeightFiles& files, const RunPorts& ports) : files_(files), ports_(ports) {}

  absl::StatusOr<FoundWeights> Find() {
    known_ = ports_.parameters;
    for (const program::Tie& tie : ports_.ties) known_.insert(tie.tied());
    for (const auto& [name, number] : ports_.numbers) known_.insert(name);
    for (const auto& [name, form] : ports_.forms) {
      known_.insert(form.stored_as);
      known_.insert(form.parameters.begin(), form.parameters.end());
    }
    for (const std::string& name : ports_.parameters) YUBA_RETURN_IF_ERROR(FindOne(name));
    YUBA_ASSIGN_OR_RETURN(found_.numbers, FindNumbers(files_, ports_));
    YUBA_ASSIGN_OR_RETURN(found_.of_missing, ValuesOfMissing(files_, ports_.missing_parameters));
    for (const std::string& name : found_.of_missing) PassOver(name);
    for (const auto& [name, stored_as] : ports_.missing_parameters) known_.insert(name);
    if (found_.values.empty() && found_.made.empty() && found_.joined.empty() &&
        found_.numbers.empty() && found_.of_missing.empty())
      return NothingFits(files_, ports_);
    FindUnused();
    return std::move(found_);
  }

 private:
  absl::Status FindOne(const std::string& name) {
    if (IsOfTraining(ports_, name)) {
      found_.states += files_.file.tensors.count(name) > 0;
      return absl::OkStatus();
    }
    YUBA_ASSIGN_OR_RETURN(absl::optional<StoredView> view, FindPlain(name));
    const auto form = ports_.forms.find(name);
    if (form != ports_.forms.end()) {
      YUBA_ASSIGN_OR_RETURN(const bool computed, HasOperands(files_, form->second));
      if (computed && !IsCheckpointOf(files_, ports_.missing_parameters)) {
        found_.missing.push_back(ComputedText(form->second));
        return absl::OkStatus();
      }
      if (!view.has_value()) {
        YUBA_ASSIGN_OR_RETURN(view, AddFormed(files_, ports_, form->second, name, found_));
        if (found_.made.count(name) + found_.joined.count(name) > 0) return absl::OkStatus();
      }
    }
    if (!view.has_value() && files_.formed.count(name) > 0) return AddPart(name);
    if (view.has_value()) {
      found_.values[name] = *view;
    } else if (ports_.trainable.count(name) > 0) {
      found_.missing.push_back(MissingText(name));
    } else {
      ++found_.constants;
    }
    return absl::OkStatus();
  }

  // A compiled program does not say of which elements of PyTorch's tensors its own are made.
  std::string MissingText(const std::string& name) const {
    for (const auto& [stored, tensor] : files_.file.tensors) {
      if (ports_.forms.count(name) > 0 || !IsFormOf(name, stored)) continue;
      return absl::StrCat(name, " (", stored, " is there, which a compiled program does not take: ",
                          "compile the model that yuba export --weights makes)");
    }
    return name;
  }

  // What the files have of the tensor as it is, by its name or by that of a tie.
  absl::StatusOr<absl::optional<StoredView>> FindPlain(const std::string& name) const {
    const std::string first = NamesOf(ports_, name)[0];
    YUBA_ASSIGN_OR_RETURN(absl::optional<StoredView> view, FindWeight(files_, first));
    if (!view.has_value() && first != name) {
      YUBA_ASSIGN_OR_RETURN(view, FindWeight(files_, name));
    }
    // It may share a part of the other's elements, which the files do not name.
    if (view.has_value() && files_.shared.count(name) > 0 &&
        !HasShape(*view, ports_.types.at(name)))
      view.reset();
    for (const program::Tie& tie : ports_.ties) {
      if (tie.kept() != name) continue;
      YUBA_ASSIGN_OR_RETURN(view, FindTied(files_, tie, view));
    }
    return view;
  }

  // Lets the tensor of that name, and the one that it was renamed to, stay as they are.
  void PassOver(const std::string& parameter) {
    std::set<std::string> names = {parameter};
    for (const auto& [name, form] : ports_.forms) {
      if (form.kind == StoredForm::kRenamed && form.parameters[0] == parameter) names.insert(name);
    }
    for (const program::Tie& tie : ports_.ties) {
      if (tie.tied() == parameter && tie.kept() == ports_.missing_parameters.at(parameter))
        names.insert(tie.kept());
    }
    for (const std::string& name : names) {
      found_.values.erase(name);
      found_.made.erase(name);
      found_.joined.erase(name);
      found_.numbers.erase(name);
    }
  }

  // Takes the value from a checkpoint that has it as part of another tensor.
  absl::Status AddPart(const std::string& name) {
    const PortType& type = ports_.types.at(name);
    YUBA_ASSIGN_OR_RETURN(const TensorData value, ReadFormed(files_, name, type.dims));
    auto wide = Widened(value, type.type);
    if (!wide.ok()) return Annotate(wide.status(), absl::StrCat(files_.path, ": ", name));
    found_.made[name] = *std::move(wide);
    return absl::OkStatus();
  }

  void FindUnused() {
    std::set<std::string> used;
    for (const std::string& name : known_) {
      const auto shared = files_.shared.find(name);
      used.insert(shared == files_.shared.end() ? name : shared->second.stored);
      const auto formed = files_.formed.find(name);
      if (formed != files_.formed.end()) used.insert(formed->second.stored);
    }
    for (const auto& [name, tensor] : files_.file.tensors) {
      if (used.count(name) == 0) found_.unused.push_back(name);
    }
    for (const auto& [name, type] : files_.file.unread) {
      if (used.count(name) == 0) found_.unused.push_back(name);
    }
  }

  const WeightFiles& files_;
  const RunPorts& ports_;
  std::set<std::string> known_;  // names that have a meaning here
  FoundWeights found_;
};

}  // namespace

absl::StatusOr<std::map<std::string, TensorData>> FindNumbers(const WeightFiles& files,
                                                              const RunPorts& ports) {
  std::map<std::string, TensorData> numbers;
  for (const auto& [name, number] : ports.numbers) {
    YUBA_ASSIGN_OR_RETURN(const auto view, FindNumber(files, ports, name));
    if (!view.has_value()) continue;
    absl::StatusOr<TensorData> value = ReadView(*view, number.type);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat(files.path, ": ", name));
    if (value->data.size() != number.data.size()) {
      return UserError(files.path, ": ", name, " has ", ElementsOf(value->dims).value_or(0),
                       " elements, and the model's is one number");
    }
    if (value->data == number.data) continue;
    value->dims = number.dims;
    numbers[name] = *std::move(value);
  }
  return numbers;
}

absl::StatusOr<FoundWeights> FindWeights(const WeightFiles& files, const RunPorts& ports) {
  return Finder(files, ports).Find();
}

absl::Status SetView(runtime::Session& session, const std::string& name, const StoredView& view,
                     const std::string& path) {
  if (!view.transposed) return Annotate(session.SetFromFile(name, view.tensor), path);
  YUBA_ASSIGN_OR_RETURN(const TensorData value, ReadView(view, view.tensor.type));
  return Annotate(session.Set(name, value), path);
}

}  // namespace yuba::tools
