// The numbers of a file that are part of a model's code.
#ifndef YUBA_COMPILER_IMPORT_STORED_NUMBERS_H_
#define YUBA_COMPILER_IMPORT_STORED_NUMBERS_H_

#include <map>
#include <string>

#include "compiler/model.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

// The stored floats of one element that are literals in the model, as an epsilon, by name: those
// that are no parameters. None where the model was not imported by this process.
std::map<std::string, TensorData> StoredNumbers(const compiler::Model& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_STORED_NUMBERS_H_
