// The state after a phase as text, for people: what the model is, its graph with the plan's
// shardings, the plan as its file has it, and the program. Nothing reads it again; a plan that
// somebody wants to change is a plan file. The grammar stands in README.md.
//
// Example: StateText(compilation) begins, behind the phase `search`, with
//   model "mlp.onnx"
//     opset 17
//     ...
//   graph mesh a=2 b=2
//     %0 input "x" f32 [12/ba, 48] read by 0
//     node 0 "y" = linear(%0, %1) -> %2 by s/ab from "/fc" use 0 entry 0
//       y[r: 12, s: 96] = sum(q: 48) x0[r, q] * x1[s, q]
#ifndef YUBA_COMPILER_DUMP_STATE_H_
#define YUBA_COMPILER_DUMP_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

// All that the phases have made, but not the request and what running took (seconds, bytes of the
// file). Of values, code and long tables there are the length and a checksum.
std::string StateText(const Compilation& compilation);

// The same into the file `path`; the error is the file's.
absl::Status WriteState(const Compilation& compilation, const std::string& path);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_STATE_H_
