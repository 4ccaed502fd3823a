// A convolution, or a gradient of one, as the library describes it: its three tensors, the formats
// that they may have, and a primitive for formats.
#ifndef YUBA_RUNTIME_HOST_CONVOLUTION_ROUTINE_H_
#define YUBA_RUNTIME_HOST_CONVOLUTION_ROUTINE_H_

#include <array>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/convolution_geometry.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {

// The tensors of a convolution, in the order in which the library's functions take them.
enum { kInput, kFilter, kOutput, kTensors };
using ConvolutionFormats = std::array<dnnl_memory_desc_t, kTensors>;

class ConvolutionRoutine {
 public:
  // `geometry` must outlive this.
  ConvolutionRoutine(const OneDnn& library, program::LibraryCall::Kind kind,
                     const ConvolutionTensors& tensors, const ConvolutionGeometry& geometry);

  // `plain` has the tensors as they lie in their buffers, `any` formats of the library's choice.
  absl::Status Describe(ConvolutionFormats& plain, ConvolutionFormats& any) const;

  // The tensor in blocks of 16 channels; nullopt where its channels do not fill these, or it has
  // more dimensions of positions than three.
  absl::optional<dnnl_memory_desc_t> InBlocks(const dnnl_memory_desc_t& tensor) const;

  // A primitive for these formats, with a bias and post-ops or without (null). Null where the
  // library has none, or, where it is to be `fast`, none of those (DnnlPrimitive::Convolution).
  absl::StatusOr<std::unique_ptr<DnnlPrimitive>> Make(const ConvolutionFormats& formats,
                                                      const dnnl_memory_desc_t* bias,
                                                      const DnnlPostOps* after, bool fast) const;

  // What the library calls a tensor: the format in which the primitive has it, and its argument.
  const dnnl_memory_desc_t& FormatOf(const DnnlPrimitive& primitive, int tensor) const;
  int ArgumentOf(int tensor) const;

 private:
  absl::Status DescribeCall(const ConvolutionFormats& formats, const dnnl_memory_desc_t* bias,
                            dnnl_convolution_desc_t* desc) const;

  const OneDnn& library_;
  const program::LibraryCall::Kind kind_;
  const std::array<LibraryTensor, kTensors> places_;  // which tensors of the call they are
  const ConvolutionGeometry& geometry_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_CONVOLUTION_ROUTINE_H_
