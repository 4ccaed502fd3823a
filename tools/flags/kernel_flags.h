// The flags that say which code a program gets, of all commands that make one to be run.
#ifndef YUBA_TOOLS_FLAGS_KERNEL_FLAGS_H_
#define YUBA_TOOLS_FLAGS_KERNEL_FLAGS_H_

#include <string>

#include "compiler/kernels/add_kernels.h"

namespace CLI {
class App;
}

namespace yuba::tools {

struct KernelFlags {
  bool no_library = false;
  bool tf32 = false;
  std::string layouts = "auto";
  std::string joint_calls = "auto";
  bool no_overlap = false;
};

// group: the heading under which --help lists them.
void AddKernelFlags(CLI::App* command, KernelFlags& flags, const std::string& group = "Options");

// What the flags ask for, of the host's target.
kernels::KernelChoice ChoiceOf(const KernelFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_KERNEL_FLAGS_H_
