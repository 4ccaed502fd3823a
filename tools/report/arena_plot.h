// One plot of the arena as inline SVG: each buffer a rectangle over program order and address, with
// its kind as its class and a tooltip; above them the lines of what is live.
#ifndef YUBA_TOOLS_REPORT_ARENA_PLOT_H_
#define YUBA_TOOLS_REPORT_ARENA_PLOT_H_

#include <cstdint>
#include <string>

#include "tools/report/arena_report.h"

namespace yuba::tools {

// Addresses of the arena: [begin, end) bytes, not empty.
struct Addresses {
  int64_t begin = 0, end = 1;
  int64_t size() const { return end - begin; }
};

// The buffers that reach into the addresses. Classes: a buffer's kind, "grid", "own" (the line of
// the fullest device) and "peak".
std::string ArenaSvg(const ArenaReport& report, const Addresses& shown);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_ARENA_PLOT_H_
