// Collectives: exchanges that equal one over some axes.
#ifndef YUBA_COMPILER_SPMD_RECOGNISE_H_
#define YUBA_COMPILER_SPMD_RECOGNISE_H_

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Marks the exchanges that equal a collective over some axes.
void RecogniseCollectives(program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_RECOGNISE_H_
