// The proof that exchanges are the collectives they are marked as.
//
// What it establishes, after RecogniseCollectives: the axes of a mark are different; on every group
// of devices that differ on these axes only, the exchange's boxes match the row of the collective
// (opsemantics/base/collectives.h); what combines partials is marked as what does.
//
// What it does not assume: how the marks were found; any program may come in.
//
// What it does not establish: that an exchange without a mark is no collective.
#ifndef YUBA_COMPILER_VERIFY_CHECK_COLLECTIVES_H_
#define YUBA_COMPILER_VERIFY_CHECK_COLLECTIVES_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition that names the exchange, and its mark.
absl::Status CheckCollectives(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_CHECK_COLLECTIVES_H_
