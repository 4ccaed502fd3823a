// Opaque definitions: a function of opsemantics/opaque computes the result, one *slice* a call. The
// output indices that some read has are those that may be cut: one call for each of their points.
// Along all other indices a slice is whole: an output index that no read has is a dimension of the
// result's slice, a reduction index one of an operand's. The reducer is kOpaque, the body a kOpaque
// call of the operands' reads, each dimension at an index of its own.
//
// Example: at[i: 4, p: 8] = opaque argsort(j: 8; 0) x0[i, j] is four calls with slices of 8. It may
// be cut along i; p and j are whole.
//
// Dimensions of slices are never split into factors (refine.h), and views are not composed into
// reads of an opaque definition: its function sees them as the description says.
#ifndef YUBA_OPSEMANTICS_DEFINITION_OPAQUE_H_
#define YUBA_OPSEMANTICS_DEFINITION_OPAQUE_H_

#include <string>

#include "opsemantics/definition/definition.h"
#include "opsemantics/opaque/opaque_function.h"

namespace yuba {

inline bool IsOpaque(const Definition& definition) {
  return definition.reducer == Reducer::kOpaque;
}

// Whether an opaque definition may be cut along the index: it is an output index that a read has.
bool MayBeCut(const Definition& definition, int index);

// The extents and types of the slices that the function gets, of a well-formed opaque definition.
OpaqueSignature SignatureOf(const Definition& definition);

// What is wrong with a definition that is opaque, or that is not but has parts of one, for a
// message: the form above, a function that is not known, or a signature that it refuses; "" where
// nothing is.
std::string WhyOpaqueIllegal(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_OPAQUE_H_
