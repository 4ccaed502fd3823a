// Debugging of memory: slots are filled with a NaN pattern where their life begins, so that what
// was never written shows; and slots can be spread out with guard bands between them, so that a
// write outside a buffer is found, with the instruction that did it.
#ifndef YUBA_RUNTIME_ARENA_WATCH_H_
#define YUBA_RUNTIME_ARENA_WATCH_H_

#include <memory>
#include <vector>

#include "runtime/executor.h"

namespace yuba::runtime {

constexpr char kPoison = static_cast<char>(0xff);  // NaN in every float type
constexpr char kGuard = static_cast<char>(0xa5);
constexpr int64_t kGuardBytes = 256;

// Where the program puts its buffers.
ArenaLayout PlannedLayout(const LoadedProgram& program);

// Each buffer in a place of its own, guard bands around; buffers whose slots overlap while both
// live are one thing under two names and stay together.
ArenaLayout SpreadLayout(const LoadedProgram& program);

struct WatchOptions {
  bool poison = false;
  bool guards = false;  // the layout is spread
};

// `devices` must outlive the watcher. Fill() is called once, before anything is put into the
// arenas.
class ArenaWatch : public Watcher {
 public:
  ArenaWatch(const LoadedProgram& program, const ArenaLayout& layout, const WatchOptions& options,
             std::vector<Device*> devices);
  absl::Status Fill();
  absl::Status Before(int device, int instruction) override;
  absl::Status After(int device, int instruction) override;

 private:
  const LoadedProgram& program_;
  const ArenaLayout layout_;
  const WatchOptions options_;
  const std::vector<Device*> devices_;
  std::vector<std::vector<Interval>> births_;  // [place] bytes that begin to live there
  std::vector<Interval> gaps_;                 // bytes of the arena that are nobody's
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_ARENA_WATCH_H_
