// A kernel of several definitions runs through the values of the indices that they share, and
// computes all definitions at one value before it goes on to the next (program.proto, Function). So
// of a tensor that one of them computes, another one can only read the *slice* of the value at
// hand. This file says whether it does.
//
// Example, with the shared index i: m[i] = max(j) x[i, j] and y[i, j] = x[i, j] - m[i]: y reads of
// m only what was computed at its own i. z[i, j] = y[i, j] + y[i, j + 1] reads its own slice of y
// too, a row, but with i and j shared it would not.
#ifndef YUBA_COMPILER_SPMD_OWN_SLICE_H_
#define YUBA_COMPILER_SPMD_OWN_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

// Whether each read of operand `operand` of `reader` is of the slice that `writer` computes at the
// same values of the first `shared` indices, which are output indices of both. The operand is the
// tensor that `writer` computes.
bool ReadsOwnSlice(const Definition& reader, int operand, const Definition& writer, int shared);

// Whether the slice of the result is one element: all output indices are shared.
bool SliceIsElement(const Definition& definition, int shared);

// Sections of one function: more takes long to compile.
constexpr size_t kMostSections = 32;
// Terms of a reduction that no two threads share out (kernels/threads).
constexpr int64_t kMostTermsOfElement = 7;

// Whether threads of a GPU compute of the definition, which shares so many indices with others (0:
// it is alone), each element by themselves: a map, or a reduction of a few terms. These stand
// beside each other in one kernel (program.proto, sections).
bool IsOfElements(const Definition& definition, int shared);

// Whether the definitions of a cluster, which share so many indices, go through rows inside of
// these together: two of them at least have loops there. Threads of a GPU then compute a row
// together, and as many for each row of all clusters that are alike: these stand beside each other
// too. None of them reduces down columns, whose threads are shared out otherwise (kernels/threads).
bool IsOfRows(const std::vector<const Definition*>& definitions, int shared);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_OWN_SLICE_H_
