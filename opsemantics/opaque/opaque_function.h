// Opaque functions: what the language cannot say, as functions of this process with one signature.
// A description `opaque NAME(...)` calls the function of its name; the interpreter and the host's
// runtime call the same one. A function sees one *slice*: the indices that may be cut are fixed,
// all other dimensions are whole. So it knows nothing of devices, and a call on part of the slices
// gives the bits that a call on all of them gives.
//
// Example: `opaque argsort(x[s.., n]; descending: bool = 0) -> at[s.., n]: i64 cuts s ...` on
// f32[4, 8] is four calls, each with one argument of extents {8} and a result of extents {8}.
#ifndef YUBA_OPSEMANTICS_OPAQUE_OPAQUE_FUNCTION_H_
#define YUBA_OPSEMANTICS_OPAQUE_OPAQUE_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "opsemantics/base/element_type.h"

namespace yuba {

// The type of one argument or of the result, without the dimensions that may be cut.
struct OpaqueType {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> extents;
};

// What a use of a function says of itself before there are values.
struct OpaqueSignature {
  std::vector<OpaqueType> arguments;  // in the order of the description
  OpaqueType result;
  std::vector<double> attributes;  // in the order of the description; bools are 0 or 1
};

// One slice of a tensor in memory. In hash arithmetic floats are 8-byte elements of Z/2^64.
template <typename Byte>
struct OpaqueSlice {
  Byte* data = nullptr;  // its first element
  OpaqueType type;
  std::vector<int64_t> strides;  // [dimension], in elements
};

struct OpaqueCall {
  std::vector<OpaqueSlice<const char>> arguments;
  OpaqueSlice<char> result;
  std::vector<double> attributes;
  bool hash = false;  // whether float elements are elements of hash arithmetic
};

struct OpaqueFunction {
  const char* name;
  // What is wrong with a use of this signature, for a message; "" where nothing is.
  std::string (*why_not)(const OpaqueSignature& signature);
  // Computes the result of a slice whose signature has nothing wrong. It keeps no state and depends
  // on nothing but the call, so that any thread may call it. Floats may come as f64 whatever the
  // signature says, and integers as i64: the interpreter has no others.
  void (*run)(const OpaqueCall& call);
};

absl::Span<const OpaqueFunction> OpaqueFunctions();  // the table; a new function is a row of it
const OpaqueFunction* FindOpaqueFunction(absl::string_view name);  // null where there is none
// "no opaque function is called 'f'; there are: argsort"
std::string NoOpaqueFunction(absl::string_view name);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_OPAQUE_OPAQUE_FUNCTION_H_
