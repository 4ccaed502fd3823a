#include "runtime/ranks/rank_text.h"

#include "absl/strings/str_cat.h"

namespace yuba::runtime {

std::string NameOf(const RankFacts& facts) {
  return absl::StrCat("rank ", facts.rank, " (host ", facts.host, ", process ", facts.process, ")");
}

std::string PlaceOf(const RankState& state, bool leaving, const Describe& describe) {
  if (leaving) return "at its end";
  if (state.step == 0 && state.instruction < 0) return "before its first step";
  std::string place = absl::StrCat("in step ", state.step);
  if (state.instruction < 0) return place;
  absl::StrAppend(&place, ", instruction ", state.instruction);
  const std::string what = describe ? describe(state.instruction) : "";
  if (!what.empty()) absl::StrAppend(&place, " (", what, ")");
  return place;
}

std::string WaitersText(const std::vector<int>& waiting, const std::vector<RankFacts>& ranks,
                        const std::vector<RankWord>& words, const Describe& describe) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < waiting.size(); ++i) {
    const int rank = waiting[i];
    if (i == kNamed && waiting.size() > kNamed + 1) {
      absl::StrAppend(&text, "; ", waiting.size() - i, " more ranks wait for it");
      break;
    }
    const bool leaving = words[rank].leaving != 0;
    absl::StrAppend(&text, "; ", NameOf(ranks[rank]), " waits for it ",
                    PlaceOf(words[rank].state, leaving, describe));
  }
  return text;
}

}  // namespace yuba::runtime
