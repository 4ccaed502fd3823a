#include "tools/run/checkpoint/weights.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"
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

absl::Status CheckEqual(const StoredView& a, const StoredView& b) {
  YUBA_ASSIGN_OR_RETURN(const TensorData first, ReadView(a, a.tensor.type));
  YUBA_ASSIGN_OR_RETURN(const TensorData second, ReadView(b, b.tensor.type));
  const bool equal =
      first.type == second.type && first.dims == second.dims && first.data == second.data;
  return equal ? absl::OkStatus() : UserError("their values differ");
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

}  // namespace yuba::tools
