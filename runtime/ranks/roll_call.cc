#include "runtime/ranks/roll_call.h"

#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "opsemantics/base/start_thread.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/alarm.h"
#include "runtime/ranks/facts_text.h"
#include "runtime/ranks/rank_text.h"
#include "runtime/ranks/words.h"

namespace yuba::runtime {
namespace {

// Rank 0's answer; where all is well the facts of all follow it as one message. Of the same bytes
// in all versions.
struct RollAnswer {
  int64_t code = 0;  // of the status
  WordText text;
};

static_assert(sizeof(RollAnswer) == 2008, "other versions await so much");

TransportError Move(Transport& transport, Channel channel, const Message& message) {
  return transport.Start(channel, {message})->Wait();
}

// A byte behind the answer, so that rank 0 does not go before it was heard.
TransportError Heard(Transport& transport, int rank, Direction direction) {
  char byte = 0;
  return Move(transport, Channel::kControl, {rank, direction, &byte, 1});
}

// What came of each rank: facts, or why not.
struct Arrivals {
  std::vector<absl::optional<RankFacts>> facts;
  std::vector<std::string> problems;
};

// Waits for all at once, so that each that is missing can be named.
Arrivals Gather(Transport& transport, const RankFacts& own, double limit_seconds) {
  const int size = transport.size();
  Arrivals arrivals;
  arrivals.facts.resize(size);
  arrivals.problems.resize(size);
  arrivals.facts[0] = own;
  const auto receive = [&](int rank) {
    std::string bytes(kFactsBytes, '\0');
    const TransportError error =
        Move(transport, Channel::kData, {rank, Direction::kReceive, &bytes[0], kFactsBytes});
    if (error.ok()) {
      arrivals.facts[rank] = FactsOf(bytes);
      if (!arrivals.facts[rank]) arrivals.problems[rank] = "it is another version of the command";
    } else {
      arrivals.problems[rank] =
          error.aborted ? absl::StrCat("no word of it within ", limit_seconds, " s") : error.what;
    }
  };
  const Alarm alarm(limit_seconds, [&] { transport.Abort(Channel::kData); });
  std::vector<std::thread> threads;
  for (int rank = 1; rank < size; ++rank) {
    // Without a thread of its own each is waited for in turn.
    if (!StartThread(threads, [&receive, rank] { receive(rank); })) receive(rank);
  }
  for (std::thread& thread : threads) thread.join();
  return arrivals;
}

absl::Status Judged(const Arrivals& arrivals, const std::string& transport,
                    std::vector<RankFacts>& facts) {
  std::vector<std::string> missing;
  for (size_t rank = 0; rank < arrivals.facts.size(); ++rank) {
    if (arrivals.facts[rank].has_value()) {
      facts.push_back(*arrivals.facts[rank]);
    } else {
      missing.push_back(absl::StrCat("rank ", rank, ": ", arrivals.problems[rank]));
    }
  }
  if (missing.empty()) return CheckFacts(facts, transport);
  return InternalError("of ", arrivals.facts.size(), " ranks ", missing.size(), " did not come (",
                       absl::StrJoin(missing, "; "), "); ", NameOf(facts[0]),
                       " waited for them; look at what they wrote, and their launcher");
}

absl::StatusOr<std::vector<RankFacts>> CallAsFirst(Transport& transport, const RankFacts& own,
                                                   double limit_seconds) {
  std::vector<RankFacts> facts;
  const Arrivals arrivals = Gather(transport, own, limit_seconds);
  const absl::Status status = Judged(arrivals, transport.Name(), facts);
  RollAnswer answer;
  answer.code = static_cast<int64_t>(status.code());
  answer.text.Set(status.message());
  std::string table;
  for (const RankFacts& rank : facts) table += FactsText(rank);
  const Alarm alarm(limit_seconds, [&] { transport.Abort(Channel::kControl); });
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (int rank = 1; rank < transport.size(); ++rank) {
    std::vector<Message> messages = {
        {rank, Direction::kSend, reinterpret_cast<char*>(&answer), sizeof answer}};
    if (status.ok()) {
      messages.push_back({rank, Direction::kSend, &table[0], static_cast<int64_t>(table.size())});
    }
    transfers.push_back(transport.Start(Channel::kControl, messages));
  }
  absl::Status told;
  for (size_t i = 0; i < transfers.size(); ++i) {  // each is waited for, as it uses what is here
    const int rank = static_cast<int>(i) + 1;
    TransportError error = transfers[i]->Wait();
    if (error.ok() && arrivals.facts[rank].has_value()) {
      error = Heard(transport, rank, Direction::kReceive);
    }
    if (error.ok() || !told.ok()) continue;
    told = InternalError("rank ", rank, " does not answer any more: ", error.what);
  }
  YUBA_RETURN_IF_ERROR(status);
  YUBA_RETURN_IF_ERROR(told);
  return facts;
}

absl::StatusOr<std::vector<RankFacts>> CallAsOther(Transport& transport, const RankFacts& own,
                                                   double limit_seconds) {
  std::string bytes = FactsText(own);
  RollAnswer answer;
  std::string table(size_t{kFactsBytes} * transport.size(), '\0');
  // Rank 0 itself waits so long for others, and then tells of them.
  const Alarm alarm(2 * limit_seconds, [&] {
    transport.Abort(Channel::kData);
    transport.Abort(Channel::kControl);
  });
  TransportError error =
      Move(transport, Channel::kData, {0, Direction::kSend, &bytes[0], kFactsBytes});
  if (error.ok()) {
    error = Move(transport, Channel::kControl,
                 {0, Direction::kReceive, reinterpret_cast<char*>(&answer), sizeof answer});
  }
  if (error.ok() && answer.code != 0) {
    Heard(transport, 0, Direction::kSend);
    return absl::Status(static_cast<absl::StatusCode>(answer.code), answer.text.Get());
  }
  if (error.ok()) {
    error = Move(transport, Channel::kControl,
                 {0, Direction::kReceive, &table[0], static_cast<int64_t>(table.size())});
  }
  if (error.ok()) error = Heard(transport, 0, Direction::kSend);
  if (!error.ok()) {
    return InternalError("rank 0 does not answer ", NameOf(own), ": ",
                         error.aborted
                             ? absl::StrCat("no word of it within ", 2 * limit_seconds, " s")
                             : error.what);
  }
  std::vector<RankFacts> facts;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const auto one =
        FactsOf(absl::string_view(table).substr(size_t{kFactsBytes} * rank, kFactsBytes));
    if (!one.has_value()) return InternalError("rank 0 sends what are no facts of ranks");
    facts.push_back(*one);
  }
  return facts;
}

}  // namespace

absl::StatusOr<std::vector<RankFacts>> CallRoll(Transport& transport, const RankFacts& own,
                                                double limit_seconds) {
  return transport.rank() == 0 ? CallAsFirst(transport, own, limit_seconds)
                               : CallAsOther(transport, own, limit_seconds);
}

}  // namespace yuba::runtime
