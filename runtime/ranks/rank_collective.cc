#include "runtime/ranks/rank_collective.h"

#include <algorithm>
#include <utility>

#include "runtime/ranks/call_maker.h"
#include "runtime/ranks/exchange_parts.h"

namespace yuba::runtime {
namespace {

// Nothing where parts that move differ too much to be padded.
absl::optional<Parts> IfEven(absl::optional<Parts> parts) {
  const bool even = parts.has_value() && (parts->members.size() == 1 || parts->MayBePadded());
  return even ? std::move(parts) : absl::nullopt;
}

// Parts of one size.
std::vector<int64_t> EvenStarts(size_t members, int64_t count) {
  std::vector<int64_t> starts;
  for (size_t m = 0; m < members; ++m) starts.push_back(static_cast<int64_t>(m) * count);
  return starts;
}

// What the rank's own partials are, by part.
std::vector<BoxWalk> PartialsOf(const ExchangePlan& sum, const Parts& parts, int rank) {
  std::vector<BoxWalk> walks(parts.members.size());
  for (size_t m = 0; m < walks.size(); ++m) {
    if (parts.elements(m) == 0) continue;
    const Cell& cell = *CellOf(sum, parts.members[m]);
    const auto own = std::find(cell.sources.begin(), cell.sources.end(), rank);
    walks[m] = Only(cell.walk, own - cell.sources.begin());
  }
  return walks;
}

// Of the groups of an exchange that of this rank; nothing where one of them is not of the form, or
// none has two members.
template <typename PartsOf>
absl::optional<Parts> OwnParts(const std::vector<int>& group_of, int rank,
                               const PartsOf& parts_of) {
  absl::optional<Parts> own;
  bool several = false;
  for (const auto& [first, members] : MembersOf(group_of)) {
    absl::optional<Parts> parts = parts_of(members);
    if (!parts.has_value()) return absl::nullopt;
    several = several || members.size() > 1;
    if (first == group_of[rank]) own = std::move(parts);
  }
  return several ? own : absl::nullopt;
}

// Of a rank that is alone in its group.
RankExchange Alone(const ExchangePlan& plan, int rank, const std::vector<int>& group_of) {
  RankExchange exchange = RankExchangeOf(plan, rank);
  exchange.group_of = group_of;
  return exchange;
}

}  // namespace

absl::optional<RankExchange> AllGatherOf(const ExchangePlan& plan, int rank) {
  const std::vector<int> group_of = FirstOfGroups(plan);
  const auto parts = OwnParts(
      group_of, rank, [&](const Members& members) { return IfEven(GatheredParts(plan, members)); });
  if (!parts.has_value()) return absl::nullopt;
  const size_t members = parts->members.size(), own = parts->IndexOf(rank);
  if (members == 1) return Alone(plan, rank, group_of);
  const int64_t count = parts->Largest();
  Side sent = {{BoxWalk()}, {0}, count, plan.source_offset};
  if (parts->elements(own) > 0) {
    const int reader = parts->members[own == 0 ? 1 : 0];
    sent.walks[0] = Only(PieceFrom(plan, reader, rank)->walk, 0);
  }
  Side received = {std::vector<BoxWalk>(members), EvenStarts(members, count),
                   count * static_cast<int64_t>(members), plan.destination_offset};
  for (size_t m = 0; m < members; ++m) {
    const Piece* const piece = PieceFrom(plan, rank, parts->members[m]);
    if (piece != nullptr) received.walks[m] = Only(piece->walk, 1);
  }
  CallMaker maker(plan, RankCall::kAllGather, group_of);
  const bool in_place = received.walks[own].extents.empty() && parts->elements(own) > 0;
  if (!in_place) return maker.Make(count, sent, received, received.starts[own]);
  // Its own part lies where it belongs: with it the others may be received as they lie there, and
  // without it they are unpacked around it.
  Side with_own = received;
  with_own.walks[own] = sent.walks[0];
  return maker.Make(count, sent, with_own.Direct().has_value() ? with_own : received,
                    received.starts[own]);
}

absl::optional<RankExchange> ReduceScatterOf(const ExchangePlan& plan, int rank) {
  const std::vector<int> group_of = FirstOfGroups(plan);
  const auto parts = OwnParts(
      group_of, rank, [&](const Members& members) { return IfEven(CombinedParts(plan, members)); });
  if (!parts.has_value()) return absl::nullopt;
  const size_t members = parts->members.size(), own = parts->IndexOf(rank);
  if (members == 1) return Alone(plan, rank, group_of);
  const int64_t count = parts->Largest();
  const Side sent = {PartialsOf(plan, *parts, rank), EvenStarts(members, count),
                     count * static_cast<int64_t>(members), plan.source_offset};
  Side received = {{BoxWalk()}, {0}, count, plan.destination_offset};
  const Cell* const cell = CellOf(plan, rank);
  if (cell != nullptr) received.walks[0] = Only(cell->walk, cell->sources.size());
  return CallMaker(plan, RankCall::kReduceScatter, group_of)
      .Make(count, sent, received, sent.starts[own]);
}

absl::optional<RankExchange> AllReduceOf(const ExchangePlan& sum, const ExchangePlan& gather,
                                         int rank) {
  if (sum.combination.from != sum.combination.to ||
      gather.source_offset != sum.destination_offset ||
      gather.destination_offset != sum.destination_offset) {
    return absl::nullopt;
  }
  const std::vector<int> group_of = FirstOfGroups(sum);
  if (FirstOfGroups(gather) != group_of) return absl::nullopt;
  const auto parts = OwnParts(group_of, rank, [&](const Members& members) -> absl::optional<Parts> {
    absl::optional<Parts> summed = CombinedParts(sum, members);
    const absl::optional<Parts> gathered = GatheredParts(gather, members);
    if (!summed.has_value() || !gathered.has_value()) return absl::nullopt;
    for (size_t m = 0; m < members.size(); ++m) {
      const Box* const part = summed->boxes[m];
      const Box* const there = gathered->boxes[m];
      const bool same = part != nullptr && there != nullptr ? *part == *there : part == there;
      const bool alone = members.size() == 1;  // nobody reads what it has
      if (!(same || alone) || PieceFrom(gather, members[m], members[m]) != nullptr)
        return absl::nullopt;
    }
    return summed;
  });
  if (!parts.has_value()) return absl::nullopt;
  const size_t members = parts->members.size();
  if (members == 1) return Alone(sum, rank, group_of);
  std::vector<int64_t> starts;
  for (size_t m = 0; m < members; ++m)
    starts.push_back(m == 0 ? 0 : starts[m - 1] + parts->elements(m - 1));
  const int64_t count = parts->Total();
  const Side sent = {PartialsOf(sum, *parts, rank), starts, count, sum.source_offset};
  Side received = {std::vector<BoxWalk>(members), starts, count, sum.destination_offset};
  for (size_t m = 0; m < members; ++m) {
    if (parts->elements(m) == 0) continue;
    const Cell& cell = *CellOf(sum, parts->members[m]);
    received.walks[m] = parts->members[m] == rank
                            ? Only(cell.walk, cell.sources.size())
                            : Only(PieceFrom(gather, rank, parts->members[m])->walk, 1);
  }
  return CallMaker(sum, RankCall::kAllReduce, group_of).Make(count, sent, received, 0);
}

}  // namespace yuba::runtime
