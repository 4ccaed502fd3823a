#include "compiler/verify/unfold.h"

#include <algorithm>
#include <numeric>

namespace yuba::compiler {
namespace {

using Instructions = google::protobuf::RepeatedPtrField<program::Instruction>;

// Whether a kernel of the function is as that of one definition, which names its indices and
// operands in order.
bool IsPlain(const program::Function& function, const program::Kernel& kernel) {
  if (function.definitions_size() != 1) return false;
  const program::FunctionDefinition& definition = function.definitions(0);
  if (definition.indices_size() != function.indices_size() ||
      definition.operands_size() != kernel.operands_size()) {
    return false;
  }
  for (int i = 0; i < definition.indices_size(); ++i) {
    if (definition.indices(i) != i) return false;
  }
  for (int o = 0; o < definition.operands_size(); ++o) {
    if (definition.operands(o).operand() != o) return false;
  }
  return true;
}

bool AllPlain(const program::Program& program) {
  const Instructions& instructions = program.instructions();
  return std::all_of(instructions.begin(), instructions.end(), [&](const auto& instruction) {
    return !instruction.has_kernel() ||
           IsPlain(program.functions(instruction.kernel().function()), instruction.kernel());
  });
}

}  // namespace

Unfolded::Unfolded(const program::Program& program) : program_(program) {
  if (AllPlain(program)) {
    numbers_.resize(program.instructions_size());
    std::iota(numbers_.begin(), numbers_.end(), 0);
    return;
  }
  is_new_ = true;
  unfolded_.set_hash_arithmetic(program.hash_arithmetic());
  *unfolded_.mutable_mesh() = program.mesh();
  *unfolded_.mutable_inputs() = program.inputs();
  *unfolded_.mutable_outputs() = program.outputs();
  for (const program::Initializer& parameter : program.parameters()) {
    *unfolded_.add_parameters()->mutable_port() = parameter.port();
  }
  *unfolded_.mutable_buffers() = program.buffers();
  AddFunctions();
  AddInstructions();
  for (const program::Entry& entry : program.entries()) {
    program::Entry& same = *unfolded_.add_entries();
    same.set_name(entry.name());
    same.set_times(entry.times());
    same.set_begin(static_cast<int>(
        std::lower_bound(numbers_.begin(), numbers_.end(), entry.begin()) - numbers_.begin()));
  }
}

void Unfolded::AddFunctions() {
  for (const program::Function& function : program_.functions()) {
    first_.push_back(unfolded_.functions_size());
    for (const program::FunctionDefinition& definition : function.definitions()) {
      program::Function& alone = *unfolded_.add_functions();
      program::FunctionDefinition& only = *alone.add_definitions();
      only.set_text(definition.text());
      only.set_reducer(definition.reducer());
      for (int i = 0; i < definition.indices_size(); ++i) {
        *alone.add_indices() = function.indices(definition.indices(i));
        only.add_indices(i);
      }
      for (int o = 0; o < definition.operands_size(); ++o) only.add_operands()->set_operand(o);
      only.mutable_computes()->set_result(0);
    }
  }
}

void Unfolded::AddInstructions() {
  Instructions& unfolded = *unfolded_.mutable_instructions();
  for (int i = 0; i < program_.instructions_size(); ++i) {
    const program::Instruction& instruction = program_.instructions(i);
    if (instruction.has_kernel()) {
      AddKernels(instruction.kernel(), unfolded);
    } else {
      *unfolded.Add() = instruction;
    }
    numbers_.resize(unfolded.size(), i);
  }
}

// Of a result or an internal tensor a definition reads at most what the kernel computes of it.
void Unfolded::AddKernels(const program::Kernel& kernel, Instructions& unfolded) {
  const int internals = unfolded_.buffers_size();  // the buffer of the first internal tensor
  for (const program::Internal& internal : kernel.internals()) {
    program::Buffer& buffer = *unfolded_.add_buffers();
    buffer.set_name(internal.name());
    buffer.set_type(internal.type());
    *buffer.mutable_dims() = internal.dims();
    *buffer.mutable_box() = internal.box();
  }
  const auto access_of = [&](const program::KernelTensor& tensor) {
    if (tensor.kind_case() == program::KernelTensor::kOperand) {
      return kernel.operands(tensor.operand());
    }
    if (tensor.kind_case() == program::KernelTensor::kResult) {
      return kernel.results(tensor.result());
    }
    program::Access access;
    access.set_buffer(internals + tensor.internal());
    *access.mutable_box() = kernel.internals(tensor.internal()).box();
    return access;
  };
  const program::Function& function = program_.functions(kernel.function());
  for (int d = 0; d < function.definitions_size(); ++d) {
    const program::FunctionDefinition& definition = function.definitions(d);
    program::Kernel& alone = *unfolded.Add()->mutable_kernel();
    alone.set_function(first_[kernel.function()] + d);
    alone.add_node(kernel.node(d));
    alone.add_from(kernel.from(d));
    for (const int index : definition.indices()) *alone.add_indices() = kernel.indices(index);
    for (const program::KernelTensor& operand : definition.operands()) {
      *alone.add_operands() = access_of(operand);
    }
    *alone.add_results() = access_of(definition.computes());
  }
}

}  // namespace yuba::compiler
