#include "tests/runtime/program_builder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/program/enums.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kSlotAlignment = 64;

}  // namespace

ProgramBuilder::ProgramBuilder(const std::vector<int>& mesh) {
  for (size_t a = 0; a < mesh.size(); ++a) {
    program::MeshAxis* axis = message_.add_mesh();
    axis->set_name(std::string(1, static_cast<char>('a' + a)));
    axis->set_size(mesh[a]);
    devices_ *= mesh[a];
  }
}

void ProgramBuilder::Repeat(int times) {
  const auto once = message_.instructions();
  for (int i = 1; i < times; ++i) message_.mutable_instructions()->MergeFrom(once);
}

program::Bound ProgramBuilder::Table(const std::vector<int64_t>& by_device) const {
  program::Bound bound;
  REQUIRE(static_cast<int>(by_device.size()) == devices_);
  for (int a = 0; a < message_.mesh_size(); ++a) bound.add_axes(a);
  for (int64_t value : by_device) bound.add_values(value);
  return bound;
}

program::Box ProgramBuilder::BoxTable(const std::vector<Box>& by_device) const {
  program::Box box;
  for (size_t d = 0; d < by_device[0].size(); ++d) {
    std::vector<int64_t> begins, ends;
    for (const Box& of_device : by_device) {
      begins.push_back(of_device[d].begin);
      ends.push_back(of_device[d].end);
    }
    program::Range* range = box.add_dims();
    *range->mutable_begin() = Table(begins);
    *range->mutable_end() = Table(ends);
  }
  return box;
}

int ProgramBuilder::AddBuffer(const std::string& name, program::ElementType type,
                              const std::vector<int64_t>& dims, const std::vector<Box>& boxes) {
  program::Buffer* buffer = message_.add_buffers();
  buffer->set_name(name);
  buffer->set_type(type);
  for (int64_t dim : dims) buffer->add_dims(dim);
  *buffer->mutable_box() = BoxTable(boxes);
  int64_t elements = 0;
  for (const Box& box : boxes) elements = std::max(elements, Volume(box));
  buffer->set_offset(message_.arena_size());
  buffer->set_size(elements * ByteSize(FromProto(type)));
  if (message_.hash_arithmetic() && IsFloat(FromProto(type))) {
    buffer->set_size(elements * 8);
  }
  buffer->set_last(1000);
  message_.set_arena_size(message_.arena_size() +
                          (buffer->size() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment);
  return message_.buffers_size() - 1;
}

program::Exchange* ProgramBuilder::AddExchange(int source, int destination) {
  program::Exchange* exchange = message_.add_instructions()->mutable_exchange();
  exchange->set_tensor(message_.buffers(source).name());
  exchange->set_node(message_.buffers(destination).name());
  exchange->set_partials(1);
  exchange->set_source(source);
  exchange->set_destination(destination);
  *exchange->mutable_from() = message_.buffers(source).box();
  *exchange->mutable_to() = message_.buffers(destination).box();
  return exchange;
}

program::Exchange* ProgramBuilder::AddReduction(int source, int destination,
                                                program::Reducer reducer, int parts,
                                                const std::vector<int64_t>& part) {
  program::Exchange* exchange = AddExchange(source, destination);
  exchange->set_reduce(true);
  exchange->set_reducer(reducer);
  exchange->set_partials(parts);
  *exchange->mutable_partial() = Table(part);
  return exchange;
}

program::Kernel* ProgramBuilder::AddLibraryKernel(const program::LibraryCall& call,
                                                  const std::vector<std::vector<Interval>>& indices,
                                                  const std::vector<int>& operands, int result) {
  program::Function* function = message_.add_functions();
  *function->mutable_library() = call;
  program::LibraryCall& typed = *function->mutable_library();
  typed.set_type(message_.buffers(operands[call.left()]).type());
  typed.set_accumulator(ToProto(AccumulatorType(FromProto(typed.type()))));
  program::Kernel* kernel = message_.add_instructions()->mutable_kernel();
  kernel->set_function(message_.functions_size() - 1);
  kernel->add_node(message_.buffers(result).name());
  kernel->add_from("");
  for (const std::vector<Interval>& by_device : indices) {
    std::vector<int64_t> begins, ends;
    for (const Interval& part : by_device) {
      begins.push_back(part.begin);
      ends.push_back(part.end);
    }
    function->add_indices();
    program::Range* range = kernel->add_indices();
    *range->mutable_begin() = Table(begins);
    *range->mutable_end() = Table(ends);
  }
  for (int operand : operands) {
    program::Access* access = kernel->add_operands();
    access->set_buffer(operand);
    *access->mutable_box() = message_.buffers(operand).box();
  }
  program::Access* written = kernel->add_results();
  written->set_buffer(result);
  *written->mutable_box() = message_.buffers(result).box();
  AddDefinition(function, static_cast<int>(operands.size()));
  return kernel;
}

void ProgramBuilder::AddDefinition(program::Function* function, int operands) {
  program::FunctionDefinition* definition = function->add_definitions();
  for (int i = 0; i < function->indices_size(); ++i) definition->add_indices(i);
  for (int o = 0; o < operands; ++o) definition->add_operands()->set_operand(o);
  definition->mutable_computes()->set_result(0);
}

program::Port* ProgramBuilder::AddInput(const std::string& name, int buffer) {
  program::Port* port = message_.add_inputs();
  port->set_name(name);
  port->set_buffer(buffer);
  *port->mutable_shape() = message_.buffers(buffer).dims();
  message_.mutable_buffers(buffer)->set_initialized(true);
  return port;
}

program::Port* ProgramBuilder::AddOutput(const std::string& name, int buffer) {
  program::Port* port = message_.add_outputs();
  port->set_name(name);
  port->set_buffer(buffer);
  *port->mutable_shape() = message_.buffers(buffer).dims();
  return port;
}

std::shared_ptr<const LoadedProgram> ProgramBuilder::Load() const {
  auto loaded = LoadedProgram::FromMessage(message_);
  REQUIRE_THAT(loaded, IsOk());
  return *loaded;
}

std::vector<Box> CutAlong(const std::vector<int64_t>& dims, int dim, int parts) {
  std::vector<Box> boxes;
  for (int part = 0; part < parts; ++part) {
    boxes.push_back(WholeBox(dims));
    boxes.back()[dim] = PartOf(dims[dim], parts, part);
  }
  return boxes;
}

std::unique_ptr<Session> OpenSession(const std::shared_ptr<const LoadedProgram>& program,
                                     const RunOptions& options) {
  auto session = Session::Open(program, options);
  REQUIRE_THAT(session, IsOk());
  return *std::move(session);
}

TensorData FloatTensor(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  TensorData tensor;
  tensor.dims = shape;
  tensor.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

std::vector<float> FloatsOf(const TensorData& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace yuba::runtime
