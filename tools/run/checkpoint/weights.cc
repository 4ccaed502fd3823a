#include "tools/run/checkpoint/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/form_values.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint_folder.h"
#include "tools/run/checkpoint/run_facts.h"

namespace yuba::tools {
namespace {

// What the metadata says of names that share a tensor's elements. Other texts name no tensor.
absl::Status FindShared(WeightFiles& files) {
  const auto add = [&](const std::string& name, const std::string& stored, bool transposed) {
    const bool there = files.file.tensors.count(stored) + files.file.unread.count(stored) > 0;
    const bool own = files.file.tensors.count(name) + files.file.unread.count(name) > 0;
    if (there && !own) files.shared[name] = {stored, transposed};
  };
  for (const auto& [name, stored] : files.file.metadata) add(name, stored, false);
  const auto text = files.file.metadata.find(kFacts);
  if (text == files.file.metadata.end()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const RunFacts facts, ParseFacts(text->second));
  for (const auto& [tied, to] : facts.ties) add(tied, to.kept, to.transposed);
  return absl::OkStatus();
}

// Takes the prefix from the names of the map.
template <typename T>
absl::Status Strip(const std::string& prefix, std::map<std::string, T>& named, bool& any) {
  std::map<std::string, T> stripped;
  for (auto& [name, value] : named) {
    const std::string rest(absl::StripPrefix(name, prefix));
    any |= rest != name;
    if (!stripped.emplace(rest, std::move(value)).second) {
      return UserError("has ", rest, " and ", prefix, rest, ", which would be one");
    }
  }
  named = std::move(stripped);
  return absl::OkStatus();
}

absl::Status StripAll(const std::string& prefix, WeightFiles& files) {
  if (prefix.empty()) return absl::OkStatus();
  bool any = false;
  YUBA_RETURN_IF_ERROR(Strip(prefix, files.file.tensors, any));
  YUBA_RETURN_IF_ERROR(Strip(prefix, files.file.unread, any));
  YUBA_RETURN_IF_ERROR(Strip(prefix, files.shared, any));
  for (auto& [name, shared] : files.shared) {
    shared.stored = std::string(absl::StripPrefix(shared.stored, prefix));
  }
  return any ? absl::OkStatus() : UserError("none of its names begins with ", prefix);
}

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

absl::Status CheckEqual(const StoredView& a, const StoredView& b) {
  YUBA_ASSIGN_OR_RETURN(const TensorData first, ReadView(a, a.tensor.type));
  YUBA_ASSIGN_OR_RETURN(const TensorData second, ReadView(b, b.tensor.type));
  const bool equal =
      first.type == second.type && first.dims == second.dims && first.data == second.data;
  return equal ? absl::OkStatus() : UserError("their values differ");
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
                                      " are one weight of the program (--tie)"));
}

}  // namespace

absl::StatusOr<WeightFiles> ReadWeights(const std::string& path, const std::string& prefix) {
  WeightFiles files;
  files.path = path;
  if (IsCheckpointFolder(path)) {
    YUBA_ASSIGN_OR_RETURN(files.file, ReadFolder(path));
  } else {
    YUBA_ASSIGN_OR_RETURN(files.file, ReadSafetensors(path));
  }
  YUBA_RETURN_IF_ERROR(Annotate(FindShared(files), path));
  YUBA_RETURN_IF_ERROR(Annotate(StripAll(prefix, files), path));
  return files;
}

absl::StatusOr<absl::optional<StoredView>> FindWeight(const WeightFiles& files,
                                                      const std::string& name) {
  StoredView view;
  std::string stored = name;
  if (const auto shared = files.shared.find(name); shared != files.shared.end()) {
    stored = shared->second.stored;
    view.transposed = shared->second.transposed;
  }
  if (const auto unread = files.file.unread.find(stored); unread != files.file.unread.end()) {
    return UserError(files.path, ": ", stored, " is of type ", unread->second,
                     ", which is not read; store it as F32, F16 or BF16");
  }
  const auto found = files.file.tensors.find(stored);
  if (found == files.file.tensors.end()) return absl::optional<StoredView>();
  view.tensor = found->second;
  return absl::make_optional(view);
}

std::map<std::string, StoredView> AllWeights(const WeightFiles& files) {
  std::map<std::string, StoredView> all;
  for (const auto& [name, tensor] : files.file.tensors) all[name] = {tensor, false};
  for (const auto& [name, shared] : files.shared) {
    const auto stored = files.file.tensors.find(shared.stored);
    if (stored != files.file.tensors.end()) all[name] = {stored->second, shared.transposed};
  }
  return all;
}

absl::StatusOr<std::map<std::string, TensorData>> FindNumbers(const WeightFiles& files,
                                                              const RunPorts& ports) {
  std::map<std::string, TensorData> numbers;
  for (const auto& [name, number] : ports.numbers) {
    YUBA_ASSIGN_OR_RETURN(const auto view, FindWeight(files, name));
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
  FoundWeights found;
  std::set<std::string> known = ports.parameters;
  for (const program::Tie& tie : ports.ties) known.insert(tie.tied());
  for (const auto& [name, number] : ports.numbers) known.insert(name);
  for (const std::string& name : ports.parameters) {
    YUBA_ASSIGN_OR_RETURN(absl::optional<StoredView> view, FindWeight(files, name));
    // It may share a part of the other's elements, which the files do not name.
    if (view.has_value() && files.shared.count(name) > 0 && !HasShape(*view, ports.types.at(name)))
      view.reset();
    for (const program::Tie& tie : ports.ties) {
      if (tie.kept() != name) continue;
      YUBA_ASSIGN_OR_RETURN(view, FindTied(files, tie, view));
    }
    const auto form = ports.forms.find(name);
    if (form != ports.forms.end()) {
      known.insert(form->second.stored_as);
      known.insert(form->second.parameters.begin(), form->second.parameters.end());
      if (!view.has_value()) {
        const auto made =
            FindInForm(form->second, ports.types.at(name).dims,
                       [&](const std::string& one) { return FindWeight(files, one); });
        if (!made.ok()) return Annotate(made.status(), files.path);
        view = made->view;
        if (made->made.has_value()) {
          auto wide = Widened(*made->made, ports.types.at(name).type);
          if (!wide.ok()) return Annotate(wide.status(), absl::StrCat(files.path, ": ", name));
          found.made[name] = *std::move(wide);
          continue;
        }
      }
    }
    if (view.has_value()) {
      found.values[name] = *view;
    } else if (ports.trainable.count(name) > 0) {
      found.missing.push_back(name);
    } else {
      ++found.constants;
    }
  }
  YUBA_ASSIGN_OR_RETURN(found.numbers, FindNumbers(files, ports));
  if (found.values.empty() && found.made.empty() && found.numbers.empty())
    return NothingFits(files, ports);
  std::set<std::string> used;
  for (const std::string& name : known) {
    const auto shared = files.shared.find(name);
    used.insert(shared == files.shared.end() ? name : shared->second.stored);
  }
  for (const auto& [name, tensor] : files.file.tensors) found.unused += used.count(name) == 0;
  for (const auto& [name, type] : files.file.unread) found.unused += used.count(name) == 0;
  return found;
}

absl::Status SetView(runtime::Session& session, const std::string& name, const StoredView& view,
                     const std::string& path) {
  if (!view.transposed) return Annotate(session.SetFromFile(name, view.tensor), path);
  YUBA_ASSIGN_OR_RETURN(const TensorData value, ReadView(view, view.tensor.type));
  return Annotate(session.Set(name, value), path);
}

absl::Status MissingWeights(const std::string& path, const std::vector<std::string>& missing) {
  return UserError(path, ": has no values of ", FirstOf(missing), ", ",
                   missing.size() == 1 ? "a weight" : "weights",
                   " of the model; --partial-weights leaves there what the model's file has");
}

}  // namespace yuba::tools
