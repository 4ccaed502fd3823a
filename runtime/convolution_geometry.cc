#include "runtime/convolution_geometry.h"

#include <algorithm>
#include <utility>

namespace yuba::runtime {
namespace {

constexpr size_t kMostWindows = 3;  // that a routine has

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

// Fills a geometry role by role.
class Placer {
 public:
  Placer(const LoadedProgram& program, const program::Kernel& kernel, const LibraryShape& shape,
         int device, FilterGroups filter_groups)
      : program_(program),
        kernel_(kernel),
        call_(program.message().functions(kernel.function()).library()),
        shape_(shape),
        device_(device),
        filter_groups_(filter_groups),
        tensors_(TensorsOf(call_.kind())) {
    geometry_.left = shape.left;
    geometry_.right = shape.right;
    geometry_.output = shape.output;
  }

  ConvolutionGeometry Place() {
    for (const program::LibraryWindow& window : call_.windows()) PlaceWindow(window);
    std::vector<StridedIndex> images;
    geometry_.batch = TakeLargest(shape_.batch, images);
    for (const StridedIndex& image : images) PlaceImages(image);
    if (GroupsAreChannels()) {
      geometry_.group = shape_.groups[0];
    } else {
      for (const StridedIndex& group : shape_.groups) GoRound(group);
    }
    std::vector<StridedIndex> channels;
    geometry_.channel = TakeLargest(shape_.columns, channels);
    geometry_.inner = TakeLargest(shape_.inner, channels);
    for (const StridedIndex& channel : channels) GoRound(channel);
    std::sort(
        geometry_.windows.begin(), geometry_.windows.end(),
        [](const LocalWindow& a, const LocalWindow& b) { return a.input_step > b.input_step; });
    return std::move(geometry_);
  }

 private:
  void GoRound(const StridedIndex& index) {
    (index.result != 0 ? geometry_.loops : geometry_.sums).push_back(index);
  }

  // More images than one index numbers: a window with one tap, while there is room for it.
  void PlaceImages(const StridedIndex& images) {
    if (geometry_.windows.size() >= kMostWindows) return GoRound(images);
    LocalWindow& window = geometry_.windows.emplace_back();
    window.input = window.outputs = images.extent;
    window.input_step = StepIn(images, tensors_.input);
    window.output_step = StepIn(images, tensors_.output);
  }

  // Whether the channels of consecutive groups are contiguous in the input and in the output, so
  // that groups and channels together are one dimension there; in the filter too, where the routine
  // wants that.
  bool GroupsAreChannels() const {
    if (shape_.groups.size() != 1) return false;
    const auto continues = [&](const std::vector<StridedIndex>& channels, LibraryTensor tensor) {
      if (channels.empty()) return true;
      return channels.size() == 1 &&
             StepIn(shape_.groups[0], tensor) == channels[0].extent * StepIn(channels[0], tensor);
    };
    const bool in_filter =
        filter_groups_ == FilterGroups::kOwnDimension || continues(shape_.columns, tensors_.filter);
    return in_filter && continues(shape_.inner, tensors_.input) &&
           continues(shape_.columns, tensors_.output);
  }

  // The memory stride along a window's dimension; moves the tensor's offset to the first position
  // that is used. `part` is what is used.
  int64_t StepTo(LibraryTensor tensor, int dim, const Interval& part) {
    if (dim < 0) return 0;
    const Box box = program_.BufferBox(AccessOf(program_, kernel_, tensor).buffer(), device_);
    const int64_t step = DenseStrides(box)[dim];
    int64_t& offset = tensor == LibraryTensor::kLeft    ? geometry_.left
                      : tensor == LibraryTensor::kRight ? geometry_.right
                                                        : geometry_.output;
    offset += (part.begin - box[dim].begin) * step;
    return step;
  }

  // Where the positions end that are the device's to use and that it holds.
  int64_t EndOfInput(const program::LibraryWindow& window, const Interval& part) const {
    if (window.input_dim() < 0) return part.end;
    const int buffer = AccessOf(program_, kernel_, tensors_.input).buffer();
    return std::min(part.end, program_.BufferBox(buffer, device_)[window.input_dim()].end);
  }

  void PlaceWindow(const program::LibraryWindow& window) {
    const WindowParts parts = PartsOf(program_, kernel_, window, device_);
    WindowParts hits = WindowHits(window, parts);
    // Where nothing meets, validation lets the boxes be anything: they are not looked at.
    geometry_.no_terms |= hits.output.empty();
    if (geometry_.no_terms) return;
    LocalWindow local;
    local.stride = window.stride();
    local.dilation = window.dilation();
    local.outputs = hits.output.size();
    local.taps = hits.taps.size();
    // How far outputs and taps reach beyond the input that they meet.
    const int64_t first =
        hits.output.begin * local.stride + hits.taps.begin * local.dilation - window.low();
    const int64_t end =
        first + (local.outputs - 1) * local.stride + (local.taps - 1) * local.dilation + 1;
    // Up to the next step's input nothing meets. With it strides divide the input, which libraries
    // like, and the result has no gap.
    hits.input.end =
        std::max(hits.input.end, std::min(EndOfInput(window, parts.input), end + local.stride - 1));
    local.input = hits.input.size();
    local.pad_left = hits.input.begin - first;
    local.pad_right = end - hits.input.end;
    const auto whole = [&](LibraryTensor tensor, const Interval& hit, const Interval& part) {
      return tensor != LibraryTensor::kResult || hit == part;
    };
    geometry_.has_gaps |= !whole(tensors_.output, hits.output, parts.output) ||
                          !whole(tensors_.filter, hits.taps, parts.taps) ||
                          !whole(tensors_.input, hits.input, parts.input);
    local.output_step = StepTo(tensors_.output, window.output_dim(), hits.output);
    local.tap_step = StepTo(tensors_.filter, window.filter_dim(), hits.taps);
    local.input_step = StepTo(tensors_.input, window.input_dim(), hits.input);
    geometry_.windows.push_back(local);
  }

  const LoadedProgram& program_;
  const program::Kernel& kernel_;
  const program::LibraryCall& call_;
  const LibraryShape& shape_;
  const int device_;
  const FilterGroups filter_groups_;
  const ConvolutionTensors tensors_;
  ConvolutionGeometry geometry_;
};

}  // namespace

ConvolutionGeometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                               const LibraryShape& shape, int device, FilterGroups filter_groups) {
  return Placer(program, kernel, shape, device, filter_groups).Place();
}

absl::optional<PointwiseConvolution> PointwiseOf(const LibraryShape& shape) {
  if (!shape.batch.empty() || shape.inner.size() != 1) return absl::nullopt;
  for (const bool input_is_left : {true, false}) {
    const auto& channels = input_is_left ? shape.columns : shape.rows;
    const auto& positions = input_is_left ? shape.all_rows : shape.all_columns;
    const LibraryTensor input = input_is_left ? LibraryTensor::kLeft : LibraryTensor::kRight;
    if (channels.size() != 1) continue;
    PointwiseConvolution pointwise;
    pointwise.input_is_left = input_is_left;
    ConvolutionGeometry& geometry = pointwise.geometry;
    geometry.channel = channels[0];
    geometry.inner = shape.inner[0];
    geometry.left = shape.left;
    geometry.right = shape.right;
    geometry.output = shape.output;
    std::vector<StridedIndex> images;
    for (const StridedIndex& position : positions) {
      if (position.result > channels[0].result) {
        images.push_back(position);
        continue;
      }
      LocalWindow& window = geometry.windows.emplace_back();
      window.input = window.outputs = position.extent;
      window.input_step = StepIn(position, input);
      window.output_step = position.result;
    }
    images = MergeIndices(std::move(images));
    if (images.size() == 1) geometry.batch = images[0];
    const bool has_positions =
        std::any_of(geometry.windows.begin(), geometry.windows.end(),
                    [](const LocalWindow& window) { return window.outputs > 1; });
    if (images.size() > 1 || !has_positions || geometry.windows.size() > kMostWindows) continue;
    std::sort(
        geometry.windows.begin(), geometry.windows.end(),
        [](const LocalWindow& a, const LocalWindow& b) { return a.input_step > b.input_step; });
    return pointwise;
  }
  return absl::nullopt;
}

int64_t StepIn(const StridedIndex& index, LibraryTensor tensor) {
  switch (tensor) {
    case LibraryTensor::kLeft: return index.left;
    case LibraryTensor::kRight: return index.right;
    case LibraryTensor::kResult: return index.result;
  }
  return 0;
}

}  // namespace yuba::runtime
