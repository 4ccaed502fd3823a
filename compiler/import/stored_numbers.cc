#include "compiler/import/stored_numbers.h"

#include "compiler/import/source.h"

namespace yuba::onnx {

std::map<std::string, TensorData> StoredNumbers(const compiler::Model& model) {
  std::map<std::string, TensorData> numbers;
  if (model.source == nullptr) return numbers;
  for (const OnnxValue& value : model.source->graph.values) {
    const bool literal = value.stored && value.kind == TensorKind::kConstant &&
                         IsFloat(value.type) && value.initial.data != nullptr &&
                         ElementCount(TensorType{value.type, value.dims}) == 1;
    if (literal) numbers[value.name] = {value.type, value.dims, *value.initial.data};
  }
  return numbers;
}

}  // namespace yuba::onnx
