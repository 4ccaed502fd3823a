// Convolutions and their gradients through oneDNN: plain strided tensors, reordered to the
// library's own formats where it prefers those; a filter that does not change between runs is
// reordered once. Where nothing but such calls touches a buffer, it holds the library's format, and
// nothing is reordered between them.
#ifndef YUBA_RUNTIME_HOST_CONVOLUTION_H_
#define YUBA_RUNTIME_HOST_CONVOLUTION_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/host/onednn.h"

namespace yuba::runtime {

// How buffers hold their tensors on one device.
struct BufferFormats {
  std::vector<bool> free;                    // [buffer]: in any format that fits into it
  std::vector<bool> blocked;                 // [buffer]: of them those in blocks of 16 channels
  std::map<int, dnnl_memory_desc_t> chosen;  // by buffer: a format that is not the plain one
};

// A convolution, or a gradient of one, that is not prepared yet.
class ConvolutionKernel : public LibraryKernel {
 public:
  // The input or the output of the call, or an operand of a post-op that lies like the output.
  struct Touch {
    int buffer = -1;
    dnnl_memory_desc_t plain;  // what of the buffer is used, as it lies where nobody chose a format
    bool whole = false;        // that is all of it, and by one call of the library
    bool writes = false;
    bool residual = false;  // an operand of a post-op
  };
  virtual std::vector<Touch> Touches() const = 0;

  // Whether the library has a fast routine for the call where input and output are in blocks of 16
  // channels, which fill these; an input of fewer than 16 channels may be plain.
  virtual bool TakesBlocks() const = 0;

  // Whether the library's format of the input or the result is that of its buffer.
  virtual bool GainsBy(const BufferFormats& formats) const = 0;

  // Called once, before all else but Touches and TakesBlocks, in the order of the program: of a
  // free buffer that the call writes the format is chosen. Where no instruction writes the filter
  // (`keep_filter`), it is kept in the library's format. ResourceExhausted where there is no memory
  // for that.
  virtual absl::Status Prepare(bool keep_filter, BufferFormats& formats) = 0;

  virtual bool FilterIsLeft() const = 0;  // the operand of the call that the filter is
};

// `kernel` has a result and terms on `device`. Of contractions of f32 those are convolutions that
// have windows of one tap (PointwiseOf), and post-ops that the library does, or none; null for
// others. Internal where the library refuses the call.
absl::StatusOr<std::unique_ptr<ConvolutionKernel>> MakeConvolution(const OneDnn& library,
                                                                   const LoadedProgram& program,
                                                                   const program::Kernel& kernel,
                                                                   int device);

// Which buffers may hold formats of the library's choice: of no port and no exchange, written by
// one of the kernels and read by others, and by nothing else, all of which use them in one way.
// `kernels` has those of the program's instructions that are convolutions, by instruction.
//
// Where a residual is added along buffers that calls pass on to each other, all of them are in
// blocks of 16 channels, if all these calls take them: with a residual oneDNN's routines for
// channels innermost need up to 1.6 times as long as those for blocks, without one both are alike.
BufferFormats FreeBuffers(const LoadedProgram& program, const OneDnn& library,
                          const std::map<int, const ConvolutionKernel*>& kernels);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_CONVOLUTION_H_
