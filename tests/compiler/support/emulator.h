// Runs a program element by element with the interpreter, instruction by instruction on one device
// after the other, and watches that nothing is read that was not written. It reads the bounds of
// the program on its own and takes nothing from verify/, so that it can be the oracle of the
// proofs. For small programs: each buffer of each device is a whole tensor here.
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
  int64_t moved_bytes = 0;           // between different devices, in all exchanges
  std::string fault;                 // the first element that was read and not there; "" for none
};

// values: [tensor of `graph`], of which inputs, parameters and constants are used. The
// definitions of `program`, kernel by kernel, must be the nodes of `graph`, which has no copies,
// with short sums (compiler/spmd/short_sums.h). Outputs are those of the last of `steps` steps,
// between which stored buffers keep what is in them.
Emulation Emulate(const program::Program& program, const Graph& graph,
                  const std::vector<TensorValue>& values, int steps = 1);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_EMULATOR_H_
