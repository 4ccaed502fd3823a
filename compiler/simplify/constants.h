// Small values at import: from bytes to elements and back.
#ifndef YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_
#define YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

// `bytes` are row-major and little-endian, as many as the type and the dimensions need.
TensorValue ValueFromBytes(ElementType type, const std::vector<int64_t>& dims,
                           const std::string& bytes);
std::string BytesFromValue(const TensorValue& value);

TensorValue IntegerValue(const std::vector<int64_t>& dims, const std::vector<int64_t>& elements);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_CONSTANTS_H_
