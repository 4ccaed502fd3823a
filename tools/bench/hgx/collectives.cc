// The section of collectives: all-reduces as others measured them, and as the model back end
// predicts them.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/bench/hgx/all_reduce.h"
#include "tools/bench/hgx/published.h"
#include "tools/bench/hgx/sections.h"

namespace yuba::tools {
namespace {

std::string SizeText(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  return absl::StrFormat("%.0f %s", bytes, units[unit]);
}

// The machine without the row of so many bytes in the tables of this way of driving devices.
Machine Without(Machine machine, bool one_process, double bytes) {
  for (CollectiveTable& table : machine.links[0].tables) {
    if (table.one_process != one_process) continue;
    auto& rows = table.seconds;
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const auto& row) { return row.first == bytes; }),
               rows.end());
  }
  return machine;
}

std::string Residual(double predicted, double published) {
  return absl::StrFormat("%+.1f %%", 100 * (predicted / published - 1));
}

absl::Status PrintTable(const PublishedTable& table) {
  YUBA_ASSIGN_OR_RETURN(const Machine machine, FindMachine(table.machine));
  Machine copies = machine;
  for (LinkModel& link : copies.links) link.tables.clear();
  std::cout
      << "\n"
      << table.machine << ", " << (table.one_process ? "one process" : "a process a device") << ". "
      << table.source
      << ".\n\n| bytes | published us | predicted us | residual | without this row | by copies "
         "us |\n|---|---|---|---|---|---|\n";
  double worst = 0;
  for (const PublishedAllReduce& row : table.rows) {
    const auto predict = [&](const Machine& on) {
      return PredictedAllReduce(on, table.one_process, row.bytes);
    };
    YUBA_ASSIGN_OR_RETURN(const double predicted, predict(machine));
    YUBA_ASSIGN_OR_RETURN(const double blind,
                          predict(Without(machine, table.one_process, row.bytes)));
    YUBA_ASSIGN_OR_RETURN(const double copied, predict(copies));
    worst = std::max(worst, std::abs(predicted / row.seconds() - 1));
    std::cout << absl::StreamFormat("| %s | %.1f | %.1f | %s | %s | %.1f |\n", SizeText(row.bytes),
                                    1e6 * row.seconds(), 1e6 * predicted,
                                    Residual(predicted, row.seconds()),
                                    Residual(blind, row.seconds()), 1e6 * copied);
  }
  std::cout << absl::StreamFormat("\nOff by %.1f %% at most.\n", 100 * worst);
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintCollectives() {
  std::cout
      << "## All-reduces on eight devices\n\nPublished bus bandwidths as seconds, beside what the "
         "model back end says of the program of one sum. The machine's table has these rows, so a "
         "residual is what reading it changes: seconds never fall with the bytes. \"Without this "
         "row\" is the residual where the table lacks it and its neighbours must do. \"By copies\" "
         "is a run time that copies and adds up by itself, as with --sums ordered.\n";
  for (const PublishedTable& table : PublishedAllReduces()) {
    YUBA_RETURN_IF_ERROR(PrintTable(table));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
