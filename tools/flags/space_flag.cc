#include "tools/flags/space_flag.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

constexpr const char* kDimensions[] = {"default", "factored", "flat", "tofu"};

// Puts one word into `words`; false where there is no such word.
bool Take(absl::string_view word, SpaceWords& words) {
  if (absl::ConsumePrefix(&word, "copies=")) {
    words.copies = word == "all";
    return word == "all" || word == "none";
  }
  if (absl::ConsumePrefix(&word, "accumulators=")) {
    const auto value = search::FromWord<search::Accumulators>(std::string(word));
    if (value.has_value()) words.accumulators = *value;
    return value.has_value();
  }
  if (absl::ConsumePrefix(&word, "partials=")) {
    words.partials = word == "auto";
    return word == "auto" || word == "none";
  }
  words.dimensions = std::string(word);
  return std::count(std::begin(kDimensions), std::end(kDimensions), word) > 0;
}

// What a word is about: "copies" of "copies=all", "" of a word of dimensions.
std::string SubjectOf(absl::string_view word) {
  const size_t equals = word.find('=');
  return std::string(word.substr(0, equals == word.npos ? 0 : equals));
}

}  // namespace

void SetSpace(const SpaceWords& words, search::SearchOptions& options) {
  options.factors = words.HasFactors();
  if (words.dimensions == "tofu") options.nesting = search::Nesting::kLevel;
  options.copies = words.copies;
  options.accumulators = words.accumulators;
  options.partials = words.partials;
}

absl::StatusOr<SpaceWords> ParseSpace(const std::vector<std::string>& given) {
  SpaceWords words;
  if (given.empty()) return words;
  const std::string text = absl::StrJoin(given, ",");
  std::map<std::string, std::string> known;  // by subject
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    if (!Take(word, words)) {
      return UserError("--space ", text, ": there is no '", word,
                       "'; there are default, factored, flat, tofu, copies=all, copies=none, ",
                       "accumulators=auto, accumulators=all, accumulators=none, partials=auto and ",
                       "partials=none");
    }
    const auto [other, is_new] = known.emplace(SubjectOf(word), word);
    if (is_new || other->second == word) continue;
    return UserError("--space ", text, ": ", other->second, " and ", word,
                     " contradict each other; give one of them");
  }
  if (words.dimensions != "tofu") return words;
  if (known["copies"] == "copies=all") {
    return UserError("--space ", text, ": tofu has no shared copies: every reader gathers for ",
                     "itself; leave copies=all out");
  }
  if (words.accumulators == search::Accumulators::kAll) {
    return UserError("--space ", text, ": tofu reduces each product for itself; leave ",
                     "accumulators=all out");
  }
  words.copies = false;
  return words;
}

}  // namespace yuba::tools
