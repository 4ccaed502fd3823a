#include "tools/last_resort.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace yuba::tools {
namespace {

constexpr int kFailed = 3;
constexpr size_t kStack = 1 << 20;  // of the first thread, more than any command takes

const char* running = nullptr;  // the command; null once its main has returned

// At once, and not by an exception: Abseil's tables, for one, are broken by an allocation that
// throws, and their destructors then free what they never had.
void OnLackOfMemory() {
  std::fprintf(stderr, "%s: out of memory\n", running == nullptr ? "yuba" : running);
  _exit(kFailed);
}

void OnTerminate() {
  const char* const command = running == nullptr ? "yuba" : running;
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    OnLackOfMemory();
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s: the system gives no more threads: %s\n", command, error.what());
    _exit(kFailed);
  } catch (...) {
  }
  std::abort();
}

void OnExit() {
  if (running != nullptr) _exit(kFailed);  // a library has ended the process, with its own message
}

// A function of its own, so that nothing is written so far down before there is known to be room.
__attribute__((noinline)) void GrowStack() {
  volatile char stack[kStack];
  stack[0] = 0;
  static_cast<void>(stack[0]);
}

// Where the address space is limited (ulimit -v), the first thread gets its stack while there is
// room: that it cannot grow later is a fault that nobody can report.
void SaveAddressSpace() {
  rlimit space = {};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  void* const room = mmap(nullptr, kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) OnLackOfMemory();
  munmap(room, kStack);
  GrowStack();
}

}  // namespace

LastResort::LastResort(const char* command) {
  running = command;
  std::set_new_handler(OnLackOfMemory);
  std::set_terminate(OnTerminate);
  std::atexit(OnExit);
  SaveAddressSpace();
}

LastResort::~LastResort() { running = nullptr; }

}  // namespace yuba::tools
