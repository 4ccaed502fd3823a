// The nodes that a call of a function of the model becomes.
#ifndef YUBA_COMPILER_IMPORT_FILE_FUNCTION_BODY_H_
#define YUBA_COMPILER_IMPORT_FILE_FUNCTION_BODY_H_

#include "absl/status/status.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

using AttributeList = google::protobuf::RepeatedPtrField<::onnx::AttributeProto>;
using NodeList = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

struct Function {
  const ::onnx::FunctionProto* proto = nullptr;
  AttributeList defaults;  // of its attributes, where they have one
};

// Whether the function has the attributes and as many operands and outputs as `call` gives it: else
// the user's error, without the call's name.
absl::Status CheckCall(const ::onnx::NodeProto& call, const Function& function);

// The function's nodes with the operands, outputs and attributes of `call`. Values inside get names
// with `number`, another one for each call.
NodeList BodyOf(const ::onnx::NodeProto& call, const Function& function, int number);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_FUNCTION_BODY_H_
