// Which uses of opaque functions GPUs compute: one table, by the function's name, that the compiler
// asks when it makes a program and the back end when it opens one (cuda/opaque_kernels.cc has the
// kernels). Processors compute all.
#ifndef YUBA_RUNTIME_PROGRAM_OPAQUE_ON_GPUS_H_
#define YUBA_RUNTIME_PROGRAM_OPAQUE_ON_GPUS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "opsemantics/opaque/opaque_function.h"

namespace yuba::runtime {

// Elements of a row that GPUs sort at most: they count places in 32 bits.
constexpr int64_t kMostSortedOnGpus = std::numeric_limits<uint32_t>::max();

// Why GPUs do not compute a use of the function, whose signature has nothing else wrong, for a
// message: "it runs on processors only"; "" where they do.
std::string WhyNotOnGpus(absl::string_view function, const OpaqueSignature& signature);

// The names in the table.
std::vector<const char*> OpaqueFunctionsOnGpus();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_OPAQUE_ON_GPUS_H_
