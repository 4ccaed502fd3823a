// What an exchange moves: whether all that is waited for is offered, and all that is offered
// arrives.
#ifndef YUBA_COMPILER_VERIFY_MOVED_H_
#define YUBA_COMPILER_VERIFY_MOVED_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// What decides the answers of the next two: exchanges in which it is equal have one proof.
std::string MovedBoxesOf(const program::Exchange& exchange);

// FailedPrecondition where a device waits for elements that no device offers. offers, to: [device].
absl::Status CheckOffered(const Mesh& mesh, const program::Exchange& exchange,
                          const std::vector<Box>& offers, const std::vector<Box>& to);

// FailedPrecondition where a device offers elements that no device receives.
absl::Status CheckReceived(const Mesh& mesh, const program::Exchange& exchange,
                           const std::vector<Box>& offers, const std::vector<Box>& to);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_MOVED_H_
