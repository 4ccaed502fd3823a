#include "tools/run/checkpoint/weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  for (const auto& [stored, form] : facts.forms) {
    if (files.file.tensors.count(stored) == 0) continue;
    for (size_t p = 0; p < form.parameters.size(); ++p) {
      const std::string& name = form.parameters[p];
      if (files.file.tensors.count(name) + files.shared.count(name) == 0)
        files.formed[name] = {stored, form, p};
    }
  }
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
  YUBA_RETURN_IF_ERROR(Strip(prefix, files.formed, any));
  for (auto& [name, shared] : files.shared) {
    shared.stored = std::string(absl::StripPrefix(shared.stored, prefix));
  }
  for (auto& [name, formed] : files.formed)
    formed.stored = std::string(absl::StripPrefix(formed.stored, prefix));
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

// The bytes of `count` equal parameters, joined in this form, of which one begins at `position`.
struct Piece {
  size_t begin = 0, length = 0, block = 0;
};

absl::StatusOr<Piece> PieceOf(const StoredForm& form, size_t position, const TensorData& tensor) {
  Piece piece;
  piece.length = tensor.data.size() / form.parameters.size();
  piece.begin = position * piece.length;
  const size_t blocks = std::max<size_t>(form.blocks.size(), 1);
  piece.block = piece.length / blocks;
  const auto size = static_cast<size_t>(ByteSize(tensor.type));
  if (piece.block % size == 0 &&
      piece.block * blocks * form.parameters.size() == tensor.data.size())
    return piece;
  return UserError("it is no ", form.parameters.size(), " equal parts");
}

// Where block `to` of the piece lies in the parameter.
size_t From(const StoredForm& form, size_t to) {
  return form.blocks.empty() ? to : static_cast<size_t>(form.blocks[to]);
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

}  // namespace

absl::StatusOr<TensorData> ReadFormed(const WeightFiles& files, const std::string& name,
                                      const std::vector<int64_t>& dims) {
  const auto& [stored, form, position] = files.formed.at(name);
  const StoredTensor& tensor = files.file.tensors.at(stored);
  YUBA_ASSIGN_OR_RETURN(TensorData whole,
                        ReadView({tensor, form.kind == StoredForm::kTransposed}, tensor.type));
  const absl::StatusOr<Piece> piece = PieceOf(form, position, whole);
  if (!piece.ok()) return Annotate(piece.status(), absl::StrCat(files.path, ": ", stored));
  TensorData value{whole.type, dims, std::string(piece->length, '\0')};
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(dims));
  if (static_cast<size_t>(elements) * ByteSize(whole.type) != piece->length) {
    return UserError(files.path, ": ", stored, " has ", piece->length / ByteSize(whole.type),
                     " elements of ", name, ", and the model's has ", elements);
  }
  for (size_t b = 0; piece->block > 0 && b < piece->length / piece->block; ++b) {
    value.data.replace(From(form, b) * piece->block, piece->block, whole.data,
                       piece->begin + b * piece->block, piece->block);
  }
  return value;
}

absl::StatusOr<TensorData> WithParts(const JoinedParts& parts, TensorData tensor) {
  for (const auto& [position, view] : parts.values) {
    const std::string& name = parts.form.parameters[position];
    absl::StatusOr<TensorData> value = ReadView(view, tensor.type);
    if (!value.ok()) return Annotate(value.status(), name);
    const absl::StatusOr<Piece> piece = PieceOf(parts.form, position, tensor);
    if (!piece.ok()) return Annotate(piece.status(), NameOf(parts.form));
    if (value->data.size() != piece->length) {
      return UserError(name, " has ", ElementsOf(value->dims).value_or(0), " elements, and of ",
                       NameOf(parts.form), " it is ", piece->length / ByteSize(tensor.type));
    }
    for (size_t b = 0; piece->block > 0 && b < piece->length / piece->block; ++b) {
      tensor.data.replace(piece->begin + b * piece->block, piece->block, value->data,
                          From(parts.form, b) * piece->block, piece->block);
    }
  }
  return tensor;
}

std::string ComputedText(const StoredForm& form) {
  return absl::StrCat(form.stored_as, " (which the model has computed of ",
                      absl::StrJoin(form.parameters, ", "),
                      ": export it with optimize=False, which keeps these)");
}

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
    if (IsOfTraining(ports, name)) {
      found.states += files.file.tensors.count(name) > 0;
      continue;
    }
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
      YUBA_ASSIGN_OR_RETURN(const bool computed, HasOperands(files, form->second));
      if (computed) {
        found.missing.push_back(ComputedText(form->second));
        continue;
      }
      if (!view.has_value()) {
        YUBA_ASSIGN_OR_RETURN(view, AddFormed(files, ports, form->second, name, found));
        if (found.made.count(name) + found.joined.count(name) > 0) continue;
      }
    }
    if (!view.has_value() && files.formed.count(name) > 0) {
      YUBA_ASSIGN_OR_RETURN(const TensorData value,
                            ReadFormed(files, name, ports.types.at(name).dims));
      auto wide = Widened(value, ports.types.at(name).type);
      if (!wide.ok()) return Annotate(wide.status(), absl::StrCat(files.path, ": ", name));
      found.made[name] = *std::move(wide);
      continue;
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
  if (found.values.empty() && found.made.empty() && found.joined.empty() && found.numbers.empty())
    return NothingFits(files, ports);
  std::set<std::string> used;
  for (const std::string& name : known) {
    const auto shared = files.shared.find(name);
    used.insert(shared == files.shared.end() ? name : shared->second.stored);
    const auto formed = files.formed.find(name);
    if (formed != files.formed.end()) used.insert(formed->second.stored);
  }
  for (const std::string& name : LackingIn(files, ports.lacking)) {
    if (known.count(name) == 0) found.lacking.push_back(name);
    used.insert(name);
  }
  for (const auto& [name, tensor] : files.file.tensors) {
    if (used.count(name) == 0) found.unused.push_back(name);
  }
  for (const auto& [name, type] : files.file.unread) {
    if (used.count(name) == 0) found.unused.push_back(name);
  }
  return found;
}

absl::Status SetView(runtime::Session& session, const std::string& name, const StoredView& view,
                     const std::string& path) {
  if (!view.transposed) return Annotate(session.SetFromFile(name, view.tensor), path);
  YUBA_ASSIGN_OR_RETURN(const TensorData value, ReadView(view, view.tensor.type));
  return Annotate(session.Set(name, value), path);
}

std::vector<std::string> LackingIn(const WeightFiles& files, const std::set<std::string>& lacking) {
  std::vector<std::string> names;
  for (const std::string& name : lacking) {
    if (files.file.tensors.count(name) + files.shared.count(name) + files.formed.count(name) > 0)
      names.push_back(name);
  }
  return names;
}

absl::Status LackingWeights(const std::string& path, const std::vector<std::string>& lacking) {
  return UserError(path, ": has ", FirstOf(lacking), ", of which the model's file has only what ",
                   "was computed with the old values, or one tensor for several: export the model ",
                   "with optimize=False, which keeps each; --partial-weights does without");
}

absl::Status MissingWeights(const std::string& path, const std::vector<std::string>& missing) {
  return UserError(path, ": has no values of ", FirstOf(missing), ", ",
                   missing.size() == 1 ? "a weight" : "weights",
                   " of the model; --partial-weights leaves there what the model's file has");
}

}  // namespace yuba::tools
