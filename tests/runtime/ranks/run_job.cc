#include "tests/runtime/ranks/run_job.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace yuba::runtime {

JobOptions Long() { return {60, 60, 0.01}; }
JobOptions Short() { return {0.4, 0.8, 0.01}; }

std::vector<RankFacts> FactsOfRanks(int size) {
  std::vector<RankFacts> facts;
  for (int rank = 0; rank < size; ++rank) {
    facts.push_back({rank, size, "test", "host" + std::to_string(rank), 100 + rank, "1.0", {0}});
  }
  return facts;
}

std::vector<Outcome> RunJob(LocalNetwork& network, const std::vector<RankFacts>& facts,
                            const JobOptions& options, const std::function<int(Job&)>& run) {
  std::vector<Outcome> outcomes(facts.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    threads.emplace_back([&, rank] {
      Outcome& outcome = outcomes[rank];
      auto job = Job::Join(network.Open(static_cast<int>(rank)), facts[rank], options);
      outcome.joined = job.status();
      if (!job.ok()) return;
      outcome.code = (*job)->Leave(run(**job));
      outcome.ended = (*job)->ended();
      outcome.speaks = (*job)->Speaks();
      outcome.closed = (*job)->Closed();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace yuba::runtime
