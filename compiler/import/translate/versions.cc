#include "compiler/import/translate/versions.h"

#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {
namespace {

using Versions = std::vector<OperatorVersion>;
using Table = std::map<std::string, Versions>;

int64_t NumberOf(absl::string_view text) {
  int64_t number = 0;
  if (text == "*") return std::numeric_limits<int>::max();
  YUBA_CHECK(absl::SimpleAtoi(text, &number));
  return number;
}

// "1-3" or "2".
std::pair<int, int> CountsOf(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  const auto least = static_cast<int>(NumberOf(ends.first));
  return {least, ends.second.empty() ? least : static_cast<int>(NumberOf(ends.second))};
}

// "alpha:f=0.01"
std::pair<std::string, VersionAttribute> AttributeOf(absl::string_view text) {
  const size_t colon = text.find(':');
  YUBA_CHECK(colon != absl::string_view::npos && colon + 1 < text.size());
  VersionAttribute attribute;
  attribute.kind = text[colon + 1];
  if (colon + 2 < text.size()) attribute.fallback = std::string(text.substr(colon + 3));
  return {std::string(text.substr(0, colon)), attribute};
}

// "11 1-3>1 axis:i=0"; `before` is the version before it.
OperatorVersion VersionOf(const std::vector<absl::string_view>& words,
                          const OperatorVersion& before) {
  YUBA_CHECK(words.size() >= 2);
  OperatorVersion version;
  const bool types = words[1] == "types";
  if (types || words[1] == "text") version = before;
  version.since = NumberOf(words[0]);
  version.types_only = types;
  if (types || words[1] == "text") return version;
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(words[1], absl::MaxSplits('>', 1));
  std::tie(version.least_inputs, version.most_inputs) = CountsOf(ends.first);
  std::tie(version.least_outputs, version.most_outputs) = CountsOf(ends.second);
  for (size_t i = 2; i < words.size(); ++i) version.attributes.insert(AttributeOf(words[i]));
  return version;
}

// "Clip 6 1>1 max:f min:f | 11 1-3>1", without the name.
Versions VersionsIn(absl::string_view text) {
  Versions versions;
  for (const absl::string_view part : absl::StrSplit(text, '|')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(part, absl::ByAnyChar(" \n"), absl::SkipEmpty());
    versions.push_back(VersionOf(words, versions.empty() ? OperatorVersion() : versions.back()));
  }
  return versions;
}

Table ReadTable() {
  std::map<std::string, std::string> texts;
  std::string name;
  for (const absl::string_view line : absl::StrSplit(kOnnxVersions, '\n', absl::SkipEmpty())) {
    const size_t space = line.find(' ');
    if (space > 0) name = std::string(line.substr(0, space));
    texts[name].append(line.data() + space, line.size() - space);
  }
  Table table;
  for (const auto& [op_type, text] : texts) table[op_type] = VersionsIn(text);
  return table;
}

}  // namespace

const std::vector<OperatorVersion>* VersionsOf(const std::string& op_type) {
  static const auto* const kTable = new Table(ReadTable());
  const auto found = kTable->find(op_type);
  return found == kTable->end() ? nullptr : &found->second;
}

const OperatorVersion& VersionAt(const std::vector<OperatorVersion>& versions, int64_t opset) {
  const OperatorVersion* at = &versions.front();
  for (const OperatorVersion& version : versions) {
    if (version.since <= opset) at = &version;
  }
  return *at;
}

int64_t MeaningOf(const std::vector<OperatorVersion>& versions, int64_t version) {
  int64_t newest = versions.front().since;
  for (const OperatorVersion& other : versions) {
    if (other.since <= version && !other.types_only) newest = other.since;
  }
  return newest;
}

}  // namespace yuba::onnx
