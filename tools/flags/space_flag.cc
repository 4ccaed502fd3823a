#include "tools/flags/space_flag.h"

#include <algorithm>

#include "absl/strings/match.h"
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
  words.dimensions = std::string(word);
  return std::count(std::begin(kDimensions), std::end(kDimensions), word) > 0;
}

}  // namespace

absl::StatusOr<SpaceWords> ParseSpace(const std::vector<std::string>& given) {
  SpaceWords words;
  const std::string text = absl::StrJoin(given, ",");
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (Take(word, words)) continue;
    return UserError("--space ", text, ": there is no ", word,
                     "; there are default, factored, flat, tofu, copies=all, copies=none, ",
                     "accumulators=auto, accumulators=all and accumulators=none");
  }
  if (words.dimensions != "tofu") return words;
  if (absl::StrContains(text, "copies=all")) {
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
