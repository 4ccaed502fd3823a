// `yuba compare --machines`: what one model takes on several machines: seconds a step, whether it
// fits, and what many steps cost in hours and dollars, checkpoints and lost nodes included.
//
// Example: --machines hgx-h100:4,dgx-a100:8 --steps 100000 --mtbf 20000 prints a row for 4 nodes of
// H100 and one for 8 of A100.
#ifndef YUBA_TOOLS_COMPARE_MACHINE_ROWS_H_
#define YUBA_TOOLS_COMPARE_MACHINE_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "nlohmann/json_fwd.hpp"
#include "opsemantics/machine/machine.h"
#include "tools/compare/candidates.h"

namespace yuba::tools {

// A run for which rows are told.
struct LongRun {
  double steps = 0;                 // 0: nothing is said of hours and dollars
  double mtbf = 0;                  // hours between losses of one node; 0: none is lost
  double checkpoint_bandwidth = 0;  // bytes a second, of all devices together
  double checkpoint_interval = 0;   // hours of work between checkpoints; 0: the best
};

// What checkpoints and losses add to a run.
struct Checkpoints {
  int64_t bytes = 0;      // of a checkpoint: what steps carry on, once
  double write = 0;       // seconds of one
  double best = 0;        // hours between them by which the run is shortest
  double interval = 0;    // hours between them, as asked for or the best
  double lengthened = 1;  // by what factor the run takes longer at that interval
};

struct MachineRow {
  std::string machine;
  int devices = 0;
  double step_seconds = 0;
  double exchange_share = 0;  // of the objective's time, 0 to 1
  int64_t arena = 0;          // bytes that the program allocates on each device
  int64_t room = 0;           // bytes that a device has for it
  bool fits() const { return arena <= room; }
  absl::optional<Checkpoints> checkpoints;
  // Of the whole run; nothing where no steps are asked for, dollars also where no price is known.
  absl::optional<double> hours, dollars;
  std::string stopped;  // as Plan::stopped
};

// The row of a plan for this machine. `step_seconds`: of one step, by the objective or predicted.
MachineRow RowOf(const Candidate& plan, const Machine& machine, double step_seconds,
                 const LongRun& run);

std::string MachineRowsText(const std::vector<MachineRow>& rows, const LongRun& run);
nlohmann::ordered_json MachineRowsJson(const std::vector<MachineRow>& rows);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMPARE_MACHINE_ROWS_H_
