// What operators call their operands, beside the name table (table.h): where a file says of its
// stored values nothing, this tells a bias from a number that only scales.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_OPERAND_WORDS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_OPERAND_WORDS_H_

#include <string>

#include "onnx/onnx.pb.h"

namespace yuba::onnx {

enum class OperandWord { kNone, kWeight, kBias, kSlope, kScale, kVariance, kFirstState };

// The word for operand `position` of the ONNX operator; kNone where there is none.
OperandWord WordOfOperand(const std::string& op_type, int position);

// Whether the operand is where a value begins that each run of the nodes inside of the node
// changes, as the first state of a Scan. One that they only hand on is a weight as any other.
bool BeginsWhatRunsChange(const ::onnx::NodeProto& node, int position);

// Whether the operator adds, so that one number that it adds to what another one multiplies by a
// matrix of one column is a bias: exporters write the bias of a linear layer so where its operand
// has three dimensions.
bool Adds(const std::string& op_type);
bool MultipliesMatrices(const std::string& op_type);
// Whether the result is the first operand itself.
bool IsCopy(const std::string& op_type);
// Whether the result is the first operand in another shape or order: who reads it reads that.
bool IsView(const std::string& op_type);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_OPERAND_WORDS_H_
