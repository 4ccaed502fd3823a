#include "tools/run/milestones.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <type_traits>

namespace yuba::tools {

static_assert(std::is_trivially_copyable<Milestone>::value, "it is written as it lies in memory");

Milestones::Milestones(const std::string& pipe) {
  if (!pipe.empty()) file_ = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

Milestones::~Milestones() {
  if (file_ >= 0) ::close(file_);
}

// So few bytes go as a whole or not at all.
void Milestones::Tell(Reached what, int64_t step) const {
  if (file_ < 0) return;
  const Milestone milestone = {what, step, Clock::now()};
  const ssize_t written = ::write(file_, &milestone, sizeof milestone);
  static_cast<void>(written);
}

// Open to be written too, so that it has no end when a run ends.
MilestonePipe::MilestonePipe(const std::string& path) : path_(path) {
  if (::mkfifo(path.c_str(), 0600) != 0) return;
  file_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

MilestonePipe::~MilestonePipe() {
  if (file_ >= 0) ::close(file_);
}

std::vector<Milestone> MilestonePipe::Take() const {
  std::vector<Milestone> taken;
  Milestone next;
  while (::read(file_, &next, sizeof next) == static_cast<ssize_t>(sizeof next)) {
    taken.push_back(next);
  }
  return taken;
}

}  // namespace yuba::tools
