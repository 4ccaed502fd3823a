// Whether a program is well formed, so that the proofs of this room may look things up in it
// without a crash.
//
// What it establishes: the mesh has at most 2^20 devices; there is one stage; each bound is a table
// over the mesh with one value for each of its coordinates; each buffer's box has the rank of its
// tensor and lies within it on every device; each port, kernel and exchange names buffers and
// functions that are there, with boxes of the buffer's rank and one range for each index.
//
// What it does not assume: anything. Any bytes that parse as a program may come in.
//
// What it leaves to the proofs: whether boxes of accesses lie within their buffers, offsets, and
// whether anything means what it should.
#ifndef YUBA_COMPILER_VERIFY_FORM_H_
#define YUBA_COMPILER_VERIFY_FORM_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition ("malformed program: ...") that names the first place that is wrong.
absl::Status CheckForm(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_FORM_H_
