#include "compiler/kernels/opaque_calls.h"

namespace yuba::kernels {
namespace {

void SetIndices(const std::vector<Affine>& position, program::OpaqueTensor* tensor) {
  for (const Affine& affine : position) tensor->add_indices(affine.BareIndex());
}

}  // namespace

program::OpaqueCalls OpaqueCallsFor(const Definition& definition) {
  program::OpaqueCalls calls;
  calls.set_name(definition.opaque.function);
  for (const ExprPtr& read : definition.body->args) {
    program::OpaqueTensor* argument = calls.add_arguments();
    argument->set_operand(read->operand);
    SetIndices(read->position, argument);
  }
  SetIndices(definition.left, calls.mutable_result());
  for (double attribute : definition.opaque.attributes) calls.add_attributes(attribute);
  return calls;
}

}  // namespace yuba::kernels
