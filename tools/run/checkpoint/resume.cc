#include "tools/run/checkpoint/resume.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/found_weights.h"
#include "tools/run/checkpoint/program_states.h"

namespace yuba::tools {
namespace {

// What of a checkpoint goes where in a program.
class Resumption {
 public:
  Resumption(runtime::Session& session, const Checkpoint& checkpoint,
             const std::set<std::string>& overrides)
      : session_(session), checkpoint_(checkpoint), overrides_(overrides) {}

  absl::Status Check() {
    if (checkpoint_.facts.has_value()) YUBA_RETURN_IF_ERROR(CheckWeights(*checkpoint_.facts));
    const Parameters states = States(session_.program());
    std::set<std::string> used;
    for (const program::Initializer& parameter : session_.program().message().parameters()) {
      const program::Port& port = parameter.port();
      const auto own = checkpoint_.tensors().find(NameThere(parameter));
      if (own != checkpoint_.tensors().end()) {
        YUBA_RETURN_IF_ERROR(Take(port, {own->second, false}));
        used.insert(own->first);
        if (own->first != port.name())
          renamed_.push_back(absl::StrCat(own->first, " (", port.name(), ")"));
        continue;
      }
      if (parameter.trainable()) {  // it may share another one's elements
        YUBA_ASSIGN_OR_RETURN(const auto shared, FindWeight(checkpoint_.files, port.name()));
        if (shared.has_value()) YUBA_RETURN_IF_ERROR(Take(port, *shared));
        if (!shared.has_value() && states.count(port.name()) == 0) lacking_.push_back(port.name());
        if (shared.has_value() || states.count(port.name()) == 0) continue;
      }
      if (states.count(port.name()) > 0) YUBA_RETURN_IF_ERROR(CheckLacking(parameter));
    }
    for (const auto& [name, tensor] : checkpoint_.tensors()) {
      if (used.count(name) > 0 || OtherWeights()) continue;
      if (IsOfTable(name)) {
        dropped_.push_back(name);
        continue;
      }
      return UserError(tensor.bytes.file, ": has ", name, ", which is no state of the program: it ",
                       "is a checkpoint of another model or optimizer; --weights takes what fits");
    }
    return absl::OkStatus();
  }

  absl::Status Set() {
    for (const auto& [name, view] : values_) {
      YUBA_RETURN_IF_ERROR(SetView(session_, name, view, checkpoint_.path()));
    }
    if (!renamed_.empty()) {
      std::cerr << "note: " << checkpoint_.path() << ": has older names of " << FirstOf(renamed_)
                << "\n";
    }
    if (!dropped_.empty()) {
      std::cerr << "note: " << checkpoint_.path() << ": has " << FirstOf(dropped_)
                << ", of what its run trained and this one does not\n";
    }
    if (!lacking_.empty()) {
      std::cerr << "note: " << checkpoint_.path() << ": does not have " << FirstOf(lacking_)
                << ", which this run does not train: the values are the model's own\n";
    }
    if (!anew_.empty()) {
      std::cerr << "note: " << checkpoint_.path() << ": does not have " << FirstOf(anew_)
                << ", which begin as in a new run\n";
    }
    return absl::OkStatus();
  }

 private:
  // What the checkpoint calls the parameter. A parameter of PyTorch's in another form had the name
  // of its tensor in the file once, "val_18", and its states' names began with that, "val_18.m".
  std::string NameThere(const program::Initializer& parameter) const {
    const std::string& name = parameter.port().name();
    if (checkpoint_.tensors().count(name) > 0) return name;
    for (const program::Tie& tie : session_.program().message().ties()) {
      if (tie.transposed() || !absl::StartsWith(name, tie.kept())) continue;
      const std::string rest = name.substr(tie.kept().size());
      const bool is_state = absl::StartsWith(rest, ".") && !parameter.trainable();
      const std::string there = tie.tied() + rest;
      if ((rest.empty() || is_state) && checkpoint_.tensors().count(there) > 0) return there;
    }
    return name;
  }

  // The parameter of that name, or of which the name is a state's, "w" or "w.m"; null: there is
  // none.
  const program::Initializer* Of(const std::string& name) const {
    const std::string weight = name.substr(0, name.rfind('.'));
    const program::Initializer* of = nullptr;
    for (const program::Initializer& parameter : session_.program().message().parameters()) {
      if (parameter.port().name() == weight && of == nullptr) of = &parameter;
      if (parameter.port().name() == name && parameter.trainable()) of = &parameter;
    }
    return of;
  }

  // Whether it is a state of what older versions trained and this program has as a table.
  bool IsOfTable(const std::string& name) const {
    const program::Initializer* of = Of(name);
    return !checkpoint_.facts.has_value() && of != nullptr && !of->trainable();
  }

  // Whether it is a weight of one element, or a state of one, which older versions did not train.
  bool IsOfOldNumber(const program::Initializer& state) const {
    const program::Initializer* of = Of(state.port().name());
    if (checkpoint_.facts.has_value() || of == nullptr || !of->trainable()) return false;
    const auto& shape = of->port().shape();
    return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == 1; }) &&
           checkpoint_.tensors().count(NameThere(*of)) == 0;
  }

  // Whether other tensors may be trained, or by other states.
  bool OtherWeights() const {
    return overrides_.count("train") + overrides_.count("freeze") + overrides_.count("tie") > 0;
  }

  absl::Status Differs(const char* name, const std::string& there, const std::string& here) const {
    return UserError("--resume ", checkpoint_.path(), ": its run had --", name, " ", there,
                     ", and this plan has ", here, "; --override ", name, " goes on all the same");
  }

  // Whether the same weights are frozen and tied.
  absl::Status CheckWeights(const RunFacts& there) const {
    RunFacts here;
    AddFacts(session_.program(), here);
    const auto texts = [](const std::map<std::string, TiedTo>& ties) {
      std::vector<std::string> text;
      for (const auto& [tied, to] : ties) text.push_back(absl::StrCat(tied, "=", to.kept));
      return text.empty() ? "none" : FirstOf(text);
    };
    if (!(here.ties == there.ties) && overrides_.count("tie") == 0) {
      return Differs("tie", texts(there.ties), texts(here.ties));
    }
    const auto but = [](const std::set<std::string>& all, const std::set<std::string>& others) {
      std::vector<std::string> names;
      std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                          std::back_inserter(names));
      return names;
    };
    const std::vector<std::string> thawed = but(there.frozen, here.frozen),
                                   frozen = but(here.frozen, there.frozen);
    if (OtherWeights() || (thawed.empty() && frozen.empty())) return absl::OkStatus();
    return UserError("--resume ", checkpoint_.path(), ": its run ",
                     thawed.empty() ? "trained " : "did not train ",
                     FirstOf(thawed.empty() ? frozen : thawed), ", and this plan ",
                     thawed.empty() ? "does not" : "does",
                     " (--freeze); --override freeze goes on ", "all the same");
  }

  absl::Status Take(const program::Port& port, const StoredView& view) {
    const PortType wanted = TypeOf(session_.program(), port);
    PortType stored = {view.tensor.type, view.tensor.dims};
    if (view.transposed) std::reverse(stored.dims.begin(), stored.dims.end());
    values_[port.name()] = view;
    if (stored.type == wanted.type && stored.dims == wanted.dims) return absl::OkStatus();
    return UserError(view.tensor.bytes.file, ": ", port.name(), " is ", Text(stored),
                     " there, and the program's is ", Text(wanted),
                     ": it is a checkpoint of another model");
  }

  absl::Status CheckLacking(const program::Initializer& state) {
    const std::string& name = state.port().name();
    if ((OtherWeights() && !state.trainable()) || IsOfOldNumber(state)) {
      anew_.push_back(name);
      return absl::OkStatus();
    }
    return UserError(checkpoint_.path(), ": lacks ", name, ", ",
                     Text(TypeOf(session_.program(), state.port())),
                     ", a state of the program: it is a checkpoint of another model or ",
                     "optimizer; --weights takes what it has");
  }

  runtime::Session& session_;
  const Checkpoint& checkpoint_;
  const std::set<std::string>& overrides_;
  std::map<std::string, StoredView> values_;  // by parameter
  std::vector<std::string> lacking_, anew_;
  std::vector<std::string> renamed_, dropped_;  // that it has, for people
};

}  // namespace

absl::Status Resume(runtime::Session& session, const Checkpoint& checkpoint,
                    const std::set<std::string>& overrides) {
  Resumption resumption(session, checkpoint, overrides);
  YUBA_RETURN_IF_ERROR(resumption.Check());
  return resumption.Set();
}

}  // namespace yuba::tools
