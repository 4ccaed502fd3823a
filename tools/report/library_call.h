// What a library computes in a kernel, in words that another program can call the same library by:
// tools/gpu/library_calls.py times PyTorch's calls of the same sizes.
//
// A product C (m x n) = A (m x k) B (k x n), for each of a batch:
//   {"call": "product", "type": "bf16", "result": "f32", "tf32": false, "times": 1, "post_ops": 0,
//    "m": 512, "n": 64, "k": 128, "batch": [12], "a": [65536, 128, 1], "b": [8192, 64, 1]}
// `a` and `b` are by how many elements a step along the batch's dimensions moves, then a step to
// the next row and to the next column. A convolution or a gradient of one ("convolution",
// "data_gradient", "weight_gradient"), of images x channels x positions, whichever is computed:
//   {"call": "convolution", "type": ..., "result": ..., "tf32": ..., "times": 1, "post_ops": 0,
//    "images": 32, "groups": 1, "inner": 64, "channels": 128, "windows": [{"input": 56, "taps": 3,
//    "outputs": 56, "stride": 1, "dilation": 1, "before": 1, "behind": 1}, ...],
//    "input": [200704, 3136, 56, 1], "filter": [576, 9, 3, 1], "output": [401408, 3136, 56, 1]}
// `inner` and `channels` are input and output channels of a group, `before` and `behind` padding,
// and the lists steps along images (of the filter: output channels), channels and windows.
// `times` is how often the device calls it for the kernel. Other calls have their kind alone.
#ifndef YUBA_TOOLS_REPORT_LIBRARY_CALL_H_
#define YUBA_TOOLS_REPORT_LIBRARY_CALL_H_

#include "nlohmann/json.hpp"
#include "runtime/program/program.h"

namespace yuba::tools {

// `kernel` calls a library. Null where it has nothing to compute on the device.
nlohmann::ordered_json LibraryCallJson(const runtime::LoadedProgram& program,
                                       const program::Kernel& kernel, int device);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_LIBRARY_CALL_H_
