#include "compiler/streams/move_instructions.h"

#include <utility>

#include "opsemantics/base/check.h"

namespace yuba::compiler {

void MoveInstructions(const std::vector<int>& order, program::Program& program) {
  const int count = program.instructions_size();
  YUBA_CHECK(static_cast<int>(order.size()) == count);
  std::vector<int> place(count, -1);  // [old position]
  google::protobuf::RepeatedPtrField<program::Instruction> moved;
  for (int i = 0; i < count; ++i) {
    YUBA_CHECK(place[order[i]] < 0) << "instruction " << order[i] << " comes twice";
    place[order[i]] = i;
    *moved.Add() = std::move(*program.mutable_instructions(order[i]));
  }
  *program.mutable_instructions() = std::move(moved);
  for (program::Attention& attention : *program.mutable_attention()) {
    const int forward = attention.forward_end() - attention.forward_begin();
    const int backward = attention.backward_end() - attention.backward_begin();
    attention.set_forward_begin(place[attention.forward_begin()]);
    attention.set_forward_end(attention.forward_begin() + forward);
    if (backward > 0) attention.set_backward_begin(place[attention.backward_begin()]);
    attention.set_backward_end(attention.backward_begin() + backward);
    for (program::AttentionProduct& product : *attention.mutable_products())
      product.set_instruction(place[product.instruction()]);
  }
  for (program::JointCall& call : *program.mutable_joint_calls()) {
    call.set_product(place[call.product()]);
    call.set_other(place[call.other()]);
  }
}

}  // namespace yuba::compiler
