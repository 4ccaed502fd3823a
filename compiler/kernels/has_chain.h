// Whether a library does some post-ops in the call of a product. The structure of the call and of
// the steps decides, never an operator's name.
//
// Example: y[i, j] = max(sum(k) x[i, k] * w[k, j] + b[j] + r[i, j], 0) is a chain of cuBLASLt's: of
// the result, which is contiguous along the columns {j}, b runs along the channels {j} and r along
// all of it. With b[i] in place of b[j] it would be one of cuDNN's, with windows of one tap and the
// channels {i}.
#ifndef YUBA_COMPILER_KERNELS_HAS_CHAIN_H_
#define YUBA_COMPILER_KERNELS_HAS_CHAIN_H_

#include <vector>

#include "compiler/kernels/post_op_chains.h"
#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// Whether a library does all steps in a call of `product`, whose roles are those of the
// definition's indices; these also number the indices of the steps' operands. Calls with other
// structures than those that the chains are of have none: gradients of convolutions, and, unless
// any order will do, sums along indices that are apart in memory and contractions whose channels
// are neither.
bool HasChain(const LibraryPostOps& chains, const program::LibraryCall& product,
              const std::vector<Index>& indices, const std::vector<PostOp>& steps);

// Whether one product of matrices is all of the call: it has no batch, and its rows, columns and
// inner indices each lie next to each other in the tensors that have them.
bool IsOneProduct(const program::LibraryCall& call, const std::vector<Index>& indices);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_HAS_CHAIN_H_
