// Small constants at import: from the bytes of a file to elements that the interpreter computes
// with, and back. An element takes 8 bytes or more, whatever its type.
#ifndef YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_
#define YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

// `bytes` are row-major and little-endian, exactly as many as the type and the dimensions need.
TensorValue ValueFromBytes(ElementType type, const std::vector<int64_t>& dims,
                           const std::string& bytes);
std::string BytesFromValue(const TensorValue& value);

// A value of i64, and one of f32: `elements` are row-major, as many as `dims` need.
TensorValue IntegerValue(const std::vector<int64_t>& dims, const std::vector<int64_t>& elements);
TensorValue FloatValue(const std::vector<int64_t>& dims, const std::vector<double>& elements);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_
