// The thread plan of a kernel for GPUs: which of its loops the threads share out, which loops are
// one because they run through memory as one would, and how many neighbouring elements a thread
// computes. Decided from what is known of the arguments; loop_threads.cc writes it down.
//
// A *point* is one value of the loops outside of all accumulators: an element of a map, a row of a
// softmax. Each thread computes `lanes` neighbouring points, or a *group* of threads, a warp or a
// block, computes one point together: its threads share out the *turns* of the loops inside, and
// combine their accumulators in a fixed order, so that results have the same bits in every run.
// Where there are too few points for all of a GPU, blocks compute *parts* of a point's sum, and a
// second kernel adds these up. A scatter by one index that data gives begins with identities
// everywhere; then a group for each term, if it is the first that goes to its place, adds up all
// terms that go there, in their order.
//
// Example: z[i, j] = relu(y[i, j]) in f32 with 8 rows of 4 on each device has one loop of 32 points
// in memory's order, and each thread computes 4 of them with one access of 16 bytes to each tensor.
// m[i] = max(j) y[i, j] with rows of 4,096 has a group of 256 threads for each i; each thread looks
// at 4 times 4 elements. s[j] = sum(i) y[i, j] has *columns*: neighbouring threads compute
// neighbouring j, and the 8 threads of a group are 32 threads apart from each other. With q[j] =
// sum(i) y[i, j]^2 in the same kernel they add up both in the same turns, and m[j] = s[j] / 8 is
// computed by the thread that has the whole sum.
#ifndef YUBA_COMPILER_KERNELS_THREADS_THREAD_PLAN_H_
#define YUBA_COMPILER_KERNELS_THREADS_THREAD_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/targets.h"
#include "compiler/kernels/threads/strides.h"
#include "compiler/kernels/threads/tiles.h"

namespace yuba::kernels {

// Turns of a group's loop that are written down one after the other, so that what several
// definitions read of a row stays in registers.
constexpr int64_t kMostUnrolled = 8;

// The loops of one definition whose turns a group shares out.
struct InnerLoops {
  std::vector<MergedLoop> loops;  // outermost first
  int64_t turns = 1;              // at most, where devices differ
  int lanes = 1;  // neighbouring turns of the last loop that a thread takes together
  // Whether a thread takes the same values of the indices in the same turns.
  friend bool operator==(const InnerLoops& a, const InnerLoops& b) {
    return a.loops == b.loops && a.lanes == b.lanes;
  }
};

struct ThreadPlan {
  // What is computed at a point.
  enum Stage : uint8_t {
    kDefinitions,  // the kernel's definitions, or parts of the first one's sum
    kSumOfParts,   // of such a sum, and the other definitions
    kIdentities,   // elements to which nothing was scattered yet
    kPlaces        // all terms that are scattered to the place of the term that the point is
  };
  Stage stage = kDefinitions;
  int threads = 256;     // of a block
  int group = 1;         // that compute a point together: 1, a warp, or the whole block
  bool columns = false;  // a group is every (threads / group)th thread of the block
  // Of each point's sum, or of the elements of a place, each computed by a group of its own.
  int parts = 1;
  int lanes = 1;                   // neighbouring values of the last loop that a thread computes
  std::vector<MergedLoop> points;  // outermost first
  std::vector<InnerLoops> inner;   // [definition], where a group shares out whole loops; else empty
  // Where the points are columns or there are parts: the definitions whose sums the threads add up
  // in the same turns. The others follow where the sums are whole.
  std::vector<int> sums;
  // Of maps alone: each thread computes neighbours along two loops (tiles.h).
  ThreadTile tile;
  // Where it does not, of a definition alone: the index of the one loop that a group shares out, as
  // bounds depend on it; -1: none.
  int step = -1;
  // There, with parts: the index of the loop that blocks share out.
  int step_of_parts = -1;

  // How many points a block computes.
  int64_t PointsOfBlock() const { return int64_t{threads} / group * lanes * tile.side.lanes; }
  bool InTiles() const { return tile.across >= 0; }
  // Of a block's tile: how many turns of each of the points' loops. Empty where there are no tiles.
  std::vector<int64_t> Sides() const;
  bool OneAfterTheOther() const { return group > 1 && !inner.empty(); }
};

// Of a kernel for a target whose threads share out elements: one plan, or two for two pieces of
// code that run one after the other. `plans` are its definitions' loop plans. Deterministic.
std::vector<ThreadPlan> PlanThreads(const NamedKernel& kernel, const std::vector<LoopPlan>& plans,
                                    const KernelTarget& target);

// Of a kernel with sections a plan for each: their blocks are those of one launch, one section's
// behind the other's, so all plans have as many threads and one stage. Sections are
// such that it is so (compiler/spmd/own_slice.h).
std::vector<ThreadPlan> PlanSections(const NamedKernel& kernel, const std::vector<LoopPlan>& plans,
                                     const KernelTarget& target);

// The symbol of the code of plan number `stage` of a kernel.
std::string SymbolOf(const NamedKernel& kernel, int stage);

// Whether a group can compute the definition a row at a time: its first `shared` output indices say
// which row, and its other loops have as many turns in each, bounded by nothing.
bool SharesRows(const Definition& definition, int shared);
// Whether groups of threads share out the definition's sums down columns, if it is alone: its
// elements lie side by side in memory, their terms do not, and there are many of them.
bool SumsDownColumns(const Definition& definition);
// Of two such definitions whether threads can add up both in the same turns, each as alone.
bool SumInSameTurns(const Definition& a, const Definition& b);
// Whether several blocks should compute each row, as there are few of many elements.
bool HasFewLongRows(const Definition& definition, int shared);

// One line for dumps and tests: "256 threads; points i*j by 4" or "256 threads, 256 a point;
// points i; turns j by 4"; of sections "256 threads; points i*j by 4; beside 256 threads; points
// j".
std::string ToString(const std::vector<ThreadPlan>& plans, const NamedKernel& kernel);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_THREADS_THREAD_PLAN_H_
