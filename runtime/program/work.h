// How much a kernel has to do on a device, whatever computes it. Its bytes by the memory's
// bandwidth, or its points by the rate of multiplications and additions, are about the time that it
// needs.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] in f32 on 4 x 6 and 6 x 2 elements has
// 4 * (4*6 + 6*2 + 4*2) = 176 bytes and 4 * 2 * 6 = 48 points.
#ifndef YUBA_RUNTIME_PROGRAM_WORK_H_
#define YUBA_RUNTIME_PROGRAM_WORK_H_

#include <cstdint>

#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

struct Work {
  // Read and written, each element of an operand or result once. Of an operand that is larger than
  // the points that read it, as a table of which a few rows are looked up, an element a point.
  int64_t bytes = 0;
  // How often expressions are evaluated, summed over the definitions: for each the number of values
  // that its indices have together, but for those that a constraint determines (FunctionIndex in
  // program.proto). What constraints leave out besides is not counted off.
  double points = 0;
};

// Of a kernel of a valid program (validate.h); `mesh` is the program's.
Work WorkOn(const Program& program, const Mesh& mesh, const Kernel& kernel, int device);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_WORK_H_
