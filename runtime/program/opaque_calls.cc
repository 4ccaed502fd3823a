#include "runtime/program/opaque_calls.h"

namespace yuba::runtime {

std::vector<bool> CallIndices(const program::Function& function) {
  std::vector<bool> read(function.indices_size(), false), calls = read;
  for (const program::OpaqueTensor& argument : function.opaque().arguments()) {
    for (int index : argument.indices()) read[index] = true;
  }
  for (int index : function.opaque().result().indices()) calls[index] = read[index];
  return calls;
}

OpaqueSignature SignatureOf(const LoadedProgram& program, const program::Kernel& kernel) {
  const program::Function& function = program.message().functions(kernel.function());
  const std::vector<bool> calls = CallIndices(function);
  const auto type_of = [&](const program::OpaqueTensor& tensor, int buffer) {
    OpaqueType slice;
    slice.type = program.type(buffer);
    for (int index : tensor.indices()) {
      if (!calls[index]) slice.extents.push_back(function.indices(index).extent());
    }
    return slice;
  };
  OpaqueSignature signature;
  for (const program::OpaqueTensor& argument : function.opaque().arguments()) {
    signature.arguments.push_back(type_of(argument, kernel.operands(argument.operand()).buffer()));
  }
  signature.result = type_of(function.opaque().result(), kernel.results(0).buffer());
  signature.attributes.assign(function.opaque().attributes().begin(),
                              function.opaque().attributes().end());
  return signature;
}

}  // namespace yuba::runtime
