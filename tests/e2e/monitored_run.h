// Runs of several ranks under Open MPI's monitoring component, which counts what it sends itself.
#ifndef YUBA_TESTS_E2E_MONITORED_RUN_H_
#define YUBA_TESTS_E2E_MONITORED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace yuba {

// What a command printed with --json, behind whatever lines.
nlohmann::json JsonOf(const std::string& out);

// Messages of one rank to another.
struct Sent {
  int64_t bytes = 0, messages = 0;
};

struct MonitoredRun {
  std::vector<std::vector<Sent>> sent;  // [from][to]
  nlohmann::json said;                  // by --json
};

// A program of several ranks, as `yuba partition` with these flags and `yuba compile` make it of a
// model of tests/models.
class MonitoredProgram {
 public:
  MonitoredProgram(const std::string& model, const std::string& flags, int ranks);

  std::string program() const { return folder_ + "/program.yuba"; }
  int64_t planned_bytes() const { return planned_bytes_; }  // of a step, as the plan says
  MonitoredRun Run(int steps) const;

 private:
  const int ranks_;
  const std::string folder_;
  int64_t planned_bytes_ = 0;
};

}  // namespace yuba

#endif  // YUBA_TESTS_E2E_MONITORED_RUN_H_
