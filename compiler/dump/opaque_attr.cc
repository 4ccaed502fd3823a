#include "compiler/dump/opaque_attr.h"

#include <vector>

#include "mlir/IR/Builders.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

template <typename T>
absl::StatusOr<T> Field(mlir::DictionaryAttr attr, const char* name) {
  const auto value = attr ? attr.getAs<T>(name) : T();
  if (!value) return UserError("opaque: '", name, "' is missing or of another kind");
  return value;
}

mlir::Attribute IndicesOf(mlir::Builder& builder, const program::OpaqueTensor& tensor) {
  return builder.getDenseI32ArrayAttr(
      std::vector<int32_t>(tensor.indices().begin(), tensor.indices().end()));
}

absl::Status ReadIndices(mlir::DictionaryAttr attr, const char* name,
                         program::OpaqueTensor* tensor) {
  YUBA_ASSIGN_OR_RETURN(const auto indices, Field<mlir::DenseI32ArrayAttr>(attr, name));
  for (int32_t index : indices.asArrayRef()) tensor->add_indices(index);
  return absl::OkStatus();
}

}  // namespace

mlir::DictionaryAttr AttrOf(mlir::MLIRContext* context, const program::OpaqueCalls& calls) {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::Attribute> arguments;
  for (const program::OpaqueTensor& argument : calls.arguments()) {
    arguments.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("operand", builder.getI32IntegerAttr(argument.operand())),
         builder.getNamedAttr("indices", IndicesOf(builder, argument))}));
  }
  const std::vector<double> numbers(calls.attributes().begin(), calls.attributes().end());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(calls.name())),
       builder.getNamedAttr("arguments", builder.getArrayAttr(arguments)),
       builder.getNamedAttr("result", IndicesOf(builder, calls.result())),
       builder.getNamedAttr("attributes", builder.getDenseF64ArrayAttr(numbers))});
}

absl::StatusOr<program::OpaqueCalls> OpaqueFrom(mlir::DictionaryAttr attr) {
  program::OpaqueCalls calls;
  YUBA_ASSIGN_OR_RETURN(const auto name, Field<mlir::StringAttr>(attr, "name"));
  calls.set_name(name.getValue().str());
  YUBA_ASSIGN_OR_RETURN(const auto arguments, Field<mlir::ArrayAttr>(attr, "arguments"));
  for (mlir::Attribute entry : arguments) {
    const auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
    program::OpaqueTensor* argument = calls.add_arguments();
    YUBA_ASSIGN_OR_RETURN(const auto operand, Field<mlir::IntegerAttr>(fields, "operand"));
    argument->set_operand(static_cast<int32_t>(operand.getInt()));
    YUBA_RETURN_IF_ERROR(ReadIndices(fields, "indices", argument));
  }
  YUBA_RETURN_IF_ERROR(ReadIndices(attr, "result", calls.mutable_result()));
  YUBA_ASSIGN_OR_RETURN(const auto numbers, Field<mlir::DenseF64ArrayAttr>(attr, "attributes"));
  for (double number : numbers.asArrayRef()) calls.add_attributes(number);
  return calls;
}

}  // namespace yuba::compiler
