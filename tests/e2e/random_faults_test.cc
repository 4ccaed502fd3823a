// A training of several ranks in which something happens to one of them at a random moment, start
// and end too: it is killed, stopped or asked to end, a connection of it is closed, or its disk is
// full. What must hold then is in disturbed_training.h.
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/disturbed_training.h"
#include "tests/e2e/rank_processes.h"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

struct Disturbance {
  Accident accident = Accident::kKilled;
  int rank = 0;
  double moment = 0;    // seconds after the ranks have begun
  unsigned number = 0;  // for what else is left to chance
};

std::string NameOf(Accident accident) {
  switch (accident) {
    case Accident::kKilled: return "killed";
    case Accident::kStopped: return "stopped";
    case Accident::kAsked: return "asked to end";
    case Accident::kClosed: return "a connection closed";
    case Accident::kFull: return "disk full";
  }
  return "";
}

std::string Text(int time, const Disturbance& disturbance, int ranks) {
  return "time " + std::to_string(time) + ": " + NameOf(disturbance.accident) + ", rank " +
         std::to_string(disturbance.rank) + " of " + std::to_string(ranks) + " after " +
         std::to_string(disturbance.moment) + " s";
}

// The file that says that a connection has been closed.
std::string NoteOf(const DisturbedTraining& training) { return training.out() + "/closed"; }

// What stands before a line that starts ranks, one of which will close a connection.
std::string Closing(const DisturbedTraining& training, const Disturbance& disturbance,
                    int highest_port = 65535) {
  return "env LD_PRELOAD=" + RepositoryFile("tests/e2e/libclose_connection.so") +
         " YUBA_TEST_CLOSE='" + std::to_string(disturbance.rank) + " " +
         std::to_string(disturbance.moment) + " " + std::to_string(disturbance.number) + " " +
         std::to_string(highest_port) + " " + NoteOf(training) + "' ";
}

// All accidents but kClosed, which is in the line.
void Happen(const DisturbedTraining& training, const Disturbance& disturbance, pid_t process) {
  SleepFor(disturbance.moment);
  switch (disturbance.accident) {
    case Accident::kKilled: kill(process, SIGKILL); break;
    case Accident::kStopped: kill(process, SIGSTOP); break;
    case Accident::kAsked: kill(process, SIGTERM); break;
    case Accident::kClosed: break;
    case Accident::kFull: {
      // From now on no file grows beyond a part of a checkpoint. What is printed fits.
      constexpr rlim_t kPrinted = 64 << 10;
      REQUIRE(training.checkpoint_bytes() > kPrinted);
      const rlim_t most = kPrinted + disturbance.number % (training.checkpoint_bytes() - kPrinted);
      const struct rlimit limit = {most, most};
      prlimit(process, RLIMIT_FSIZE, &limit, nullptr);
      break;
    }
  }
}

void Disturb(const DisturbedTraining& training, const Disturbance& disturbance) {
  const int ranks = training.ranks();
  const bool closes = disturbance.accident == Accident::kClosed;
  training.Clear();
  RankProcesses job((closes ? Closing(training, disturbance) : "") + training.Disturbed());
  const std::vector<pid_t> processes = job.Find(ranks);
  REQUIRE((closes || static_cast<int>(processes.size()) == ranks));
  if (!closes) Happen(training, disturbance, processes[disturbance.rank]);
  CheckEnd(training, job, disturbance.accident, disturbance.rank);
  // What did not happen has ended nothing.
  if (closes && job.Await() != 0) CHECK(std::filesystem::exists(NoteOf(training)));
}

// Each accident so many times.
void DisturbAtRandom(int ranks, int times, unsigned seed) {
  const DisturbedTraining training(ranks);
  std::mt19937 random(seed);
  for (int i = 0; i < times; ++i) {
    for (const Accident accident : {Accident::kKilled, Accident::kStopped, Accident::kAsked,
                                    Accident::kClosed, Accident::kFull}) {
      // Rank 0 writes all files.
      const int rank = accident == Accident::kFull ? 0 : static_cast<int>(random() % ranks);
      const double part = static_cast<double>(random() % 1000) / 1000;
      const Disturbance disturbance = {accident, rank, 1.1 * training.seconds() * part,
                                       static_cast<unsigned>(random())};
      INFO(Text(i, disturbance, ranks));
      Disturb(training, disturbance);
    }
  }
}

TEST_CASE("two ranks, to one of which something happens at some moment") {
  DisturbAtRandom(2, TriesAll() ? 6 : 2, 1);
}
TEST_CASE("four ranks, to one of which something happens at some moment") {
  DisturbAtRandom(4, TriesAll() ? 4 : 1, 2);
}

// Open MPI's connections between ranks have one end below this; those to mpirun, without which it
// may itself hang, have none.
constexpr int kMpisPorts = 20000;

// mpirun ends all when one is killed; a rank that is stopped is found by us. Connections are not
// closed here but where all is tried: Open MPI makes a new one, ends its process, for which mpirun
// may only leave an exit code, or was seen to wait for minutes.
TEST_CASE("under mpirun no rank is left either, and the checkpoint is whole") {
  if (!IsThere("mpirun.openmpi")) {
    WARN("SKIP: mpirun.openmpi is missing");
    return;
  }
  for (const int ranks : {2, 4}) {
    const DisturbedTraining training(ranks);
    const auto start = std::chrono::steady_clock::now();
    training.IsComplete(Succeed(training.UnderMpirun("")).out);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    std::mt19937 random(3);
    for (int i = 0; i < (TriesAll() ? 8 : 4); ++i) {
      const Accident closed = TriesAll() ? Accident::kClosed : Accident::kKilled;
      const std::vector<Accident> accidents = {Accident::kStopped, closed, Accident::kKilled,
                                               closed};
      const Accident accident = accidents[i % accidents.size()];
      const double part = static_cast<double>(random() % 1000) / 1000;
      const Disturbance disturbance = {accident, static_cast<int>(random() % ranks),
                                       whole.count() * part, static_cast<unsigned>(random())};
      INFO("mpirun, " << Text(i, disturbance, ranks));
      training.Clear();
      const bool closes = accident == Accident::kClosed;
      RankProcesses job((closes ? Closing(training, disturbance, kMpisPorts) : "") +
                        training.UnderMpirun(closes ? "--mca btl tcp,self" : ""));
      const std::vector<pid_t> processes = job.Find(ranks);
      REQUIRE((closes || static_cast<int>(processes.size()) == ranks));
      if (!closes) Happen(training, disturbance, processes[disturbance.rank]);
      if (accident == Accident::kStopped) {
        job.AwaitOthers(processes[disturbance.rank]);
        // Where all was done, which mpirun prints in its own time, it waits for a rank as long as
        // that is stopped; else it kills it.
        const pid_t stopped = processes[disturbance.rank];
        for (int look = 0; look < 100 && job.Out().empty() && kill(stopped, 0) == 0; ++look)
          SleepFor(0.1);
        if (!job.Out().empty()) kill(stopped, SIGCONT);
      }
      const int code = job.Await();
      const nlohmann::json ended = training.Ended();
      INFO("exit code " << code << ", " << ended.dump() << "\n" << job.Error());
      if (code == 0) training.IsComplete(job.Out());
      if (code == 3) {  // is ours
        REQUIRE(ended.is_object());
        CHECK(Contains(ended["reason"], "rank "));
      }
      training.GoesOn();
    }
  }
}

// Each that the rank has by then, to the other rank: that of the data and that of control.
TEST_CASE("any connection that is closed ends a training that would go on for ever") {
  const DisturbedTraining training(2);
  for (const int rank : {0, 1}) {
    unsigned connections = 1;
    for (unsigned number = 0; number < connections; ++number) {
      const Disturbance disturbance = {Accident::kClosed, rank, training.seconds(), number};
      INFO("rank " << rank << ", connection " << number << " of " << connections);
      training.Clear();
      RankProcesses job(Closing(training, disturbance) + training.Disturbed(1000000));
      const int code = job.Await();
      INFO(job.Error());
      CHECK(code == 3);
      const std::string note = ReadFile(NoteOf(training));
      REQUIRE(!note.empty());
      if (number == 0) connections = static_cast<unsigned>(std::stoul(note));
      CHECK(Contains(job.Error(), "rank "));
      CHECK(training.Ended()["rank"].is_number());
    }
  }
}

}  // namespace
}  // namespace yuba
