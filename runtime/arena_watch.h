// Debugging of memory, by options of a run. Poison: a slot is filled with a NaN pattern at the
// instruction where its life begins, so that reading what was never written shows in the output.
// Guards: slots are spread out with bands of known bytes between them, which are checked after each
// instruction, so that a write outside a buffer is found with the instruction that did it. The
// check reads every band back each time; it is slow and for tests.
#ifndef YUBA_RUNTIME_ARENA_WATCH_H_
#define YUBA_RUNTIME_ARENA_WATCH_H_

#include <memory>
#include <vector>

#include "runtime/executor.h"

namespace yuba::runtime {

constexpr char kPoison = static_cast<char>(0xff);  // NaN in every float type
constexpr char kGuard = static_cast<char>(0xa5);
constexpr int64_t kGuardBytes = 256;  // of the band before and behind each slot

// The offsets that the program says.
ArenaLayout PlannedLayout(const LoadedProgram& program);

// Offsets that give each buffer memory of its own, with guard bands around it. Buffers whose
// planned slots overlap while both live are one memory under two names (a result that overwrites
// its operand): they keep their distance. The arena is then about as large as all buffers together.
ArenaLayout SpreadLayout(const LoadedProgram& program);

struct WatchOptions {
  bool poison = false;
  bool guards = false;  // the layout is SpreadLayout's
};

// Program and devices must outlive the watcher. Fill() is called once, before any value is put into
// the arenas. After() fails with the offset and the nearest buffer where a guard byte has changed.
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
  std::vector<std::vector<Interval>> births_;  // [instruction] bytes that begin to live there
  std::vector<Interval> gaps_;                 // bytes of the arena outside every buffer
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_ARENA_WATCH_H_
