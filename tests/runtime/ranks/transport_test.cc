// Every transport there is, held to what transport.h promises, by jobs of several processes on this
// machine (transport_worker.cc).
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/ranks/open_transport.h"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba::runtime {
namespace {

std::string Transports() { return RepositoryFile("runtime/ranks/transports"); }
std::string Worker() { return RepositoryFile("tests/runtime/ranks/transport_worker"); }

bool IsProgram(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

// A transport, and how its ranks are started.
struct Started {
  std::string transport, launcher;  // "": each rank by hand
  std::vector<int> sizes;
};

const Started kStarted[] = {
    {"gloo", "", {2, 3, 4}},
    {"openmpi", "mpirun.openmpi", {2, 3, 4}},
    {"mpich", "mpiexec.hydra", {2}},  // with more ranks than processors its start may take minutes
};

// Why it cannot be tested here; empty where it can.
std::string Missing(const Started& started) {
  for (const TransportFacts& transport : FindTransports(Transports())) {
    if (transport.name == started.transport && !transport.found) return transport.detail;
  }
  const bool has_launcher = started.launcher.empty() || IsProgram(started.launcher);
  return has_launcher ? "" : "there is no " + started.launcher;
}

// On loopback, also as root.
std::string LaunchLine(const std::string& launcher, int size, const std::string& command) {
  if (launcher == "mpiexec.hydra") {
    return absl::StrCat("mpiexec.hydra -iface lo -n ", size, " ", command, " </dev/null");
  }
  return absl::StrCat(
      "export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo; "
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; ",
      "mpirun.openmpi --oversubscribe -n ", size, " ", command, " </dev/null");
}

// Ranks of gloo that are started: all but those of `left_out`.
std::string ByHand(const std::string& what, const std::string& meeting, int size, int left_out,
                   double timeout_seconds) {
  std::string line = "pids=(); code=0\n";
  for (int rank = 0; rank < size - left_out; ++rank) {
    absl::StrAppend(&line, Worker(), " ", what, " gloo ", Transports(), " ", meeting, " ", rank,
                    " ", size, " ", timeout_seconds, " & pids+=($!)\n");
  }
  return line + "for pid in ${pids[@]}; do wait $pid || code=$?; done\nexit $code\n";
}

CommandResult RunJob(const Started& started, const std::string& what, int size) {
  if (started.launcher.empty()) {
    return RunCommand(ByHand(what, ScratchFolder("meeting"), size, 0, 60));
  }
  // Open MPI's own files have paths of a limited length, which Bazel's folders exceed.
  return RunCommand(
      "export TMPDIR=/tmp\n" +
      LaunchLine(started.launcher, size,
                 absl::StrCat(Worker(), " ", what, " ", started.transport, " ", Transports())));
}

// Each of the first `ranks` ranks has said that all is well.
void CheckFine(const CommandResult& result, int ranks) {
  INFO(result.out << result.error);
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(result.out.find(absl::StrCat("rank ", rank, ": fine\n")) != std::string::npos);
  }
}

// With as many ranks as a transport is tried with, or at most `most`.
void ForEachTransport(const std::string& what, int most) {
  for (const Started& started : kStarted) {
    const std::string missing = Missing(started);
    if (!missing.empty()) {
      WARN("SKIP: " << missing);
      continue;
    }
    for (const int size : started.sizes) {
      if (size > most) continue;
      INFO(started.transport << ", " << size << " ranks");
      const CommandResult result = RunJob(started, what, size);
      CheckFine(result, size);
      CHECK(result.exit_code == 0);
    }
  }
}

TEST_CASE("messages of many sizes arrive in order, many at once, on both channels at once") {
  ForEachTransport("exchange", 4);
}

TEST_CASE("a message may have more bytes than an int counts") {
  if (!TriesAll()) {
    WARN("SKIP: takes 5 GB of memory; tools/test --all");
    return;
  }
  ForEachTransport("large", 2);
}

TEST_CASE("an abort ends waits on its channel, now and later, and none on the other one") {
  ForEachTransport("abort", 4);
}

TEST_CASE("gloo: a killed rank is an error that names it, whatever the wait is for") {
  const Started& gloo = kStarted[0];
  if (!Missing(gloo).empty()) {
    WARN("SKIP: " << Missing(gloo));
    return;
  }
  for (const int size : gloo.sizes) {
    INFO(size << " ranks");
    const CommandResult result = RunJob(gloo, "lose", size);
    CheckFine(result, size - 1);
    CHECK(result.exit_code == 128 + SIGKILL);
  }
}

TEST_CASE("gloo: ranks that do not come are named") {
  if (!Missing(kStarted[0]).empty()) {
    WARN("SKIP: " << Missing(kStarted[0]));
    return;
  }
  const CommandResult result = RunCommand(ByHand("exchange", ScratchFolder("meeting"), 4, 2, 1));
  INFO(result.out << result.error);
  CHECK(result.exit_code == 1);
  for (const char* rank : {"rank 0: ", "rank 1: "}) {
    CHECK(result.out.find(absl::StrCat(rank, "gloo: ranks 2, 3 of 4 have not come to ")) !=
          std::string::npos);
  }
}

TEST_CASE("MPI under the launcher of the other family says so") {
  const Started& openmpi = kStarted[1];
  const Started& mpich = kStarted[2];
  for (const Started* missing : {&openmpi, &mpich}) {
    if (Missing(*missing).empty()) continue;
    WARN("SKIP: " << Missing(*missing));
    return;
  }
  const CommandResult first = RunJob({"openmpi", mpich.launcher, {}}, "exchange", 2);
  INFO(first.out << first.error);
  CHECK(first.exit_code == 1);
  CHECK(first.out.find("started by a launcher of MPICH") != std::string::npos);
  CHECK(first.out.find("start it by Open MPI's mpirun") != std::string::npos);
  const CommandResult second = RunJob({"mpich", openmpi.launcher, {}}, "exchange", 2);
  INFO(second.out << second.error);
  CHECK(second.exit_code == 1);
  CHECK(second.out.find("started by Open MPI's mpirun") != std::string::npos);
  CHECK(second.out.find("start it by mpiexec.hydra") != std::string::npos);
}

}  // namespace
}  // namespace yuba::runtime
