// What goes on at a time, and when the next of it ends: tasks whose speed depends on what else goes
// on. The simulator (simulate.cc) starts tasks and is told which have ended.
#ifndef YUBA_RUNTIME_MODEL_CLOCKS_H_
#define YUBA_RUNTIME_MODEL_CLOCKS_H_

#include <queue>
#include <utility>
#include <vector>

#include "runtime/model/fair_share.h"
#include "runtime/model/steps.h"

namespace yuba::runtime {

// One task of each device of a class.
struct Task {
  enum Kind : uint8_t {
    kAlone,    // shares nothing: `work` seconds
    kHost,     // `work` seconds of the host of its process
    kCompute,  // `work` seconds of a processor, of which it can use `processors` at once
    kFlow      // `work` bytes over `links`; where processors are shared it keeps one busy
  };
  Kind kind = kAlone;
  int owner = 0;  // whom to tell
  int of_class = 0;
  double work = 0;
  double processors = 1;
  LinkUse links;
};

class Clocks {
 public:
  // `list` outlives this. capacities: of all links that flows name, bytes a second. processors:
  // that all devices share; 0: each has its own.
  Clocks(const StepList& list, std::vector<double> capacities, int processors)
      : list_(list), capacities_(std::move(capacities)), processors_(processors) {}

  double now() const { return now_; }
  void Start(Task task);
  bool idle() const { return alone_.empty() && shared_.empty(); }
  // Moves on to the next end. Returns the owners of what ends then, ascending; not when idle.
  std::vector<int> Next();

 private:
  struct Running {
    Task task;
    double left = 0, speed = 0;
  };
  void SetSpeeds();

  const StepList& list_;
  const std::vector<double> capacities_;
  const int processors_;
  double now_ = 0;
  // (end, owner) of tasks that share nothing.
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>,
                      std::greater<std::pair<double, int>>>
      alone_;
  std::vector<Running> shared_;
  bool changed_ = false;  // `shared_` since speeds were set
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_CLOCKS_H_
