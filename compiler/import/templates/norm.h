// The template of a Euclidean norm, beside those of other reductions (ReduceTemplate).
#ifndef YUBA_COMPILER_IMPORT_TEMPLATES_NORM_H_
#define YUBA_COMPILER_IMPORT_TEMPLATES_NORM_H_

#include <vector>

#include "compiler/import/templates/templates.h"

namespace yuba::onnx {

// The root of the sum of squares over `axes`, at least one, ascending, whose gradient is 0 where it
// is 0: the derived one would be 0 times infinity there. `keep`: these dimensions stay, with extent
// 1.
OpTemplate NormTemplate(const Dims& dims, const std::vector<int>& axes, bool keep);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TEMPLATES_NORM_H_
