// What checkpoints and losses of nodes cost a long run, and how often to write a checkpoint.
//
// Units: seconds. A checkpoint takes `write` seconds in which no step runs, a loss comes on average
// every `between_losses` seconds and costs `restart` seconds and the work since the last
// checkpoint. Losses are independent of each other and of time (a Poisson process).
//   Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974:
//     the best interval is about sqrt(2 * write * between_losses).
//   Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS
//     22(3), 2006: its equations 20 and 37, which hold also where writing takes long.
// Example: 128 nodes of which one is lost every 50,000 hours each lose one every 390 hours; where a
// checkpoint takes 60 s, the best interval is 3.6 hours and the run is 0.94 % longer.
#ifndef YUBA_TOOLS_COMPARE_CHECKPOINTING_H_
#define YUBA_TOOLS_COMPARE_CHECKPOINTING_H_

namespace yuba::tools {

struct LossModel {
  double between_losses = 0;  // seconds, of all nodes together; above 0
  double write = 0;           // seconds of a checkpoint
  double restart = 0;         // seconds from a loss to the first step, reading included
};

// Seconds of work between two checkpoints by which a run is shortest (Daly, equation 37); never
// less than 1.
double BestInterval(const LossModel& losses);

// By what factor a run takes longer than its steps alone (Daly, equation 20), at least 1; infinite
// where losses come too often for it ever to end. `interval`: seconds of work, above 0.
double LengthenedBy(const LossModel& losses, double interval);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMPARE_CHECKPOINTING_H_
