// Operators that only the user describes: the library has them by their own names.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_BY_NAME_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_BY_NAME_H_

#include <string>

#include "compiler/import/translate/node.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// The name under which users describe the operator as this node uses it: its own, and behind it the
// values of attributes that are texts, by the order of the attributes' names. Example: FusedGemm
// with activation = "Relu" is FusedGemm_Relu.
std::string DescriptionNameOf(const ::onnx::NodeProto& node);

// Translates by a description that users add, with the operator's own name or DescriptionNameOf:
// operands and outputs correspond one to one, and attributes by their names. `axis` says besides
// how many dimensions the first pack of an operand x[a.., c, b..] has.
void TranslateByName(const OpDescription& op, NodeContext& node);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_BY_NAME_H_
