#include "tools/calibrate/measure_links.h"

#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/collective_table.h"
#include "runtime/available_memory.h"
#include "tools/calibrate/exchange_program.h"
#include "tools/calibrate/time_program.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

constexpr char kPermute[] = "permute";

// 1 kB, 4 kB, ..., 256 MB
std::vector<int64_t> Sizes() {
  std::vector<int64_t> sizes;
  for (int64_t bytes = int64_t{1} << 10; bytes <= int64_t{1} << 28; bytes *= 4) {
    sizes.push_back(bytes);
  }
  return sizes;
}

// All sizes of a collective in rounds together.
absl::StatusOr<CollectiveTable> Measure(const std::string& backend, const std::string& collective,
                                        int devices, std::vector<double>& spreads) {
  std::vector<TimedProgram> programs;
  std::vector<double> sizes;
  for (const int64_t bytes : Sizes()) {
    const program::Program program = ExchangeProgram(collective, devices, bytes);
    const int64_t needed = program.arena_size() * devices;
    if (backend == "host" && needed > runtime::MemoryAvailable().bytes / 2) break;
    ProgressLine::Begin(absl::StrCat(collective, " of ", bytes, " bytes on ", devices));
    const auto size = static_cast<double>(TensorBytes(program));
    if (!sizes.empty() && sizes.back() >= size) continue;
    absl::StatusOr<TimedProgram> timed = TimedProgram::Open(program, backend);
    if (!timed.ok()) return Annotate(timed.status(), collective);
    sizes.push_back(size);
    programs.push_back(*std::move(timed));
  }
  if (sizes.empty())
    return absl::ResourceExhaustedError("there is no memory for exchanges of 1 kB");
  const absl::StatusOr<std::vector<Timing>> timings = TimeInRounds(programs);
  if (!timings.ok()) return Annotate(timings.status(), collective);
  CollectiveTable table;
  table.collective = collective;
  table.devices = devices;
  table.one_process = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    table.seconds.emplace_back(sizes[i], (*timings)[i].seconds);
    spreads.push_back((*timings)[i].spread);
  }
  return table;
}

const CollectiveTable& TableOf(const LinkModel& link, const char* collective, int devices) {
  for (const CollectiveTable& table : link.tables) {
    if (table.collective == collective && table.devices == devices) return table;
  }
  YUBA_CHECK(false) << collective;
  return link.tables[0];
}

// Messages that each device receives.
int MessagesOf(const CollectiveTable& table) {
  if (table.collective == kPermute) return 1;
  return (table.collective == "all_reduce" ? 2 : 1) * (table.devices - 1);
}

// The latency is the least that a message took in a small collective, which no table goes below;
// the bandwidth is from the largest permute of all devices: then all use what they share.
void FitLink(int devices, MeasuredLinks& measured) {
  LinkModel& link = measured.link;
  link.latency = std::numeric_limits<double>::infinity();
  for (const CollectiveTable& table : link.tables) {
    link.latency = std::min(link.latency, table.seconds.front().second / MessagesOf(table));
  }
  const CollectiveTable& all = TableOf(link, kPermute, devices);
  const auto& [bytes, seconds] = all.seconds.back();
  link.bandwidth = BytesReceived(kPermute, devices, bytes) / std::max(seconds - link.latency, 1e-9);
  std::vector<double> errors;
  for (const auto& [size, took] : all.seconds) {
    const double predicted = link.latency + BytesReceived(kPermute, devices, size) / link.bandwidth;
    errors.push_back(std::max(predicted / took, took / predicted) - 1);
  }
  measured.largest_error = *std::max_element(errors.begin(), errors.end());
  measured.median_error = MedianOf(errors);
}

}  // namespace

absl::StatusOr<MeasuredLinks> MeasureLinks(const std::string& backend, int devices) {
  YUBA_CHECK(devices >= 2) << devices;
  MeasuredLinks measured;
  measured.link.name = backend == "host" ? "memory" : "GPU links";
  measured.link.devices = devices;
  // Virtual devices copy through one memory.
  measured.link.shared_by = backend == "host" ? devices : 1;
  for (const int among : std::set<int>{2, devices}) {
    for (const Collective& collective : Collectives()) {
      YUBA_ASSIGN_OR_RETURN(CollectiveTable table,
                            Measure(backend, collective.name, among, measured.spreads));
      measured.link.tables.push_back(std::move(table));
    }
  }
  ProgressLine::End();
  FitLink(devices, measured);
  return measured;
}

}  // namespace yuba::tools
