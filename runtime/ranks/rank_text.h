// How ranks and what they do are called in messages.
#ifndef YUBA_RUNTIME_RANKS_RANK_TEXT_H_
#define YUBA_RUNTIME_RANKS_RANK_TEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "runtime/ranks/rank_facts.h"
#include "runtime/ranks/words.h"

namespace yuba::runtime {

// What an instruction does: "all-gather of y"; empty: nothing is known of it.
using Describe = std::function<std::string(int instruction)>;

// "rank 2 (host b, process 4711)"
std::string NameOf(const RankFacts& facts);

// "in step 12, instruction 8 (all-gather of y)", "before its first step", "at its end"
std::string PlaceOf(const RankState& state, bool leaving, const Describe& describe);

// "; rank 0 (host a, process 12) waits for it in step 12, instruction 9": one or a few, and the
// number of the rest; "" where there is none. waiting: ranks; words: [rank].
std::string WaitersText(const std::vector<int>& waiting, const std::vector<RankFacts>& ranks,
                        const std::vector<RankWord>& words, const Describe& describe);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_TEXT_H_
