#include "runtime/host/convolution_geometry.h"

#include <algorithm>

#include "runtime/program/validate.h"

namespace yuba::runtime {
namespace {

StridedIndex TakeLargest(std::vector<StridedIndex> indices, std::vector<StridedIndex>& rest) {
  StridedIndex largest;
  auto found = std::max_element(
      indices.begin(), indices.end(),
      [](const StridedIndex& a, const StridedIndex& b) { return a.extent < b.extent; });
  if (found != indices.end()) {
    largest = *found;
    indices.erase(found);
  }
  rest.insert(rest.end(), indices.begin(), indices.end());
  return largest;
}

// Whether the channels of consecutive groups are contiguous in the input and in the result, so that
// groups and channels together are one dimension there.
bool GroupsAreChannels(const LibraryShape& shape) {
  if (shape.groups.size() != 1 || shape.inner.size() > 1 || shape.columns.size() > 1) return false;
  const StridedIndex& group = shape.groups[0];
  if (!shape.inner.empty() && group.left != shape.inner[0].extent * shape.inner[0].left)
    return false;
  return shape.columns.empty() || group.result == shape.columns[0].extent * shape.columns[0].result;
}

LocalWindow PlaceWindow(const LoadedProgram& program, const program::Kernel& kernel,
                        const program::LibraryWindow& window, int device,
                        ConvolutionGeometry& geometry) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const Box input = program.BufferBox(kernel.operands(call.left()).buffer(), device);
  const Box filter = program.BufferBox(kernel.operands(call.right()).buffer(), device);
  const Box result = program.BufferBox(kernel.results(0).buffer(), device);
  const Interval outputs = program.IntervalOf(kernel.indices(window.output()), device);
  const Interval taps = program.IntervalOf(kernel.indices(window.kernel()), device);
  const Interval& held = input[window.input_dim()];

  LocalWindow local;
  local.stride = window.stride();
  local.dilation = window.dilation();
  local.taps = taps.size();
  local.outputs = outputs.size();
  local.input_step = DenseStrides(input)[window.input_dim()];
  local.tap_step = DenseStrides(filter)[window.filter_dim()];
  local.output_step = DenseStrides(result)[window.result_dim()];
  // Positions outside what the device holds are outside the tensor: padding.
  const int64_t first = outputs.begin * local.stride + taps.begin * local.dilation - window.low();
  const int64_t end =
      (outputs.end - 1) * local.stride + (taps.end - 1) * local.dilation - window.low() + 1;
  const Interval used = Intersect(Interval{first, end}, held);
  const program::Buffer& whole = program.stage().buffers(kernel.operands(call.left()).buffer());
  // Where only padding is read, validation lets the boxes be anything: they are not looked at.
  geometry.only_padding |=
      WindowReads(window, whole.dims(window.input_dim()), outputs, taps).empty();
  local.input = used.size();
  local.pad_left = used.begin - first;
  local.pad_right = end - used.end;
  geometry.left += (used.begin - held.begin) * local.input_step;
  geometry.right += (taps.begin - filter[window.filter_dim()].begin) * local.tap_step;
  geometry.output += (outputs.begin - result[window.result_dim()].begin) * local.output_step;
  return local;
}

}  // namespace

ConvolutionGeometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                               const LibraryShape& shape, int device) {
  ConvolutionGeometry geometry;
  geometry.left = shape.left;
  geometry.right = shape.right;
  geometry.output = shape.output;
  geometry.batch = TakeLargest(shape.batch, geometry.loops);
  if (GroupsAreChannels(shape))
    geometry.group = shape.groups[0];
  else
    geometry.loops.insert(geometry.loops.end(), shape.groups.begin(), shape.groups.end());
  geometry.channel = TakeLargest(shape.columns, geometry.loops);
  geometry.inner = TakeLargest(shape.inner, geometry.sums);
  for (const program::LibraryWindow& window :
       program.message().functions(kernel.function()).library().windows()) {
    geometry.windows.push_back(PlaceWindow(program, kernel, window, device, geometry));
  }
  std::sort(geometry.windows.begin(), geometry.windows.end(),
            [](const LocalWindow& a, const LocalWindow& b) { return a.input_step > b.input_step; });
  return geometry;
}

}  // namespace yuba::runtime
