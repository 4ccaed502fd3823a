// From graph and plan to one program for all devices.
#ifndef YUBA_COMPILER_SPMD_SPMD_H_
#define YUBA_COMPILER_SPMD_SPMD_H_

#include "compiler/model.h"
#include "opsemantics/oracle/scalar.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Buffers (boxes, no offsets), kernels with the parts of their indices, and exchanges where a need
// is not within what a device has or what it made is not what it owns. `arithmetic` is what the
// whole program computes in: memory and kernels follow it.
program::Program MakeSpmdProgram(const Model& model, const search::Plan& plan,
                                 Arithmetic arithmetic = Arithmetic::kFloat);

// The values of parameters and constants, and the names of the file's inputs; they are in a program
// from the cut on, but not in its text. The program's parameters are the model's, in its order.
void SetInitialValues(const Model& model, program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_SPMD_H_
