// Which index runs along which dimension: the one place that says so. It follows dimensions from
// tensor to node and back, for names of dimensions, clusters, explanations and starts of searches.
//
// Example: in y[n, p] = sum(c, u) x[n, c, 2*p + u - 1] * f[c, u], n runs along dimension 0 of x and
// c along dimension 1, alone. Along dimension 2 run p and u; p, which takes the larger steps over
// more elements, is the one that DimsAlong gives it.
#ifndef YUBA_OPSEMANTICS_REGIONS_ALONG_H_
#define YUBA_OPSEMANTICS_REGIONS_ALONG_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// [dimension of operand `operand`, of the result where it is below 0]: the index that runs along it
// alone, at its bare position, in all reads, those of conditions on data too (embeddings read the
// numbers of their rows there). -1 where there is none, or reads differ.
std::vector<int> IndicesAlong(const Definition& definition, int operand);

// [index]: the dimension of the operand, or of the result, along which it runs; -1 for none. Of
// several indices along one dimension it belongs to the one that runs farthest: the greatest
// product of coefficient and extent.
std::vector<int> DimsAlong(const Definition& definition, int operand);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_ALONG_H_
