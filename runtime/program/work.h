// How much a kernel has to do on a device, whatever computes it: what KernelSeconds
// (opsemantics/machine/machine.h) makes a time of. Of a kernel of one definition it is what WorkOf
// of opsemantics/sharding/work.h says of the definition.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] in f32 on 4 x 6 and 6 x 2 elements has
// 4 * (4*6 + 6*2 + 4*2) = 176 bytes and 4 * 2 * 6 = 48 points of 2 operations.
#ifndef YUBA_RUNTIME_PROGRAM_WORK_H_
#define YUBA_RUNTIME_PROGRAM_WORK_H_

#include <vector>

#include "opsemantics/base/mesh.h"
#include "opsemantics/machine/machine.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

struct Work {
  // Of several definitions operations are summed up. Class and type are those of the definition
  // whose class is the first that one has of convolution, product, reduction, map; a library's call
  // has its kind's. Bytes are read and written, each element of an operand or result once; of one
  // with more elements than points read it, as a table of which a few rows are looked up, an
  // element a point.
  KernelWork kernel;
  // How often expressions are evaluated, summed over the definitions (CountPoints in
  // opsemantics/machine/points.h).
  double points = 0;
};

// Of a kernel of a valid program (validate.h); `mesh` is the program's. Bytes of buffers that are
// `on_chip`, [buffer] or empty for none, do not count.
Work WorkOn(const Program& program, const Mesh& mesh, const Kernel& kernel, int device,
            const std::vector<bool>& on_chip = {});

// The class alone, which is the same on all devices.
yuba::KernelClass KernelClassOf(const Program& program, const Kernel& kernel);

// Whether the program says what its kernels do; programs of older compilers do not.
bool SaysItsWork(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_WORK_H_
