// Products as several operators have them, of values instead of operands.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_PRODUCTS_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_PRODUCTS_H_

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// The product of matrices or vectors as MatMul has it; -1 after a mistake.
int MatMulOf(NodeContext& node, int a, int b);

// The convolution that the node's attributes say, as Conv has them; -1 after a mistake. `bias` is
// -1 where there is none.
int ConvOf(NodeContext& node, int x, int filter, int bias);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_PRODUCTS_H_
