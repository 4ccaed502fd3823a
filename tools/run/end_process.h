// How a command ends where a GPU or a library hangs.
#ifndef YUBA_TOOLS_RUN_END_PROCESS_H_
#define YUBA_TOOLS_RUN_END_PROCESS_H_

#include <cstdlib>
#include <iostream>

#include "runtime/session.h"

namespace yuba::tools {

// For main to return. Where something hangs, ends the process here: what runs at a normal end, as a
// driver's last wait for its GPUs, would wait for ever.
inline int EndProcess(int exit_code) {
  if (runtime::SomethingHangs()) {
    std::cout.flush();
    std::cerr.flush();
    std::_Exit(exit_code);
  }
  return exit_code;
}

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_END_PROCESS_H_
