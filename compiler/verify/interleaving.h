// The proof that the definitions of a cluster may be computed value by value. A kernel of several
// definitions takes the values of the indices that they share one after the other, or shares them
// out over threads, and computes all definitions at a value before it goes on (program.proto,
// Function). The other proofs look at one definition after the other (unfold.h); this one shows
// that it makes no difference:
// - the definitions begin with the same output indices, and each device computes all elements of
//   its values of these;
// - what a definition reads of another is computed at the same values;
// - what a definition writes over is read by others, if at all, before and at the same values;
// - of an internal tensor, one element is computed at a value;
// - of definitions that share no index (program.proto, sections), none reads or writes what another
//   one writes, so that they may be computed in any order or at once.
//
// Example: of m[i] = 0.9*m[i] + g[i] and w[i] = w[i] - m[i], both in place, the second may not read
// m[i + 1]: the kernel has not computed it yet.
#ifndef YUBA_COMPILER_VERIFY_INTERLEAVING_H_
#define YUBA_COMPILER_VERIFY_INTERLEAVING_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/known_definitions.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Of the kernels of one program. Of equal definitions that run over and write the same boxes, what
// the devices write is looked at once.
class Interleavings {
 public:
  // The program must outlive this.
  explicit Interleavings(const program::Program& program);

  // `definitions` are those of the kernel's function, of which CheckMatchesGraph has found that
  // indices, operands and boxes fit them; they outlive this. OK for a definition alone; else
  // FailedPrecondition.
  absl::Status Check(const program::Kernel& kernel,
                     const std::vector<const Definition*>& definitions);

 private:
  const program::Program& program_;
  const Mesh mesh_;
  KnownDefinitions numbers_;
  std::set<std::string> writes_;  // what was found right, by all that it depends on
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_INTERLEAVING_H_
