#include "runtime/opaque_slices.h"

#include "runtime/program/opaque_calls.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

// Where one tensor's elements are, by the kernel's indices.
struct Layout {
  PlacedSlice slice;
  std::vector<int64_t> steps;  // [index]: bytes of a step along it, 0 where the tensor lacks it
};

Layout LayoutOf(const LoadedProgram& program, const program::Kernel& kernel,
                const program::OpaqueTensor& tensor, int buffer, const std::vector<bool>& calls,
                int device) {
  const Box box = program.BufferBox(buffer, device);
  const std::vector<int64_t> strides = DenseStrides(box);
  Layout layout;
  layout.steps.assign(kernel.indices_size(), 0);
  layout.slice.element_bytes = program.ElementBytes(buffer);
  for (size_t d = 0; d < box.size(); ++d) {
    const int index = tensor.indices(static_cast<int>(d));
    layout.steps[index] = strides[d] * layout.slice.element_bytes;
    const int64_t begin = program.IntervalOf(kernel.indices(index), device).begin;
    layout.slice.first += (begin - box[d].begin) * layout.steps[index];
    if (!calls[index]) layout.slice.strides.push_back(strides[d]);
  }
  return layout;
}

}  // namespace

OpaqueSlices PlaceSlices(const LoadedProgram& program, const program::Kernel& kernel, int device) {
  const program::Function& function = program.message().functions(kernel.function());
  const program::OpaqueCalls& opaque = function.opaque();
  const std::vector<bool> calls = CallIndices(function);
  OpaqueSlices slices;
  slices.signature = SignatureOf(program, kernel);
  for (int i = 0; i < kernel.indices_size(); ++i) {
    if (calls[i]) slices.calls *= program.IntervalOf(kernel.indices(i), device).size();
  }
  if (slices.calls == 0) return slices;
  std::vector<Layout> arguments;
  for (const program::OpaqueTensor& argument : opaque.arguments()) {
    const int buffer = kernel.operands(argument.operand()).buffer();
    arguments.push_back(LayoutOf(program, kernel, argument, buffer, calls, device));
    slices.arguments.push_back(arguments.back().slice);
  }
  const Layout result =
      LayoutOf(program, kernel, opaque.result(), kernel.results(0).buffer(), calls, device);
  slices.result = result.slice;
  for (int i = 0; i < kernel.indices_size(); ++i) {
    if (!calls[i]) continue;
    CallLoop loop;
    loop.extent = program.IntervalOf(kernel.indices(i), device).size();
    for (const Layout& argument : arguments) loop.argument_steps.push_back(argument.steps[i]);
    loop.result_step = result.steps[i];
    slices.loops.push_back(std::move(loop));
  }
  return slices;
}

}  // namespace yuba::runtime
