#include "tools/run/checkpoint/resume.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
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
      const auto own = checkpoint_.tensors().find(port.name());
      if (own != checkpoint_.tensors().end()) {
        YUBA_RETURN_IF_ERROR(Take(port, {own->second, false}));
        used.insert(port.name());
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
      return UserError(tensor.bytes.file, ": has ", name, ", which is no state of the program: it ",
                       "is a checkpoint of another model or optimizer; --weights takes what fits");
    }
    return absl::OkStatus();
  }

  absl::Status Set() {
    for (const auto& [name, view] : values_) {
      YUBA_RETURN_IF_ERROR(SetView(session_, name, view, checkpoint_.path()));
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
    if (OtherWeights() && !state.trainable()) {
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
};

}  // namespace

absl::Status Resume(runtime::Session& session, const Checkpoint& checkpoint,
                    const std::set<std::string>& overrides) {
  Resumption resumption(session, checkpoint, overrides);
  YUBA_RETURN_IF_ERROR(resumption.Check());
  return resumption.Set();
}

}  // namespace yuba::tools
