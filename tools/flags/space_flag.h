// --space: what plans may express.
#ifndef YUBA_TOOLS_FLAGS_SPACE_FLAG_H_
#define YUBA_TOOLS_FLAGS_SPACE_FLAG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "search/plan/words.h"
#include "search/search_options.h"

namespace yuba::tools {

// Example: {"flat", "copies=none"}, or {"flat,copies=none"}, is {"flat", false, kAuto}; "tofu" is a
// preset: flat dimensions, axes nested by level, no copies and no accumulators.
struct SpaceWords {
  std::string dimensions = "default";  // or "factored", "flat", "tofu"
  bool copies = true;                  // of copies=all or none
  // Of accumulators=auto, all or none.
  search::Accumulators accumulators = search::Accumulators::kAuto;
  bool partials = true;  // of partials=auto or none

  bool HasFactors() const { return dimensions != "flat" && dimensions != "tofu"; }
};

constexpr char kSpaceHelp[] =
    "what plans may express, words with commas between: "
    "factored; flat (dimensions without factors); default, the cheaper of these; "
    "tofu (flat, nested by level, neither copies nor accumulators); "
    "copies=all, nodes that read a tensor may share a copy of it, which lives until the last of "
    "them has read it, or copies=none; "
    "accumulators=all, products of one sum are added up before they are reduced, "
    "accumulators=none, or accumulators=auto, where there are copies and it moves fewer bytes; "
    "partials=auto, with replicas sums may stay unreduced through what is linear in them, or "
    "partials=none";

// The words of an enumeration of search/plan/words.h.
template <typename Enum>
std::vector<std::string> WordsOf() {
  std::vector<std::string> words;
  for (const auto& [value, word] : search::Words<Enum>::kList) words.emplace_back(word);
  return words;
}

// Puts the words into the options, but for whether flat dimensions are searched too.
void SetSpace(const SpaceWords& words, search::SearchOptions& options);

// The words of all values that were given. The user's error names the word, what there is, and
// words that contradict each other.
absl::StatusOr<SpaceWords> ParseSpace(const std::vector<std::string>& given);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_SPACE_FLAG_H_
