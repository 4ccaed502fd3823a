#include "tools/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace yuba::tools {
namespace {

constexpr int kCount = 3;
constexpr int kSignals[kCount] = {SIGINT, SIGTERM, SIGUSR1};

// All that the handler touches.
std::atomic<bool> came{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");
const char* words_to_write = "";
struct sigaction before[kCount];  // [signal]; written only while Note is not installed

void GiveBack() {
  for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

void Note(int) {
  const int error = errno;
  came = true;
  GiveBack();
  const ssize_t written = write(STDERR_FILENO, words_to_write, std::strlen(words_to_write));
  static_cast<void>(written);
  errno = error;
}

}  // namespace

InterruptNote::InterruptNote(const char* words) {
  came = false;
  words_to_write = words;
  struct sigaction note = {};
  note.sa_handler = Note;
  note.sa_flags = SA_RESTART;
  for (int signal : kSignals) sigaddset(&note.sa_mask, signal);
  for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], nullptr, &before[i]);
  for (int i = 0; i < kCount; ++i) {
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &note, nullptr);
  }
}

InterruptNote::~InterruptNote() { GiveBack(); }

bool InterruptNote::Came() { return came.load(std::memory_order_relaxed); }

}  // namespace yuba::tools
