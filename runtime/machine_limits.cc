#include "runtime/machine_limits.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/start_thread.h"

namespace yuba::runtime {
namespace {

// Memory for what is allocated while a step runs, as buffers within libraries. The first matrix
// product of oneDNN 2.6 maps 17 MB for its code, and writes there even where it got nothing.
constexpr size_t kSpareBytes = 32 << 20;

std::string Megabytes(double bytes) { return absl::StrFormat("%.1f MB", bytes / 1e6); }

std::string Counted(int count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace

absl::Status CheckArenas(int devices, int64_t arena_bytes, const AvailableMemory& available) {
  if (arena_bytes <= available.bytes / devices) return absl::OkStatus();
  const std::string needed = Megabytes(devices * static_cast<double>(arena_bytes));
  return absl::ResourceExhaustedError(absl::StrCat(
      devices == 1
          ? absl::StrCat("the device needs ", needed)
          : absl::StrCat(devices, " devices of ", Megabytes(static_cast<double>(arena_bytes)),
                         " each need ", needed),
      " of memory for what the program keeps, and ", available.limit, " leaves ",
      Megabytes(static_cast<double>(available.bytes)),
      ": allow more, plan with less (yuba partition --memory), or run "
      "where there is more"));
}

absl::Status CheckThreads(int devices, int threads_per_device, bool library) {
  const int helpers = devices * (threads_per_device - 1);
  const int needed = devices - 1 + helpers * (library ? 2 : 1);
  const int had = ThreadsToBeHad(needed, kSpareBytes);
  if (had == needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      Counted(devices, "device"), " with ", Counted(threads_per_device, "thread"),
      devices == 1 ? "" : " each", library && helpers > 0 ? ", and oneDNN with as many," : "",
      " need ", Counted(needed, "thread"), " beside this one, and the system gives ", had,
      " (ulimit -u, a container's limit of processes, or memory for their stacks: ulimit -v): "
      "allow more, ",
      threads_per_device > 1
          ? "take fewer of each device (--threads-per-device, OMP_NUM_THREADS=1), "
          : "",
      "or plan for fewer devices"));
}

std::vector<int> OwnProcessors() {
  std::vector<int> processors;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // It fails on machines with more processors than the mask has bits.
  const bool known = sched_getaffinity(0, sizeof mask, &mask) == 0;
  const int most =
      known ? CPU_SETSIZE : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int processor = 0; processor < most; ++processor) {
    if (!known || CPU_ISSET(processor, &mask)) processors.push_back(processor);
  }
  return processors;
}

}  // namespace yuba::runtime
