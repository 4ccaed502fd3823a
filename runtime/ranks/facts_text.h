// Facts of a rank as bytes of fixed size, the same in all versions of the command: lines of text.
#ifndef YUBA_RUNTIME_RANKS_FACTS_TEXT_H_
#define YUBA_RUNTIME_RANKS_FACTS_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "runtime/ranks/rank_facts.h"

namespace yuba::runtime {

constexpr int kFactsBytes = 8192;

// kFactsBytes of them. Long names are cut.
std::string FactsText(const RankFacts& facts);

// Nothing where these are no facts.
absl::optional<RankFacts> FactsOf(absl::string_view bytes);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_FACTS_TEXT_H_
