// Relocatable objects to one shared object, by lld inside this process.
#ifndef YUBA_COMPILER_KERNELS_LINK_H_
#define YUBA_COMPILER_KERNELS_LINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::kernels {

// The bytes of a position-independent shared object of the given objects. It needs the libraries of
// C, math, vector math and gcc at most, and names those it does need.
absl::StatusOr<std::string> LinkShared(const std::vector<std::string>& objects);

// The path of a system library ("libmvec.so.1"), or "".
std::string FindSystemLibrary(const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LINK_H_
