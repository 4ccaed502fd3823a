// Relocatable objects to one shared object, by lld inside this process (no linker need be
// installed). Host only; PTX is not linked.
#ifndef YUBA_COMPILER_KERNELS_LINK_H_
#define YUBA_COMPILER_KERNELS_LINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::kernels {

// The bytes of a position-independent shared object made of `objects`, which are the bytes of
// relocatable objects. It may need libc, libm, libmvec and libgcc_s, and lists those that it needs,
// so that loading it loads them. Calls from several threads take turns. An error has lld's message.
absl::StatusOr<std::string> LinkShared(const std::vector<std::string>& objects);

// The path of a system library such as "libmvec.so.1"; empty where it is not found.
std::string FindSystemLibrary(const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LINK_H_
