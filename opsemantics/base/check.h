// YUBA_CHECK(condition) << "message": for faults of Yuba itself. Where the condition does not hold
// it prints file, line, condition and message to standard error and aborts. The message is
// evaluated only then. A user's mistake is never a check: it is an absl::Status (status.h).
#ifndef YUBA_OPSEMANTICS_BASE_CHECK_H_
#define YUBA_OPSEMANTICS_BASE_CHECK_H_

#include <sstream>

namespace yuba::internal {

// Collects the message; its destructor, at the end of the statement, prints and aborts.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace yuba::internal

#define YUBA_CHECK(condition) \
  if (condition) {            \
  } else /* NOLINT */         \
    ::yuba::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()

#endif  // YUBA_OPSEMANTICS_BASE_CHECK_H_
