#include "tools/terminal/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace yuba::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Short work shows no line at all, and a short phase on a terminal none of its own.
constexpr auto kBeforeFirst = std::chrono::milliseconds(700);
constexpr double kShortPhase = 0.3;  // seconds
constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kBetweenLines = std::chrono::seconds(1);
constexpr auto kBetweenEqual = std::chrono::seconds(10);  // lines in which only the seconds differ

// Past std::cerr, which writes control characters as text (tools/report/printable.h).
void Write(const std::string& text) {
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);  // nothing depends on it
}

int TerminalWidth() {
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  return known ? size.ws_col : 80;
}

}  // namespace

// Draws from a thread of its own, so that the seconds run on while nothing is said.
class ProgressLine::Drawer {
 public:
  explicit Drawer(bool terminal) : terminal_(terminal), thread_([this] { Run(); }) {}
  ~Drawer() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
      Wipe();
    }
    wake_.notify_all();
    thread_.join();
  }

  void Begin(const std::string& phase) {
    std::lock_guard<std::mutex> lock(mutex_);
    Wipe();
    phase_ = phase;
    words_.clear();
    changed_ = true;
    start_ = Clock::now();
  }
  void Say(const std::string& words) {
    std::lock_guard<std::mutex> lock(mutex_);
    changed_ |= words_ != words;
    words_ = words;
  }
  static std::mutex current_mutex;
  static Drawer* current;

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait_for(lock, kBeforeFirst, [this] { return ended_; });
    while (!ended_) {
      const bool is_due = Clock::now() - last_ >= kBetweenEqual;
      if (!phase_.empty() && (terminal_ || changed_ || is_due)) Draw();
      changed_ = false;
      if (terminal_) {
        wake_.wait_for(lock, kRedraw, [this] { return ended_; });
      } else {
        wake_.wait_for(lock, kBetweenLines, [this] { return ended_; });
      }
    }
  }

  void Draw() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (terminal_ && seconds < kShortPhase) return;
    std::string line = absl::StrFormat("%s  %.1f s  %s", phase_, seconds, words_);
    if (!terminal_) {
      last_ = Clock::now();
      std::cerr << line << std::endl;
      return;
    }
    const auto width = static_cast<size_t>(TerminalWidth() - 1);
    if (line.size() > width) line.resize(width);
    Write(absl::StrCat("\r", line, "\x1b[K"));
    drawn_ = true;
  }

  void Wipe() {
    if (drawn_) Write("\r\x1b[K");
    drawn_ = false;
  }

  const bool terminal_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string phase_, words_;
  Clock::time_point start_ = Clock::now(), last_ = start_;  // of the phase; of the last line
  bool changed_ = false, drawn_ = false, ended_ = false;
  std::thread thread_;  // the last member: it uses all others
};

std::mutex ProgressLine::Drawer::current_mutex;
ProgressLine::Drawer* ProgressLine::Drawer::current = nullptr;

ProgressLine::ProgressLine(bool asked) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (!terminal && !asked) return;
  try {
    drawer_ = std::make_unique<Drawer>(terminal);
  } catch (const std::system_error&) {
    return;  // no thread is to be had: the work matters more
  }
  std::lock_guard<std::mutex> lock(Drawer::current_mutex);
  Drawer::current = drawer_.get();
}

ProgressLine::~ProgressLine() {
  std::lock_guard<std::mutex> lock(Drawer::current_mutex);
  Drawer::current = nullptr;
}

void ProgressLine::Begin(const std::string& phase) {
  std::lock_guard<std::mutex> lock(Drawer::current_mutex);
  if (Drawer::current != nullptr) Drawer::current->Begin(phase);
}

void ProgressLine::Say(const std::string& words) {
  std::lock_guard<std::mutex> lock(Drawer::current_mutex);
  if (Drawer::current != nullptr) Drawer::current->Say(words);
}

void ProgressLine::End() { Begin(""); }

}  // namespace yuba::tools
