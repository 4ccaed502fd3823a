// What the facts of all ranks say together.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/rank_text.h"
#include "runtime/ranks/roll_call.h"

namespace yuba::runtime {

absl::Status CheckFacts(const std::vector<RankFacts>& facts, const std::string& transport) {
  const int size = static_cast<int>(facts.size());
  const RankFacts& first = facts[0];
  std::vector<const RankFacts*> of_rank(size, nullptr);
  for (const RankFacts& other : facts) {
    if (other.version != first.version) {
      return UserError(NameOf(other), " is version ", other.version, " of the command, ",
                       NameOf(first), " is version ", first.version, "; start one version on all");
    }
    if (other.size != first.size) {
      return UserError(NameOf(other), " is one of ", other.size, " ranks, ", NameOf(first),
                       " one of ", first.size,
                       ", as their launchers say; start all by one command");
    }
  }
  if (first.size != size) {
    return UserError(first.launcher, " says that there are ", first.size, " ranks, and ", transport,
                     " connects ", size, " of them (", NameOf(first), "); start them by the ",
                     "launcher that belongs to ", transport);
  }
  for (const RankFacts& other : facts) {
    if (other.rank < 0 || other.rank >= size) {
      return UserError(NameOf(other), " is out of range: there are ", size, " ranks");
    }
    if (of_rank[other.rank] != nullptr) {
      std::string gaps;
      for (int rank = 0; rank < size; ++rank) {
        const auto is = [&](const RankFacts& some) { return some.rank == rank; };
        if (std::none_of(facts.begin(), facts.end(), is)) absl::StrAppend(&gaps, " ", rank);
      }
      return UserError("rank ", other.rank, " is there twice: ", NameOf(*of_rank[other.rank]),
                       " and ", NameOf(other), "; missing:", gaps,
                       "; start all by one command of a launcher");
    }
    of_rank[other.rank] = &other;
  }
  for (int rank = 0; rank < size; ++rank) {
    if (facts[rank].rank == rank) continue;
    return UserError(NameOf(facts[rank]), ", as ", first.launcher, " says, is rank ", rank, " of ",
                     transport, "; start them by the launcher that belongs to ", transport);
  }
  return absl::OkStatus();
}

int ProcessorsOf(const std::vector<RankFacts>& ranks, int rank) {
  const RankFacts& own = ranks[rank];
  int sharers = 0;
  for (const RankFacts& other : ranks) {
    const auto is_own = [&](int processor) {
      return std::find(own.processors.begin(), own.processors.end(), processor) !=
             own.processors.end();
    };
    const bool shares = other.host == own.host &&
                        std::any_of(other.processors.begin(), other.processors.end(), is_own);
    if (shares) ++sharers;
  }
  return std::max(1, static_cast<int>(own.processors.size()) / std::max(1, sharers));
}

}  // namespace yuba::runtime
