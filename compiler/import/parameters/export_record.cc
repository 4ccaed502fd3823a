#include "compiler/import/parameters/export_record.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/file/metadata.pb.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {
namespace {

constexpr char kSignature[] = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr char kKind[] = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr char kCalled[] = "pkg.torch.onnx.original_node_name";
constexpr char kFoldedFrom[] = "pkg.onnxscript.optimizer.folded_from";
constexpr char kCall[] = "pkg.torch.onnx.fx_node";
constexpr char kConstant[] = "CONSTANT_TENSOR";
constexpr char kOfExporter[] = "pkg.torch.";

// "['a', \"b\"]" to a and b; nothing where the text is no list of texts as Python prints it.
absl::optional<std::vector<std::string>> ListOfTexts(absl::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return absl::nullopt;
  std::vector<std::string> texts;
  for (size_t at = 1; at + 1 < text.size();) {
    const char quote = text[at];
    if (quote != '\'' && quote != '"') return absl::nullopt;
    const size_t end = text.find(quote, at + 1);
    if (end == absl::string_view::npos) return absl::nullopt;
    texts.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
    if (text.substr(at, 2) == ", ") at += 2;
  }
  return texts;
}

// Whether PyTorch has this kind of input or output of an exported program (InputKind and OutputKind
// of torch.export.graph_signature).
bool IsKind(absl::string_view kind) {
  static const std::set<absl::string_view>* const kKinds =
      new std::set<absl::string_view>{"USER_INPUT",
                                      "PARAMETER",
                                      "BUFFER",
                                      kConstant,
                                      "CUSTOM_OBJ",
                                      "TOKEN",
                                      "USER_OUTPUT",
                                      "LOSS_OUTPUT",
                                      "BUFFER_MUTATION",
                                      "PARAMETER_MUTATION",
                                      "USER_INPUT_MUTATION",
                                      "GRADIENT_TO_PARAMETER",
                                      "GRADIENT_TO_USER_INPUT"};
  return kKinds->count(kind) > 0;
}

// "p_q_weight: PARAMETER target='q.weight'" into `record`; false where the line is otherwise.
bool ReadSignatureLine(absl::string_view line, ExportRecord& record) {
  const size_t colon = line.rfind(": ", line.find(" target="));
  if (colon == absl::string_view::npos) return false;
  const absl::string_view rest = line.substr(colon + 2);
  const absl::string_view kind = rest.substr(0, rest.find(' '));
  const std::string name(absl::StripAsciiWhitespace(line.substr(0, colon)));
  if (kind == "USER_INPUT") record.inputs.push_back(name);
  if (kind == "USER_OUTPUT") record.outputs.push_back(name);
  const bool parameter = kind == "PARAMETER";
  if (!parameter && kind != "BUFFER" && kind != kConstant) return IsKind(kind);
  constexpr absl::string_view kTarget = "target=";
  const size_t target = rest.find(kTarget);
  if (target == absl::string_view::npos) return false;
  const size_t begin = target + kTarget.size();
  if (begin >= rest.size() || (rest[begin] != '\'' && rest[begin] != '"')) return false;
  const size_t end = rest.find(rest[begin], begin + 1);
  if (end == absl::string_view::npos) return false;
  (parameter ? record.parameters : record.buffers)[name] =
      std::string(rest.substr(begin + 1, end - begin - 1));
  return true;
}

void ReadSignature(const std::string& text, ExportRecord& record) {
  std::vector<std::string> unread;
  bool empty = true;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty()) continue;
    empty = false;
    if (absl::StartsWith(line, "#") || ReadSignatureLine(line, record)) continue;
    unread.push_back(absl::StrCat("'", line, "'"));
  }
  if (empty) record.unread.push_back("the graph's signature, which is empty");
  if (unread.empty()) return;
  record.unread.push_back(absl::StrCat(
      unread[0], unread.size() == 1 ? "" : absl::StrCat(" and ", unread.size() - 1, " more"),
      " of the graph's signature"));
}

// [text]: of which values it is said, where texts cannot be read.
using UnreadKinds = std::map<std::string, std::vector<std::string>>;

void ReadValue(const onnx_metadata::Value& value, ExportRecord& record, UnreadKinds& unread) {
  for (const onnx_metadata::StringStringEntry& entry : value.metadata_props()) {
    if (entry.key() == kKind) {
      if (!IsKind(entry.value())) unread[entry.value()].push_back(value.name());
      record.values[value.name()].kind = entry.value() == "PARAMETER" ? ValueRecord::kParameter
                                         : entry.value() == "BUFFER" || entry.value() == kConstant
                                             ? ValueRecord::kBuffer
                                             : ValueRecord::kUnsaid;
    } else if (entry.key() == kCalled) {
      record.values[value.name()].called = entry.value();
    } else if (entry.key() == kFoldedFrom) {
      auto names = ListOfTexts(entry.value());
      if (names.has_value()) {
        record.values[value.name()].folded_from = *std::move(names);
      } else {
        record.unread.push_back(
            absl::StrCat("'", entry.value(), "', of what ", value.name(), " is folded"));
      }
    }
  }
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

// The names behind % in the text.
std::vector<std::string> NamesIn(absl::string_view text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find('%', at)) != absl::string_view::npos;) {
    size_t end = at + 1;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    if (end > at + 1) names.emplace_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

// The parts of a text between commas that stand in no brackets, up to the bracket that closes it;
// nothing where none does.
absl::optional<std::vector<std::string>> Arguments(absl::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) return parts;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back().push_back(c);
  }
  return absl::nullopt;
}

// "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%x, %w),
// kwargs = {})"
absl::optional<CallRecord> ParseCall(absl::string_view text) {
  constexpr absl::string_view kTarget = "[target=", kArguments = "](args = (",
                              kTorch = "torch.ops.";
  const size_t target = text.find(kTarget);
  if (target == absl::string_view::npos) return absl::nullopt;
  const size_t begin = target + kTarget.size(), end = text.find(kArguments, begin);
  if (end == absl::string_view::npos) return absl::nullopt;
  absl::string_view name = text.substr(begin, end - begin);
  if (absl::StartsWith(name, kTorch)) name.remove_prefix(kTorch.size());
  const auto arguments = Arguments(text.substr(end + kArguments.size()));
  if (!arguments.has_value()) return absl::nullopt;
  CallRecord call;
  call.target = std::string(name);
  const std::vector<std::string> results = NamesIn(text.substr(0, target));
  if (!results.empty()) call.result = results[0];
  for (const std::string& argument : *arguments) {
    call.arguments.push_back(NamesIn(argument));
    call.texts.emplace_back(absl::StripAsciiWhitespace(argument));
  }
  call.values = NamesIn(text.substr(end));
  return call;
}

}  // namespace

bool ExportRecord::SaysKinds() const {
  return !parameters.empty() || !buffers.empty() ||
         std::any_of(values.begin(), values.end(),
                     [](const auto& value) { return value.second.kind != ValueRecord::kUnsaid; });
}

namespace {

constexpr char kParameterPrefix[] = "p_";

// What torch.export calls the parameter: "p_q_weight" for "q.weight".
std::string CalledInProgram(const std::string& name) {
  std::string called = kParameterPrefix;
  for (const char c : name) called.push_back(absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_');
  return called;
}

// Tools that take a part of a file drop the graph's signature: then parameters are what calls name
// as such, and their names those of PyTorch that values have, or the program's where none fits.
void InferParameters(const ::onnx::GraphProto& graph, ExportRecord& record) {
  std::set<std::string> inputs, names;
  for (const ::onnx::ValueInfoProto& input : graph.input()) inputs.insert(input.name());
  for (const ::onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& [name, value] : record.values)
    names.insert(value.folded_from.begin(), value.folded_from.end());
  for (const ::onnx::NodeProto& node : graph.node()) {
    const absl::optional<CallRecord> call = ReadNodeRecord(node).call;
    if (!call.has_value()) continue;
    for (const std::string& called : call->values) {
      if (absl::StartsWith(called, kParameterPrefix) && inputs.count(called) == 0)
        record.parameters[called] = called;
    }
  }
  for (const std::string& name : names) {
    const auto called = record.parameters.find(CalledInProgram(name));
    if (called != record.parameters.end()) called->second = name;
  }
  for (const auto& [name, value] : record.values) {
    if (value.kind == ValueRecord::kParameter && !value.called.empty())
      record.parameters[value.called];
  }
}

// The exporter renames a parameter or buffer that has the name of another value, as of an output,
// and tools that join models rename all values; what the signature says stays as it was, and so
// does what values were folded from. `inferred`: the parameters' names are not the signature's.
void TakeNamesOfFile(const ::onnx::GraphProto& graph, bool inferred, ExportRecord& record) {
  std::map<std::string, int> claims;
  for (const auto& [name, value] : record.values) ++claims[value.called];
  std::set<std::string> stored;
  for (const ::onnx::TensorProto& tensor : graph.initializer()) stored.insert(tensor.name());
  std::map<std::string, std::string> renamed;
  for (auto& [name, value] : record.values) {
    if (value.kind == ValueRecord::kUnsaid) continue;
    const bool is_parameter = value.kind == ValueRecord::kParameter;
    auto& known = is_parameter ? record.parameters : record.buffers;
    const auto said = known.find(value.called);
    if (said == known.end() || said->second == name) continue;
    const bool sure = claims[value.called] == 1 && stored.count(said->second) == 0;
    if (sure && !(is_parameter && inferred)) {
      value.renamed_from = said->second;
      renamed[said->second] = name;
    }
    said->second = name;
  }
  for (auto& [name, value] : record.values) {
    for (std::string& from : value.folded_from) {
      if (const auto now = renamed.find(from); now != renamed.end()) from = now->second;
    }
  }
}

}  // namespace

// Messages are read anew from their bytes: whether onnx.proto knows the fields or keeps them as
// unknown ones depends on its version.
ExportRecord ReadExportRecord(const ::onnx::GraphProto& graph) {
  ExportRecord record;
  onnx_metadata::Graph metadata;
  if (!metadata.ParseFromString(graph.SerializeAsString())) return record;
  for (const onnx_metadata::StringStringEntry& entry : metadata.metadata_props()) {
    if (entry.key() == kSignature) ReadSignature(entry.value(), record);
  }
  UnreadKinds unread;
  for (const onnx_metadata::Value& value : metadata.input()) ReadValue(value, record, unread);
  for (const onnx_metadata::Value& value : metadata.value_info()) ReadValue(value, record, unread);
  for (const auto& [kind, names] : unread) {
    record.unread.push_back(
        absl::StrCat("'", kind, "', the kind of ", names[0],
                     names.size() == 1 ? "" : absl::StrCat(" and ", names.size() - 1, " more")));
  }
  const bool inferred = record.parameters.empty();
  if (inferred) InferParameters(graph, record);
  TakeNamesOfFile(graph, inferred, record);
  return record;
}

NodeRecord ReadNodeRecord(const ::onnx::NodeProto& node) {
  NodeRecord record;
  onnx_metadata::Node metadata;
  if (!metadata.ParseFromString(node.SerializeAsString())) return record;
  for (const onnx_metadata::StringStringEntry& entry : metadata.metadata_props()) {
    record.exported |= absl::StartsWith(entry.key(), kOfExporter);
    if (entry.key() != kCall) continue;
    record.call = ParseCall(entry.value());
    if (!record.call.has_value()) record.unread = entry.value();
  }
  return record;
}

void SayCall(const std::string& text, ::onnx::NodeProto& node) {
  onnx_metadata::Node said;
  onnx_metadata::StringStringEntry& entry = *said.add_metadata_props();
  entry.set_key(kCall);
  entry.set_value(text);
  YUBA_CHECK(node.MergeFromString(said.SerializeAsString()));  // ONNX's messages may lack the field
}

}  // namespace yuba::onnx
