// What the library does to the result of a convolution in the same call: its bias and post-ops, and
// the tensors that they read.
#ifndef YUBA_RUNTIME_HOST_CONVOLUTION_POST_OPS_H_
#define YUBA_RUNTIME_HOST_CONVOLUTION_POST_OPS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/convolution_geometry.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {

// The steps behind one convolution. The first that adds one value for each channel is the call's
// bias, from which routines start their sums, if nothing but sums stands before it: products and
// what is added to them are one sum, whose order is the library's. As a post-op it would cost a
// pass over the registers of each tile.
//
// Example: max(sum(...) + b[c] + r[n, c, y, x], 0) is a convolution with the bias b and the
// post-ops "add r" and ReLU. r has the format of the output, whichever the library chooses.
class ConvolutionPostOps {
 public:
  explicit ConvolutionPostOps(const OneDnn& library) : library_(library), steps_(library) {}
  ConvolutionPostOps(const ConvolutionPostOps&) = delete;

  // Describes the steps of `shape`. `plain` is the output as it lies in its buffer, `any` the same
  // in a format of the library's choice. False where an operand is neither one value, nor one for
  // each channel, nor lies like the output: then this does nothing. Called at most once.
  absl::StatusOr<bool> Describe(const LibraryShape& shape, const ConvolutionGeometry& geometry,
                                const dnnl_memory_desc_t& plain, const dnnl_memory_desc_t& any);

  // For the description of the convolution; null where there is none.
  const dnnl_memory_desc_t* bias() const { return bias_.has_value() ? &*bias_ : nullptr; }
  const DnnlPostOps* steps() const { return &steps_; }

  // An operand: one value for each channel, or one, or one for each element of the output.
  struct Operand {
    explicit Operand(const OneDnn& library) : tensor(library) {}
    int argument = 0;  // of the primitive
    dnnl_memory_desc_t plain;
    bool like_output = false;
    DnnlTensor tensor;
  };
  // [operand of a step, as PostOpShape::number has them]. Of those that lie like the output `plain`
  // is set to what their buffers hold before Prepare.
  const std::vector<std::unique_ptr<Operand>>& operands() const { return operands_; }

  // `output` is the format in which the primitive writes.
  absl::Status Prepare(const dnnl_memory_desc_t& output);

 private:
  // False where it lies otherwise.
  absl::StatusOr<bool> DescribeOperand(const LibraryShape& shape,
                                       const ConvolutionGeometry& geometry, int number,
                                       Operand& operand) const;

  const OneDnn& library_;
  DnnlPostOps steps_;  // without the bias
  absl::optional<dnnl_memory_desc_t> bias_;
  std::vector<std::unique_ptr<Operand>> operands_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_CONVOLUTION_POST_OPS_H_
