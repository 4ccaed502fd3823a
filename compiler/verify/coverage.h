// The static proof that a program moves what it must.
#ifndef YUBA_COMPILER_VERIFY_COVERAGE_H_
#define YUBA_COMPILER_VERIFY_COVERAGE_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// On the program alone, at full scale, without data: written boxes times reduction parts tile each
// node's iteration space exactly once; every need is within what is owned or received; every
// element made is reduced by each part once; on every device. The error names the first
// instruction, device and box that breaks it.
absl::Status CheckCoverage(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_COVERAGE_H_
