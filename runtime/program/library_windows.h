// Windows of library calls on one device, for validator and back ends: which tensor of a call is
// what of its convolution, and which part of each window's positions meet at all.
//
// Example: 8 rows, 3 taps, stride 1, low 1, cut over two devices by rows of the output. The first
// one computes outputs [0, 4), which with taps [0, 3) meet rows [0, 5) of the input. Of a data
// gradient it computes rows [0, 4) of the input, which meet outputs [0, 5).
#ifndef YUBA_RUNTIME_PROGRAM_LIBRARY_WINDOWS_H_
#define YUBA_RUNTIME_PROGRAM_LIBRARY_WINDOWS_H_

#include "opsemantics/base/box.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// A tensor of a library call.
enum class LibraryTensor { kLeft, kRight, kResult };

// Which tensors are the input, the filter and the output of the call's convolution.
struct ConvolutionTensors {
  LibraryTensor input = LibraryTensor::kLeft, filter = LibraryTensor::kRight,
                output = LibraryTensor::kResult;
};
// `kind` has windows.
ConvolutionTensors TensorsOf(program::LibraryCall::Kind kind);

// Where the kernel, which calls a library, has this tensor.
const program::Access& AccessOf(const LoadedProgram& program, const program::Kernel& kernel,
                                LibraryTensor tensor);

// Output positions p, taps u and input positions q of one window; of a number that the window lacks
// the interval is [0, 1).
struct WindowParts {
  Interval output, taps, input;
};

// What of `parts` meets: the hulls of all p, u and q with p*stride + u*dilation - low = q. Empty
// where nothing does, as where only padding is read. It takes time for each tap.
WindowParts WindowHits(const program::LibraryWindow& window, const WindowParts& parts);

// The parts that the kernel's indices give on one device. An operand's dimension without an index
// counts as a whole; the result's part is cut to the box that is written.
WindowParts PartsOf(const LoadedProgram& program, const program::Kernel& kernel,
                    const program::LibraryWindow& window, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_LIBRARY_WINDOWS_H_
