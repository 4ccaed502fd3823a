// Whether a program is well formed: numbers in range, tables of the right size, equal ranks. What
// reads a program file may rely on nothing before this.
#ifndef YUBA_COMPILER_VERIFY_FORM_H_
#define YUBA_COMPILER_VERIFY_FORM_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition that names the first place that is malformed.
absl::Status CheckForm(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_FORM_H_
