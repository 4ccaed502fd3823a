// A graph as what an order can choose: steps, each of one node or of several that may as well run
// one after the other, and segments, whose order is theirs alone.
//
// Two rules put nodes together. Neither raises the least peak:
// - A step that nothing precedes and that one step alone reads (a mask, a constant that is widened)
//   runs right before its reader: earlier it would only be live for longer.
// - A step that reads one result, of which it is the only reader, and needs no more bytes than the
//   producer did, neither while it runs nor after it, runs right after the producer. Example: an
//   update of a weight after the weight's gradient. The result is an output: it needs 0 bytes.
#ifndef YUBA_COMPILER_ORDER_STEPS_H_
#define YUBA_COMPILER_ORDER_STEPS_H_

#include <cstdint>
#include <vector>

#include "compiler/order/depth_first.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

struct Step {
  std::vector<NodeId> nodes;  // in the order in which they run
  int64_t extra = 0;          // most bytes live while it runs, beyond those live before it
  int64_t bytes = 0;          // of its result, until the last of `readers` has run
  std::vector<int> reads;     // the steps whose results it reads; all lists are ascending, distinct
  std::vector<int> readers;   // the steps that read its result
  std::vector<int> before;    // the steps that must run before it, `reads` among them
  std::vector<int> after;     // the steps that must run after it
};

// Whether nothing precedes the step, so that it may as well run right before the first step that
// must follow it: a mask that many nodes read.
bool IsSource(const Step& step);
// Whether the step needs no bytes and nothing follows it, so that it may as well run right after
// the last step that must precede it: an output of the graph. Not so where it follows a source.
bool IsFreeSink(const std::vector<Step>& steps, const Step& step);

// The steps of a graph, numbered as the nodes come in `depth_first` (of the same precedences), but
// sources right before and free sinks right after the step that they belong to. Each comes after
// those that must run before it.
std::vector<Step> StepsOf(const Graph& graph, const std::vector<Precedence>& precedences,
                          const std::vector<NodeId>& depth_first);

// A range of steps that every order runs before all later steps and after all earlier ones: their
// order matters to nothing outside. Steps are numbered from the first of the range.
//
// Example: x -> a -> {b, c} -> d -> e. Every order begins with a, and has d before e, so the
// segments are {a}, {b, c, d} and {e}.
struct Segment {
  int first = 0;            // the number of its first step
  std::vector<Step> steps;  // `before`, `after`, `reads` are of the segment alone. `reads` may go
                            // beyond the steps: the results of `inherited`
  struct Inherited {
    int64_t bytes = 0;
    std::vector<int> readers;
  };
  std::vector<Inherited> inherited;  // results of earlier steps that are last read here
  int64_t live = 0;                  // bytes live before its first step
  int64_t least = 0;                 // no order of it has a lower peak
};

// The segments of the steps, as many as there are, in their order. A result that is read in a later
// segment too has no readers here: no order of the segment frees it.
std::vector<Segment> SegmentsOf(const std::vector<Step>& steps);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_STEPS_H_
