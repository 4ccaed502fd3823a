// What a command does where memory or threads are missing and nothing else notices: it ends with a
// message and exit code 3, and not by a signal, nor with the 1 of a library that calls exit(1): 1
// is a negative answer (exit_code.h).
#ifndef YUBA_TOOLS_LAST_RESORT_H_
#define YUBA_TOOLS_LAST_RESORT_H_

namespace yuba::tools {

// At the start of main, to its end:
//   const LastResort last_resort("yuba");
class LastResort {
 public:
  // `command` begins the messages and is not copied.
  explicit LastResort(const char* command);
  ~LastResort();
  LastResort(const LastResort&) = delete;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAST_RESORT_H_
