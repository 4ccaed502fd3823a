// The machine on which searches are measured, and the program that measures.
#ifndef YUBA_TOOLS_BENCH_MACHINE_H_
#define YUBA_TOOLS_BENCH_MACHINE_H_

#include <string>

namespace yuba::tools {

// The path of the program that is running.
std::string ThisProgram();

// The name of the processor, as the system gives it.
std::string MachineName();

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_MACHINE_H_
