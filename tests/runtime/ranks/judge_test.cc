// What rank 0 concludes from what came of each rank, and when.
#include "runtime/ranks/judge.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/ranks/facts_text.h"
#include "tests/runtime/ranks/run_job.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// Three ranks, each of which has said a word more at each look, unless it is silent.
struct Court {
  explicit Court(const JobOptions& options = {10, 5, 0.1}) : judge(FactsOfRanks(3), options) {}

  // "" where the job goes on.
  std::string Look(double passed) {
    for (int rank = 1; rank < 3; ++rank) {
      if (rank != silent) ++heard[rank].words;
    }
    verdict = judge.Look(passed, heard, nullptr);
    return verdict.has_value() ? std::string(verdict->reason.message()) : "";
  }
  RankWord& word(int rank) { return heard[rank].word; }
  void Report(int rank, runtime::Report report, int peer, const std::string& text) {
    word(rank).report = report;
    word(rank).lost_peer = peer;
    word(rank).status_code = static_cast<int>(absl::StatusCode::kInternal);
    word(rank).text.Set(text);
  }

  Judge judge;
  std::vector<Heard> heard = std::vector<Heard>(3);
  int silent = -1;
  absl::optional<Verdict> verdict;
};

using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("a rank that says why it failed is believed before those that lost it") {
  Court court;
  court.heard[2].lost = "connection closed by peer";
  court.heard[2].lost_peer = 2;
  CHECK(court.Look(0.1).empty());
  court.Report(1, Report::kNoPeer, 2, "reset");
  CHECK(court.Look(0.2).empty());
  court.Report(1, Report::kFailed, -1, "in step 1: no memory");
  CHECK(court.Look(0.1) == "rank 1 (host host1, process 101) in step 1: no memory");
}

TEST_CASE("without such a word the first that was lost is the reason, after a while") {
  Court court;
  court.Report(1, Report::kNoPeer, -1, "some rank is gone");
  CHECK(court.Look(0.1).empty());
  court.Report(0, Report::kNoPeer, 2, "reset");
  CHECK(court.Look(0.2).empty());
  court.heard[1].lost = "closed";
  court.heard[1].lost_peer = 1;
  CHECK(court.Look(0.1).empty());
  CHECK_THAT(court.Look(0.3), StartsWith("rank 2 (host host2, process 102) is lost: reset; it was "
                                         "last heard of before its first step"));
  CHECK(court.verdict->silent == -1);
}

TEST_CASE("a fault that names no rank is that of who reports it") {
  Court court;
  court.Report(1, Report::kNoPeer, 7, "no route");
  CHECK(court.Look(0.1).empty());
  CHECK_THAT(court.Look(0.6), StartsWith("rank 1 (host host1, process 101) before its first step "
                                         "cannot reach the other ranks: no route"));
}

TEST_CASE("words count for silence, whatever they say") {
  Court court;
  for (int i = 0; i < 100; ++i) REQUIRE(court.Look(1).empty());
  court.silent = 2;
  for (int i = 0; i < 4; ++i) CHECK(court.Look(1).empty());
  CHECK_THAT(court.Look(1), Contains("rank 2 (host host2, process 102) is lost: no word of it has "
                                     "come for 5 s"));
  CHECK(court.verdict->silent == 2);
}

TEST_CASE("a rank may take its time while nobody waits for it, or while it is busy or gets on") {
  Court court;
  for (int i = 0; i < 20; ++i) REQUIRE(court.Look(1).empty());
  court.word(1).busy = 1;
  court.word(0).state.waits_for = 1;
  for (int i = 0; i < 20; ++i) REQUIRE(court.Look(1).empty());
  court.word(1).busy = 0;
  for (int i = 0; i < 20; ++i) {
    ++court.word(1).state.progress;
    REQUIRE(court.Look(1).empty());
  }
  for (int i = 0; i < 9; ++i) REQUIRE(court.Look(1).empty());
  CHECK_THAT(court.Look(1), StartsWith("rank 1 (host host1, process 101) has not got on for 10 s"));
}

TEST_CASE("who waits is never the reason, unless in a circle") {
  Court court;
  court.word(0).state.waits_for = 1;
  court.word(1).state.waits_for = 2;
  for (int i = 0; i < 30; ++i) {
    ++court.word(2).state.progress;
    REQUIRE(court.Look(1).empty());
  }
  court.word(2).state.waits_for = 1;
  court.word(2).busy = 1;
  for (int i = 0; i < 30; ++i) REQUIRE(court.Look(1).empty());
  court.word(2).busy = 0;
  for (int i = 0; i < 10; ++i) REQUIRE(court.Look(1).empty());
  CHECK_THAT(court.Look(1), StartsWith("deadlock for 10 s: rank 1 (host host1, process 101) before "
                                       "its first step waits for rank 2; rank 2 "));
  court.word(2).state.waits_for = 77;  // no rank
  CHECK(court.Look(1).empty());
}

TEST_CASE("facts survive as bytes, and other bytes are none") {
  RankFacts facts = {3, 5, "mpirun", "a host\n", -4, std::string(1000, 'v'), {0, 5, 6, 700, -1}};
  const std::string bytes = FactsText(facts);
  CHECK(bytes.size() == kFactsBytes);
  const auto read = FactsOf(bytes);
  REQUIRE(read.has_value());
  CHECK(read->rank == 3);
  CHECK(read->size == 5);
  CHECK(read->launcher == "mpirun");
  CHECK(read->host == "a host ");
  CHECK(read->process == -4);
  CHECK(read->version == std::string(250, 'v'));
  CHECK(read->processors == std::vector<int>{0, 5, 6, 700});
  for (size_t length = 0; length < 300; ++length) {
    FactsOf(bytes.substr(0, length));  // ends in order
  }
  CHECK(!FactsOf("").has_value());
  CHECK(!FactsOf(std::string(kFactsBytes, '\n')).has_value());
  CHECK(!FactsOf("yuba rank\n1\nx\n2\nl\nh\n3\n\n").has_value());
}

TEST_CASE("a text that is too long is cut at the end of a character") {
  WordText text;
  text.Set(std::string(1998, 'x') + "\xc3\xa4");
  CHECK(text.Get() == std::string(1998, 'x'));
  text.Set("short");
  CHECK(text.Get() == "short");
}

}  // namespace
}  // namespace yuba::runtime
