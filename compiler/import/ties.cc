#include "compiler/import/ties.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "compiler/import/file/twins.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

using compiler::InitialValue;

// Of the corner of a matrix that is compared before the whole is read.
constexpr int64_t kCorner = 8;

bool IsStored(const OnnxValue& value) {
  return value.initial.kind == InitialValue::kData || value.initial.kind == InitialValue::kFile;
}

// `count` bytes of a stored value, from byte `begin` on; none where its file cannot be read, of
// which whoever needs all of it says what is wrong.
absl::optional<std::string> BytesOf(const OnnxValue& value, int64_t begin, int64_t count) {
  std::string bytes(static_cast<size_t>(count), '\0');
  if (value.initial.kind == InitialValue::kData) {
    return value.initial.data->substr(static_cast<size_t>(begin), static_cast<size_t>(count));
  }
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(value.initial.range);
  if (!reader.ok() || !reader->Read(begin, count, bytes.data()).ok()) return absl::nullopt;
  return bytes;
}

absl::optional<TensorData> ValueOf(const OnnxValue& value) {
  TensorData data{value.type, value.dims, ""};
  auto bytes =
      BytesOf(value, 0, ElementCount(TensorType{value.type, value.dims}) * ByteSize(value.type));
  if (!bytes.has_value()) return absl::nullopt;
  data.data = *std::move(bytes);
  return data;
}

// The first rows and columns of a matrix.
absl::optional<TensorData> CornerOf(const OnnxValue& value) {
  const int64_t rows = std::min(kCorner, value.dims[0]), columns = std::min(kCorner, value.dims[1]);
  TensorData corner{value.type, {rows, columns}, ""};
  for (int64_t row = 0; row < rows; ++row) {
    const auto bytes =
        BytesOf(value, row * value.dims[1] * ByteSize(value.type), columns * ByteSize(value.type));
    if (!bytes.has_value()) return absl::nullopt;
    corner.data += *bytes;
  }
  return corner;
}

bool HasOneValue(const TensorData& data) {
  const auto size = static_cast<size_t>(ByteSize(data.type));
  for (size_t at = size; at < data.data.size(); at += size) {
    if (data.data.compare(at, size, data.data, 0, size) != 0) return false;
  }
  return true;
}

std::string Text(const OnnxValue& value) {
  return absl::StrCat(value.name, " is ", Name(value.type), "[", absl::StrJoin(value.dims, ", "),
                      "]");
}

absl::StatusOr<int> Parameter(const std::string& name, const OnnxGraph& graph) {
  const auto found = graph.by_name.find(name);
  if (found == graph.by_name.end() || graph.values[found->second].kind != TensorKind::kParameter) {
    return UserError(name, " is no parameter of floats that a node of the model reads");
  }
  return found->second;
}

// How the second is to be read where the first stands: as it is, or transposed.
absl::StatusOr<Twins> HowToRead(const OnnxValue& tied, const OnnxValue& kept) {
  const std::vector<int64_t> turned(kept.dims.rbegin(), kept.dims.rend());
  const bool same = tied.dims == kept.dims, may_turn = kept.dims.size() == 2 && tied.dims == turned;
  if (tied.type != kept.type || !(same || may_turn)) {
    return UserError(Text(tied), " and ", Text(kept), ": they cannot be one tensor");
  }
  if (!IsStored(tied) || !IsStored(kept)) return same ? Twins::kEqual : Twins::kTransposed;
  const auto a = ValueOf(tied), b = ValueOf(kept);
  if (!a.has_value() || !b.has_value()) return same ? Twins::kEqual : Twins::kTransposed;
  const Twins twins = TwinsOf(*a, *b);
  if (twins != Twins::kNot) return twins;
  return UserError("their values differ, so the model would compute something else; store the ",
                   "values of one of them as both");
}

// Whether what stands for both is a weight by itself.
absl::Status CheckKept(const TieOptions& tie, const std::vector<TieOptions>& ties) {
  if (tie.tied == tie.kept) {
    return UserError("a weight is always tied to itself: name two, the second stands for both");
  }
  for (const TieOptions& other : ties) {
    if (other.tied != tie.kept) continue;
    if (other.kept == tie.tied) {
      return UserError("--tie ", other.tied, "=", other.kept,
                       " is given too: leave out one of them");
    }
    return UserError(tie.kept, " is tied itself: tie ", tie.tied, " to ", other.kept);
  }
  return absl::OkStatus();
}

absl::Status Tie(const TieOptions& tie, NodeContext& context, OnnxGraph& graph) {
  YUBA_ASSIGN_OR_RETURN(const int tied, Parameter(tie.tied, graph));
  YUBA_ASSIGN_OR_RETURN(const int kept, Parameter(tie.kept, graph));
  if (tied == kept) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const Twins twins, HowToRead(graph.values[tied], graph.values[kept]));
  const bool known = std::any_of(
      graph.ties.begin(), graph.ties.end(),  // by an earlier entry
      [&](const compiler::TiedWeights& other) { return other.tied == graph.values[tied].name; });
  if (!known) {
    graph.ties.push_back(
        {graph.values[tied].name, graph.values[kept].name, twins == Twins::kTransposed});
  }
  graph.by_name[tie.tied] = twins == Twins::kEqual ? kept : context.Transpose(kept, {1, 0});
  return context.status();
}

}  // namespace

absl::Status TieParameters(const std::vector<TieOptions>& ties, NodeContext& context,
                           OnnxGraph& graph) {
  for (const TieOptions& tie : ties) {
    absl::Status status = CheckKept(tie, ties);
    if (status.ok()) status = Tie(tie, context, graph);
    if (!status.ok()) return Annotate(status, absl::StrCat("--tie ", tie.tied, "=", tie.kept));
  }
  return absl::OkStatus();
}

std::vector<std::string> EqualParameters(const OnnxGraph& graph) {
  std::vector<std::string> lines;
  // By the corner and its transpose: numbers of matrices, which may be equal.
  std::map<std::string, std::vector<int>> known;
  std::set<int> seen;
  std::set<std::string> tied;
  for (const compiler::TiedWeights& tie : graph.ties) tied.insert(tie.tied);
  for (const auto& [name, v] : graph.by_name) {
    const OnnxValue& value = graph.values[v];
    const bool formed = value.role.form.has_value() && value.role.form->stored_as == name;
    // It is tied to one that stands by itself.
    if ((value.name != name && !formed) || tied.count(value.name) > 0) continue;
    if (!seen.insert(v).second) continue;  // a value that the file calls otherwise
    if (value.kind != TensorKind::kParameter || value.dims.size() != 2 || !IsStored(value))
      continue;
    const auto corner = CornerOf(value);
    if (!corner.has_value() || HasOneValue(*corner)) continue;
    for (const int other : known[corner->data]) {
      const auto a = ValueOf(value), b = ValueOf(graph.values[other]);
      const Twins twins = a.has_value() && b.has_value() ? TwinsOf(*a, *b) : Twins::kNot;
      if (twins == Twins::kNot || graph.values[other].name == value.name) continue;
      lines.push_back(absl::StrCat(name, " equals ", graph.values[other].name,
                                   twins == Twins::kEqual ? "" : ", transposed",
                                   "; each is trained by itself: --tie ", name, "=",
                                   graph.values[other].name, " makes them one"));
      break;
    }
    known[corner->data].push_back(v);
    const std::string turned = Transposed(*corner).data;
    if (turned != corner->data) known[turned].push_back(v);
  }
  return lines;
}

}  // namespace yuba::onnx
