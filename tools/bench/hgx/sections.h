// The sections of docs/hgx.md, each printed as Markdown to stdout. An error is that of a model, a
// search or a program that cannot be made.
#ifndef YUBA_TOOLS_BENCH_HGX_SECTIONS_H_
#define YUBA_TOOLS_BENCH_HGX_SECTIONS_H_

#include <cstdint>

#include "absl/status/status.h"

namespace yuba::tools {

// The kernels at which all sections but that of collectives predict, as machine files have them.
inline constexpr char kKernelSet[] = "libraries";

absl::Status PrintCollectives();
// Kernels at library rates against PyTorch on one GPU.
absl::Status PrintOneGpu();
// Llama-3-8B of so many layers by ZeRO-3; as published it has 32.
absl::Status PrintFsdp(int64_t layers);
// Eight devices against one, and against what others do.
absl::Status PrintSpeedups(int64_t layers);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_HGX_SECTIONS_H_
