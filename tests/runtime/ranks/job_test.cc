// A job goes on while all ranks do, and ends on all for one reason that names the rank.
#include "runtime/ranks/job.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tests/runtime/ranks/run_job.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

void AllEnd(const std::vector<Outcome>& outcomes, const std::string& text) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    INFO("rank " << rank);
    CHECK_THAT(outcomes[rank].joined, IsOk());
    CHECK_THAT(outcomes[rank].ended, Fails(text));
    CHECK(outcomes[rank].code == 3);
    CHECK(!outcomes[rank].closed);
  }
}

int WaitForEnd(const Job& job) {
  while (job.ended().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 0;
}

TEST_CASE("messages of any size arrive in their order") {
  for (const bool rendezvous : {false, true}) {
    for (int size = 1; size <= 4; ++size) {
      LocalNetwork network(size);
      network.SetRendezvous(rendezvous);
      std::vector<std::string> received(size);
      const auto outcomes = RunJob(network, FactsOfRanks(size), Long(), [&](Job& job) {
        const int next = job.rank() + 1, last = job.rank() - 1;
        for (const int length : {3, 0, 1000}) {
          std::string bytes(length, 'x');
          if (last >= 0 && !job.Receive(last, &bytes[0], length).ok()) return 1;
          received[job.rank()] += bytes;
          if (next < size && !job.Send(next, bytes).ok()) return 1;
        }
        return 0;
      });
      for (int rank = 0; rank < size; ++rank) {
        CHECK_THAT(outcomes[rank].ended, IsOk());
        CHECK(outcomes[rank].code == 0);
        CHECK(outcomes[rank].closed);
        CHECK(received[rank] == std::string(1003, 'x'));
        CHECK(network.IsClosed(rank));
      }
    }
  }
}

TEST_CASE("all leave with the first code that is not 0, when all have come") {
  LocalNetwork network(4);
  std::atomic<int> came{0};
  const auto outcomes = RunJob(network, FactsOfRanks(4), Long(), [&](Job& job) {
    if (job.rank() == 3) {  // the others are waited for, and wait
      while (came < 3) std::this_thread::yield();
    }
    ++came;
    return std::vector<int>{0, 0, 5, 4}[job.rank()];
  });
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.code == 5);
    CHECK_THAT(outcome.ended, IsOk());
  }
  CHECK(outcomes[0].speaks);
  CHECK(!outcomes[1].speaks);
}

TEST_CASE("rank 0's bytes and what is true on any rank are known to all") {
  LocalNetwork network(3);
  std::vector<std::string> texts(3), answers(3);
  RunJob(network, FactsOfRanks(3), Long(), [&](Job& job) {
    for (const char* text : {"", "one text"}) {
      const auto got = job.FromFirst(job.rank() == 0 ? text : "not this");
      texts[job.rank()] += got.ok() ? *got + "|" : "error";
    }
    for (int who = -1; who < 3; ++who) {
      const auto any = job.AnyOf(job.rank() == who);
      answers[job.rank()] += any.ok() ? (*any ? "1" : "0") : "error";
    }
    return 0;
  });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(texts[rank] == "|one text|");
    CHECK(answers[rank] == "0111");
  }
}

TEST_CASE("values that must agree and do not are the same error on all") {
  LocalNetwork network(3);
  std::vector<absl::Status> same(3), other(3);
  RunJob(network, FactsOfRanks(3), Long(), [&](Job& job) {
    same[job.rank()] = job.MustAgree(uint64_t{1} << 63, "program");
    other[job.rank()] = job.MustAgree(job.rank() == 2 ? 8 : 7, "program");
    return 0;
  });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK_THAT(same[rank], IsOk());
    CHECK_THAT(other[rank], StatusIs(absl::StatusCode::kInvalidArgument,
                                     "rank 2 (host host2, process 102) has another program than "
                                     "rank 0 (host host0, process 100)"));
  }
}

TEST_CASE("what one rank cannot do ends all, with its reason and where it was") {
  for (int failing = 0; failing < 3; ++failing) {
    LocalNetwork network(3);
    std::vector<absl::Status> received(3);
    const auto outcomes = RunJob(network, FactsOfRanks(3), Long(), [&](Job& job) {
      if (job.rank() == failing) {
        job.SetDescribe([](int instruction) { return absl::StrCat("product ", instruction); });
        job.Enter(12, 8);
        job.Fail(absl::InvalidArgumentError("no such file"));
        job.Fail(absl::InternalError("what follows from it"));
      }
      char byte = 0;
      received[job.rank()] =
          job.Receive((failing + 1) % 3 == job.rank() ? failing : (failing + 1) % 3, &byte, 1);
      return 0;
    });
    const std::string text =
        absl::StrCat("rank ", failing, " (host host", failing, ", process ", 100 + failing,
                     ") in step 12, instruction 8 (product 8): no such file");
    AllEnd(outcomes, text);
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(outcomes[rank].ended.code() == absl::StatusCode::kInvalidArgument);
      CHECK(received[rank] == outcomes[rank].ended);
    }
    CHECK(outcomes[0].speaks);
    CHECK(!outcomes[1].speaks);
  }
}

TEST_CASE("a rank whose connections close is lost, and who waits for it is named") {
  LocalNetwork network(3);
  const auto outcomes = RunJob(network, FactsOfRanks(3), Long(), [&](Job& job) {
    job.Enter(2, 7);
    if (job.rank() == 2) {
      for (int i = 0; i < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      network.Drop(2);
      return WaitForEnd(job);
    }
    char byte = 0;
    return job.Receive(2, &byte, 1).ok() ? 1 : 0;
  });
  const std::vector<Outcome> living(outcomes.begin(), outcomes.begin() + 2);
  AllEnd(living,
         "rank 2 (host host2, process 102) is lost: connection closed by peer; it was last heard "
         "of in step 2, "
         "instruction 7; rank 0 (host host0, process 100) waits for it in step 2, instruction 7; "
         "rank 1 (host host1, process 101) waits for it in step 2, instruction 7");
  CHECK_THAT(outcomes[2].ended, Fails("rank 0 (host host0, process 100) is lost"));
  CHECK(outcomes[0].speaks);
  CHECK(!outcomes[1].speaks);
}

TEST_CASE("rank 0's loss ends each other rank, and each says so") {
  for (const bool drops : {true, false}) {
    LocalNetwork network(3);
    const auto outcomes = RunJob(network, FactsOfRanks(3), Short(), [&](Job& job) {
      if (job.rank() == 0) drops ? network.Drop(0) : network.Silence(0);
      char byte = 0;
      job.SetBusy(true);
      return job.rank() == 0 || !job.Receive(0, &byte, 1).ok() ? 0 : 1;
    });
    for (int rank = 1; rank < 3; ++rank) {
      CHECK_THAT(outcomes[rank].ended, Fails("rank 0 (host host0, process 100) is lost: "));
      CHECK(outcomes[rank].code == 3);
      CHECK(outcomes[rank].speaks);
    }
  }
}

TEST_CASE("a rank that says nothing is lost") {
  LocalNetwork network(3);
  JobOptions options = Short();
  options.timeout_seconds = 60;
  const auto outcomes = RunJob(network, FactsOfRanks(3), options, [&](Job& job) {
    if (job.rank() == 1) network.Silence(1);
    char byte = 0;
    return job.rank() == 1 ? WaitForEnd(job) : job.Receive(1, &byte, 1).ok();
  });
  const std::string text =
      "rank 1 (host host1, process 101) is lost: no word of it has come for 0.8 s";
  CHECK_THAT(outcomes[0].ended, Fails(text));
  CHECK_THAT(outcomes[2].ended, Fails(text));
  CHECK_THAT(outcomes[1].ended, Fails("rank 0 (host host0, process 100) is lost"));
}

TEST_CASE("at the end of a chain of ranks that wait is the one that does not get on") {
  LocalNetwork network(4);
  JobOptions options = Short();
  options.silence_seconds = 60;
  const auto outcomes = RunJob(network, FactsOfRanks(4), options, [&](Job& job) {
    job.Enter(3, job.rank());
    if (job.rank() == 1) return WaitForEnd(job);  // works for ever
    char byte = 0;
    const int other = std::vector<int>{3, -1, 1, 2}[job.rank()];
    return job.Receive(other, &byte, 1).ok() ? 1 : 0;
  });
  AllEnd(outcomes,
         "rank 1 (host host1, process 101) has not got on for 0.4 s; it is in step 3, instruction "
         "1; rank 2 (host host2, process 102) waits for it in step 3, instruction 2; see");
}

TEST_CASE("ranks that wait for each other are a deadlock") {
  LocalNetwork network(4);
  JobOptions options = Short();
  options.silence_seconds = 60;
  const auto outcomes = RunJob(network, FactsOfRanks(4), options, [&](Job& job) {
    job.Enter(1, 5);
    char byte = 0;
    const int other = std::vector<int>{1, 3, 1, 2}[job.rank()];
    return job.Receive(other, &byte, 1).ok() ? 1 : 0;
  });
  AllEnd(outcomes,
         "deadlock for 0.4 s: rank 1 (host host1, process 101) in step 1, instruction 5 waits for "
         "rank 3; rank 3 (host host3, process 103) in step 1, instruction 5 waits for rank 2; "
         "rank 2 (host host2, process 102) in step 1, instruction 5 waits for rank 1");
}

TEST_CASE("who has come to its end waits for a rank that does not get on") {
  LocalNetwork network(2);
  JobOptions options = Short();
  options.silence_seconds = 60;
  const auto outcomes = RunJob(network, FactsOfRanks(2), options,
                               [&](Job& job) { return job.rank() == 0 ? WaitForEnd(job) : 0; });
  AllEnd(outcomes,
         "rank 0 (host host0, process 100) has not got on for 0.4 s; it is before its first step; "
         "rank 1 (host host1, process 101) waits for it at its end");
}

TEST_CASE("a rank that is busy, or gets on, is waited for") {
  LocalNetwork network(3);
  JobOptions options = Short();
  options.silence_seconds = 60;
  const auto outcomes = RunJob(network, FactsOfRanks(3), options, [&](Job& job) {
    char byte = 0;
    if (job.rank() == 0)
      return job.Receive(1, &byte, 1).ok() && job.Receive(2, &byte, 1).ok() ? 0 : 1;
    if (job.rank() == 1) job.SetBusy(true);
    for (int i = 0; i < 20; ++i) {  // together longer than the limit
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (job.rank() == 2) job.GotOn();
    }
    job.SetBusy(false);
    return job.Send(0, "x").ok() ? 0 : 1;
  });
  for (const Outcome& outcome : outcomes) {
    CHECK_THAT(outcome.ended, IsOk());
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("words that come late are no loss") {
  LocalNetwork network(2);
  network.Delay(1, 0.1);
  const auto outcomes = RunJob(network, FactsOfRanks(2), Long(), [&](Job& job) {
    bool any = true;
    for (int i = 0; i < 3; ++i) any = any && job.AnyOf(job.rank() == 1).value_or(false);
    return any ? 0 : 1;
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.code == 0);
}

TEST_CASE("a transport that hangs is left behind") {
  JobOptions options = Short();
  options.timeout_seconds = 60;
  auto& gone = *new LocalNetwork(2);  // threads wait in them for ever
  const auto lost = RunJob(gone, FactsOfRanks(2), options, [&](Job& job) {
    gone.Deafen(0);
    if (job.rank() == 1) gone.Silence(1);
    return WaitForEnd(job);
  });
  CHECK_THAT(lost[0].ended, Fails("rank 1 (host host1, process 101) is lost"));
  auto& closing = *new LocalNetwork(2);
  const auto closed = RunJob(closing, FactsOfRanks(2), options, [&](Job& job) {
    if (job.rank() == 1) closing.Deafen(1);
    return 0;
  });
  CHECK(closed[0].code == 0);
  CHECK(closed[0].closed);
  CHECK(closed[1].code == 0);
  CHECK(!closed[1].closed);
}

TEST_CASE("who hangs after the job's end is ended from another thread") {
  JobOptions options = Short();
  options.timeout_seconds = 60;
  auto& network = *new LocalNetwork(3);  // threads wait in it for ever
  std::atomic<int> hung{-1}, calls{0};
  std::atomic<bool> is_deaf{false};
  std::vector<std::unique_ptr<Job>> jobs(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      jobs[rank] = *Job::Join(network.Open(rank), FactsOfRanks(3)[rank], options);
      Job& job = *jobs[rank];
      const absl::Status limited = job.OnHang(0.1, [&, rank] {
        hung = rank;
        ++calls;
      });
      if (!limited.ok()) return;
      if (rank == 1) {
        char byte = 0;
        network.Deafen(1);
        is_deaf = true;
        (void)job.Receive(2, &byte, 1);  // which the end of the job does not end
      }
      while (!is_deaf) std::this_thread::yield();
      if (rank == 2) job.Fail(InternalError("no more"));
      WaitForEnd(job);
      job.Leave(0);
    });
  }
  threads[0].join();
  threads[2].join();
  while (calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  threads[1].detach();
  jobs[1].release();  // the thread that hangs uses it
  CHECK(hung == 1);
  CHECK(calls == 1);
}

TEST_CASE("what a failed transfer is a sign of") {
  LocalNetwork network(3);
  std::vector<absl::Status> reasons(3);
  const auto outcomes = RunJob(network, FactsOfRanks(3), Long(), [&](Job& job) {
    job.Enter(4, 2);
    if (job.rank() == 1) {
      reasons[1] = job.EndOf({"reset by peer", 2, false});
      return 0;
    }
    WaitForEnd(job);
    reasons[job.rank()] = job.EndOf({"aborted", -1, true});
    return 0;
  });
  AllEnd(outcomes,
         "rank 2 (host host2, process 102) is lost: reset by peer; it was last heard of in step 4");
  for (int rank = 0; rank < 3; ++rank) CHECK(reasons[rank] == outcomes[rank].ended);
}

TEST_CASE("ranks that do not fit are the same error on all") {
  const auto errors_of = [](const std::vector<RankFacts>& facts) {
    LocalNetwork network(static_cast<int>(facts.size()));
    const auto outcomes = RunJob(network, facts, Long(), [](Job&) { return 0; });
    for (const Outcome& outcome : outcomes) CHECK(outcome.joined == outcomes[0].joined);
    return outcomes[0].joined;
  };
  std::vector<RankFacts> facts = FactsOfRanks(3);
  facts[2].version = "2.0";
  CHECK_THAT(errors_of(facts), Fails("rank 2 (host host2, process 102) is version 2.0 of the "
                                     "command, rank 0 (host host0, process 100) is version 1.0"));
  facts = FactsOfRanks(3);
  facts[1].size = 4;
  CHECK_THAT(errors_of(facts), Fails("rank 1 (host host1, process 101) is one of 4 ranks, rank 0 "
                                     "(host host0, process 100) one of 3"));
  facts = FactsOfRanks(3);
  facts[2].rank = 1;
  CHECK_THAT(errors_of(facts), Fails("rank 1 is there twice: rank 1 (host host1, process 101) and "
                                     "rank 1 (host host2, process 102); missing: 2"));
  facts = FactsOfRanks(1);
  facts[0].size = 2;
  CHECK_THAT(errors_of(facts), Fails("test says that there are 2 ranks, and local connects 1"));
}

TEST_CASE("a rank that does not come to the roll call is named") {
  LocalNetwork network(3);
  std::vector<RankFacts> facts = FactsOfRanks(3);
  network.Silence(2);
  const auto outcomes = RunJob(network, facts, Short(), [](Job&) { return 0; });
  const std::string text = "rank 2: no word of it within 0.8 s";
  CHECK_THAT(outcomes[0].joined, Fails(text));
  CHECK_THAT(outcomes[1].joined, Fails(text));
}

TEST_CASE("processors of a host are shared by the ranks that may run on them") {
  std::vector<RankFacts> facts = FactsOfRanks(4);
  for (RankFacts& rank : facts) rank.host = "one";
  facts[3].host = "another";
  facts[0].processors = facts[1].processors = {0, 1, 2, 3, 70};
  facts[2].processors = {8};
  facts[3].processors = {0, 1, 2};
  LocalNetwork network(4);
  std::vector<int> own(4), here(4);
  RunJob(network, facts, Long(), [&](Job& job) {
    own[job.rank()] = job.OwnProcessors();
    here[job.rank()] = job.RanksOfThisHost();
    return 0;
  });
  CHECK(own == std::vector<int>{2, 2, 1, 3});
  CHECK(here == std::vector<int>{3, 3, 3, 1});
}

}  // namespace
}  // namespace yuba::runtime
