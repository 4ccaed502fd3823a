// Runs a program element by element with the interpreter, one device after the other, and watches
// that nothing is read that was not written. It reads the program's tables on its own.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_EMULATOR_H_
#define YUBA_TESTS_COMPILER_SUPPORT_EMULATOR_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/oracle/interpret.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

struct Emulation {
  std::vector<TensorValue> outputs;  // in the order of the program's ports
  int64_t moved_bytes = 0;           // between different devices
  std::string fault;                 // the first element that was read and not there, if any
};

// `values` has the inputs, parameters and constants of `graph`, whose node n is the program's
// kernel n.
Emulation Emulate(const program::Program& program, const Graph& graph,
                  const std::vector<TensorValue>& values);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_EMULATOR_H_
