// Too little memory and too few threads: the commands end with exit code 3 and say what is missing,
// or do their work. Never the exit codes of negative answers and of bad input, and
// no half-written file.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Model() { return RepositoryFile("tests/models/gpt/model.onnx"); }

// Sanitizers reserve more address space than any limit here leaves.
bool IsSanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

struct Outcomes {
  int done = 0, starved = 0;
};

// Runs `line` within `limit`, as "ulimit -v 300000"; `written` is the file that it makes, or "".
void RunWithin(const std::string& limit, const std::string& line, const std::string& written,
               Outcomes& outcomes) {
  if (!written.empty()) std::filesystem::remove(written);
  const CommandResult result = RunCommand(limit + "; " + line);
  INFO(limit << "; " << line << ": " << result.error);
  CHECK((result.exit_code == 0 || result.exit_code == 3));
  CHECK((result.exit_code == 0) == (result.error.find("yuba") == std::string::npos));
  // What comes after the file may starve too; the file is whole then.
  if (!written.empty() && result.exit_code == 0) CHECK(std::filesystem::exists(written));
  ++(result.exit_code == 0 ? outcomes.done : outcomes.starved);
}

// Kilobytes of address space within which the command's libraries just load.
int LeastToLoad() {
  int too_few = 0, enough = 2000000;
  while (enough - too_few > 1000) {
    const int middle = (too_few + enough) / 2;
    const std::string line = "ulimit -v " + std::to_string(middle) + "; yuba --version";
    (RunCommand(line).exit_code == 0 ? enough : too_few) = middle;
  }
  return enough;
}

// From a limit within which the libraries just load to `more` kilobytes above, which are enough.
void Sweep(int more, const std::string& line, const std::string& written = "") {
  static const int from = LeastToLoad();
  constexpr int steps = 10;
  Outcomes outcomes;
  for (int step = 0; step <= steps; ++step) {
    const int kilobytes = from + more * step / steps;
    RunWithin("ulimit -v " + std::to_string(kilobytes), line, written, outcomes);
  }
  INFO(line);
  CHECK(outcomes.done > 0);
  CHECK(outcomes.starved > 0);
}

TEST_CASE("commands with too little memory exit with 3 and say so, and leave no file") {
  if (IsSanitized()) {
    WARN("SKIP: a sanitizer needs more address space than a limit leaves");
    return;
  }
  for (const int devices : {8, 64}) {
    const std::string folder = ScratchFolder("memory" + std::to_string(devices));
    const std::string plan = folder + "/p.json", made = folder + "/made";
    const std::string partition =
        "yuba partition " + Model() + " --devices " + std::to_string(devices) + " -o ";
    Succeed(partition + plan);
    const std::string both = Model() + " " + plan;
    Sweep(200000, partition + made, made);
    Sweep(100000, "yuba compile " + both + " -o " + made, made);
    Sweep(1200000, "yuba run --random " + both);
    std::filesystem::remove(made);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      CHECK(entry.path() == plan);
    }
  }
}

TEST_CASE("what needs several threads of each device says what it needs where memory is short") {
  if (IsSanitized()) {
    WARN("SKIP: a sanitizer needs more address space than a limit leaves");
    return;
  }
  const std::string plan = ScratchFolder("several") + "/p.json", both = Model() + " " + plan;
  Succeed("yuba partition " + Model() + " --devices 8 -o " + plan);
  Sweep(1000000, "yuba run --threads-per-device 3 --random " + both);
  Sweep(400000, "yuba verify " + both);
}

// Limits of processes do not bind root; the user that it becomes may read all files, as root may.
TEST_CASE("commands with too few threads exit with 3 and say how many they need") {
  const std::string user =
      "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_override "
      "--ambient-caps +dac_override ";
  if (geteuid() != 0 || RunCommand(user + "true").exit_code != 0) {
    WARN("SKIP: only root can become a user of whom nothing else runs");
    return;
  }
  const std::string folder = ScratchFolder("threads"), plan = folder + "/p.json";
  Succeed("yuba partition " + Model() + " --devices 8 -o " + plan);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  Outcomes outcomes;
  for (const int most : {2, 5, 8, 12, 40}) {
    const std::string limit = "ulimit -u " + std::to_string(most) + "; ";
    const std::string line = "yuba run --random --threads-per-device 2 " + Model() + " " + plan;
    RunWithin("cd /", user + "bash -c '" + limit + "exec " + line + "'", "", outcomes);
  }
  CHECK(outcomes.done > 0);
  CHECK(outcomes.starved > 0);
  const CommandResult few = RunCommand(user + "bash -c 'ulimit -u 5; exec yuba run --random " +
                                       Model() + " " + plan + "'");
  CHECK(few.error.find("8 devices with 1 thread each need 7 threads beside this one, and the "
                       "system gives 4 (ulimit -u") != std::string::npos);
  // A plan does not depend on the number of threads that search it.
  CHECK(RunCommand(user + "bash -c 'ulimit -u 1; exec yuba partition " + Model() +
                   " --threads 4 --devices 8 -o " + folder + "/few.json'")
            .exit_code == 0);
}

}  // namespace
}  // namespace yuba
