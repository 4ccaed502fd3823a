// The arena of a plan's program over time: which buffer lies where, from which instruction to
// which, and how much is live. As text with bars, as a picture for a page, and as JSON. All bytes
// are of one device; slots and offsets are equal on all devices, boxes are of the fullest one.
//
// Example, on a terminal (three buffers, four instructions):
//   buffer        kind      kB  at kB  instructions 0 to 3
//   live                   3.00         ▅▅██
//   w             weight   2.00      0  ████
//   gather(x)@y   gathered 1.00   2.00  ··█·
#ifndef YUBA_TOOLS_REPORT_ARENA_REPORT_H_
#define YUBA_TOOLS_REPORT_ARENA_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "nlohmann/json_fwd.hpp"
#include "runtime/program/program.pb.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

struct ArenaBuffer {
  std::string name;
  std::string kind;   // a word of kArenaKinds
  std::string users;  // "" or the nodes of the first and the last instruction that use it: "a … b"
  int64_t first = 0, last = 0;  // its life: instructions, both included
  int64_t offset = 0;           // of the slot in the arena
  int64_t slot = 0, box = 0;    // bytes of the slot, and of the fullest device's box in it
  bool LivesAt(int64_t instruction) const { return first <= instruction && instruction <= last; }
};

// What a buffer is for: the kinds of stored tensors and "output"; what is computed ("activation",
// and "partial", a sum that stays unreduced); what gathers bring ("copy", which several nodes read,
// and "gathered"); "written", what a node wrote before it is reduced.
inline constexpr const char* kArenaKinds[] = {"weight",   "constant",   "input",   "state",
                                              "output",   "activation", "partial", "copy",
                                              "gathered", "written"};

struct ArenaReport {
  int devices = 1;
  int fullest = 0;                   // the device that fills most at its peak
  int64_t arena = 0;                 // what each device allocates
  int64_t whole = 0;                 // what is live at most where one device does all
  std::vector<std::string> nodes;    // [instruction] whose it is
  std::vector<int64_t> slots, own;   // [instruction] bytes live: of slots; of the fullest's boxes
  std::vector<ArenaBuffer> buffers;  // those that take space
  int64_t peak = 0;                  // the first instruction at which most slots are live

  int64_t live() const { return slots[peak]; }           // no offsets need less
  int64_t beyond() const { return live() - own[peak]; }  // of the slots live then, not in its boxes
  int64_t share() const { return whole / devices; }
};

// `program` is the plan's, after the phase `memory`; `whole`: as in ArenaReport.
ArenaReport ReportArena(const search::PlanFile& plan, const program::Program& program,
                        int64_t whole);

// Bytes live at the peak by kind, only kinds that there are.
std::map<std::string, int64_t> HeldAtPeak(const ArenaReport& report);

// a ÷ b with three decimals, "1.012"; "–" where b is 0.
std::string Ratio(int64_t a, int64_t b);

// Whole lines: the figures, then a bar for each buffer, those live at the peak first, the largest
// first. With a `count` at most so many bars, and one for all buffers of a kind that live
// throughout.
std::string ArenaText(const ArenaReport& report, absl::optional<size_t> count);
// A part of a page: the figures, and the buffers as rectangles over program order and address, as
// inline SVG that needs nothing from elsewhere.
std::string ArenaHtml(const ArenaReport& report);
nlohmann::ordered_json ArenaJson(const ArenaReport& report);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_ARENA_REPORT_H_
