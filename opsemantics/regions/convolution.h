// Convolutions and their gradients, by structure: sums of products of three tensors whose spatial
// indices are tied by windows. An output position p, a tap u of the filter and a position q of the
// input meet where
//
//   p*stride + u*dilation - low = q
//
// and whichever of the three tensors is the result, it is one structure:
//
//   convolution      output[n.., a.., o.., p..] = sum(c.., u..)
//   data gradient    input [n.., a.., c.., q..] = sum(o.., p.., u..)
//   weight gradient  filter[a.., o.., c.., u..] = sum(n.., p..)
//
// of the product of the two other tensors, in any order of dimensions. A window may stand in the
// position of a read, x[2*p + u - 1], which is 0 outside, or be a constraint, where 2*p + u - 1 ==
// q.
//
// Example: dx[n, c, q] = sum(o, p, u where 2*p + u - 1 == q) dy[n, o, p] * w[o, c, u] is a data
// gradient with output dy, filter w, images {n}, outputs {o}, inputs {c} and one window of stride 2
// and low 1. A transposed convolution is the same.
#ifndef YUBA_OPSEMANTICS_REGIONS_CONVOLUTION_H_
#define YUBA_OPSEMANTICS_REGIONS_CONVOLUTION_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The tensors of a sum of products: the two factors of the body and the result.
enum class ProductTensor { kFirst, kSecond, kResult };

// One spatial dimension of the three tensors. A tensor may lack it (no index, no dimension), as the
// filter of a window with one tap: its number is 0 then. With a dimension but no index the number
// follows from the two others.
struct Window {
  int output = -1, kernel = -1, input = -1;              // indices: p, u, q
  int output_dim = -1, filter_dim = -1, input_dim = -1;  // flat dimensions along which they run
  int64_t stride = 1, dilation = 1, low = 0;             // stride and dilation are at least 1
};

// Which tensor is what, and the indices outside of windows, by the tensors that have them.
struct Convolution {
  ProductTensor input = ProductTensor::kFirst, filter = ProductTensor::kSecond,
                output = ProductTensor::kResult;
  std::vector<int> images;      // n: input and output
  std::vector<int> groups;      // a: all three
  std::vector<int> outputs;     // o: filter and output
  std::vector<int> inputs;      // c: input and filter
  std::vector<Window> windows;  // at least one
};

// The convolution or gradient that the definition is; nullopt for other structures. Where a filter
// and an output could be exchanged, as in y[p] = sum(u) x[p + u] * f[u], the input's order of
// dimensions decides (images stand outside of channels), else the filter is the smaller one.
absl::optional<Convolution> MatchConvolution(const Definition& definition);

// The operand that a factor of the definition's body reads; -1 for its result.
int OperandOf(const Definition& definition, ProductTensor tensor);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_CONVOLUTION_H_
