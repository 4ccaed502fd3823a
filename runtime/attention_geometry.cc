#include "runtime/attention_geometry.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "opsemantics/base/status.h"
#include "runtime/program/check_attention.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

// Which operand or result of which product a tensor is.
enum class Part : uint8_t { kFactor, kOther, kProduct };
struct Origin {
  program::AttentionStep product;
  Part part;
};
constexpr Origin kOrigins[kAttentionTensors] = {
    {program::kScores, Part::kFactor},         {program::kScores, Part::kOther},
    {program::kValues, Part::kFactor},         {program::kValues, Part::kProduct},
    {program::kValueGradients, Part::kFactor}, {program::kQueryGradients, Part::kProduct},
    {program::kKeyGradients, Part::kProduct},  {program::kValueGradients, Part::kProduct},
};

// An index of the first product.
using Index = int;
using Indices = std::vector<Index>;

// Strides of a tensor along indices of the first product, and along elements, outermost first.
struct Strided {
  AttentionPlace place;
  bool of_keys = false;  // it has keys for positions, and the heads that they have
  std::map<Index, int64_t> along;
  std::vector<std::pair<int64_t, int64_t>> elements;  // extent, stride
};

// The stride of several dimensions as one, the last one innermost: extents and strides. nullopt
// where they do not lie one in the other.
absl::optional<int64_t> JoinedStride(const std::vector<std::pair<int64_t, int64_t>>& dims) {
  absl::optional<int64_t> stride, next;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->first == 1) continue;
    if (next.has_value() && dim->second != *next) return absl::nullopt;
    if (!stride.has_value()) stride = dim->second;
    next = dim->second * dim->first;
  }
  return stride.value_or(0);
}

class Reader {
 public:
  Reader(const LoadedProgram& program, const program::Attention& attention, int device)
      : program_(program), attention_(attention), device_(device) {}

  absl::StatusOr<AttentionGeometry> Read() {
    for (const program::AttentionProduct& product : attention_.products()) {
      if (CallOf(product) == nullptr)
        return absl::UnimplementedError("a product of attention is no call of a library");
    }
    const int tensors = program::HasBackward(attention_) ? kAttentionTensors : kFirstGradient;
    for (int t = 0; t < tensors; ++t) {
      tensors_.push_back(Place(kOrigins[t]));
      tensors_.back().of_keys = IsOfKeys(static_cast<AttentionTensor>(t));
    }
    Classify();
    for (const Indices* indices : {&shared_, &queries_, &keys_}) {
      for (const Index index : *indices) geometry_.nothing |= ExtentOf(index) == 0;
    }
    if (geometry_.nothing) return std::move(geometry_);
    PlaceBias();
    PlaceRowSums();
    YUBA_RETURN_IF_ERROR(Arrange());
    for (int t = 0; t < tensors; ++t) geometry_.tensors[t] = tensors_[t].place;
    geometry_.type = program_.type(geometry_.tensors[0].buffer);
    geometry_.scale = attention_.scale();
    SetMask();
    return std::move(geometry_);
  }

 private:
  static constexpr int kFirstGradient = static_cast<int>(AttentionTensor::kResultGradient);

  const program::Kernel& KernelOf(const program::AttentionProduct& product) const {
    return program_.instructions()[product.instruction()].kernel();
  }
  const program::LibraryCall* CallOf(const program::AttentionProduct& product) const {
    const auto& function = program_.message().functions(KernelOf(product).function());
    const bool is_product =
        function.has_library() && function.library().kind() == program::LibraryCall::CONTRACTION;
    return is_product ? &function.library() : nullptr;
  }
  static bool IsOfKeys(AttentionTensor tensor) {
    return tensor == AttentionTensor::kKey || tensor == AttentionTensor::kValue ||
           tensor == AttentionTensor::kKeyGradient || tensor == AttentionTensor::kValueGradient;
  }
  Interval RangeOf(Index index) const {
    return program_.IntervalOf(KernelOf(attention_.products(program::kScores)).indices(index),
                               device_);
  }
  int64_t ExtentOf(Index index) const { return RangeOf(index).size(); }

  Strided Place(const Origin& origin) const {
    const program::AttentionProduct& product = attention_.products(origin.product);
    const program::Kernel& kernel = KernelOf(product);
    const program::LibraryCall& call = *CallOf(product);
    const bool left = (product.factor() == call.left()) == (origin.part == Part::kFactor);
    const bool result = origin.part == Part::kProduct;
    const program::Access& access =
        result ? kernel.results(0) : kernel.operands(left ? call.left() : call.right());
    Strided strided;
    strided.place.buffer = access.buffer();
    const Box box = program_.BufferBox(access.buffer(), device_);
    const Box touched = program_.BoxOf(access.box(), device_);
    const std::vector<int64_t> strides = DenseStrides(box);
    for (size_t d = 0; d < box.size(); ++d) {
      if (!touched[d].empty())
        strided.place.first += (touched[d].begin - box[d].begin) * strides[d];
    }
    for (const auto* role : {&call.batch(), &call.rows(), &call.columns(), &call.inner()}) {
      for (const program::LibraryIndex& index : *role) {
        const int dim = result ? index.result_dim() : left ? index.left_dim() : index.right_dim();
        if (dim < 0) continue;
        const Index of_scores = product.indices(index.index());
        if (of_scores >= 0)
          strided.along[of_scores] = strides[dim];
        else
          strided.elements.emplace_back(
              program_.IntervalOf(kernel.indices(index.index()), device_).size(), strides[dim]);
      }
    }
    return strided;
  }

  // Which indices of the scores are whose, in the order of the call.
  void Classify() {
    const program::AttentionProduct& scores = attention_.products(program::kScores);
    const program::LibraryCall& call = *CallOf(scores);
    const bool query_left = scores.factor() == call.left();
    const auto add = [&](const auto& role, Indices& indices) {
      for (const program::LibraryIndex& index : role)
        indices.push_back(scores.indices(index.index()));
    };
    add(call.batch(), shared_);
    add(query_left ? call.rows() : call.columns(), queries_);
    add(query_left ? call.columns() : call.rows(), keys_);
    // Of several indices of queries one numbers positions; the others are heads that share keys.
    const auto position =
        attention_.causal() ? std::find(queries_.begin(), queries_.end(), attention_.query_index())
                            : queries_.end() - (queries_.empty() ? 0 : 1);
    if (position == queries_.end()) return;
    positions_ = {*position};
    queries_.erase(position);
  }

  void PlaceBias() {
    if (!attention_.has_bias()) return;
    Strided bias;
    bias.place.buffer = attention_.bias();
    geometry_.bias_type = program_.type(attention_.bias());
    const Box box = program_.BufferBox(attention_.bias(), device_);
    const std::vector<int64_t> strides = DenseStrides(box);
    for (size_t d = 0; d < box.size(); ++d) {
      const Index index = attention_.bias_indices(static_cast<int>(d));
      if (index < 0) continue;
      bias.place.first += (RangeOf(index).begin - box[d].begin) * strides[d];
      bias.along[index] = strides[d];
    }
    bias_ = static_cast<int>(tensors_.size());
    tensors_.push_back(std::move(bias));
  }

  // Its dimensions are the indices of the scores' result but keys, in the order of the result.
  void PlaceRowSums() {
    if (!program::HasBackward(attention_)) return;
    const program::LibraryCall& call = *CallOf(attention_.products(program::kScores));
    std::map<int, Index> by_dim;
    for (const auto* role : {&call.batch(), &call.rows(), &call.columns()}) {
      for (const program::LibraryIndex& index : *role) {
        const Index of_scores = attention_.products(program::kScores).indices(index.index());
        if (std::find(keys_.begin(), keys_.end(), of_scores) == keys_.end())
          by_dim[index.result_dim()] = of_scores;
      }
    }
    Strided sums;
    sums.place.buffer = attention_.row_sums();
    int64_t stride = 1;
    for (auto dim = by_dim.rbegin(); dim != by_dim.rend(); ++dim) {
      sums.along[dim->second] = stride;
      stride *= ExtentOf(dim->second);
    }
    sums_ = static_cast<int>(tensors_.size());
    tensors_.push_back(std::move(sums));
  }

  int64_t Extent(const Indices& indices) const {
    int64_t extent = 1;
    for (const Index index : indices) extent *= ExtentOf(index);
    return extent;
  }

  // Sets `role` of the tensor's strides to that of the indices as one. False where they are not
  // one.
  bool Join(Strided& tensor, const Indices& indices, size_t role) const {
    std::vector<std::pair<int64_t, int64_t>> dims;
    for (const Index index : indices) {
      const auto stride = tensor.along.find(index);
      dims.emplace_back(ExtentOf(index), stride == tensor.along.end() ? 0 : stride->second);
    }
    const absl::optional<int64_t> joined = JoinedStride(dims);
    if (joined.has_value()) tensor.place.strides[role] = *joined;
    return joined.has_value();
  }

  // The first `batch` shared indices number the batch, the others heads.
  bool Arrange(size_t batch) {
    const Indices outer(shared_.begin(), shared_.begin() + static_cast<int64_t>(batch));
    const Indices of_keys(shared_.begin() + static_cast<int64_t>(batch), shared_.end());
    Indices heads = of_keys;
    heads.insert(heads.end(), queries_.begin(), queries_.end());
    for (Strided& tensor : tensors_) {
      if (!Join(tensor, outer, 0) || !Join(tensor, tensor.of_keys ? of_keys : heads, 1) ||
          !Join(tensor, tensor.of_keys ? keys_ : positions_, 2)) {
        return false;
      }
    }
    if (bias_ >= 0 && !Join(tensors_[bias_], keys_, 3)) return false;
    geometry_.batch = Extent(outer);
    geometry_.heads = Extent(heads);
    geometry_.key_heads = Extent(of_keys);
    geometry_.queries = Extent(positions_);
    geometry_.keys = Extent(keys_);
    return true;
  }

  absl::Status Arrange() {
    bool arranged = false;
    // A batch first of all, then more than one index of it, then none.
    for (size_t batch = 1; batch <= shared_.size() && !arranged; ++batch) arranged = Arrange(batch);
    if (!arranged && !Arrange(0))
      return absl::UnimplementedError(
          "heads or positions of attention do not lie one in the other");
    for (int t = 0; t < static_cast<int>(tensors_.size()); ++t) {
      if (t == bias_ || t == sums_) continue;
      Strided& tensor = tensors_[t];
      const absl::optional<int64_t> stride = JoinedStride(tensor.elements);
      if (!stride.has_value() || *stride > 1)
        return absl::UnimplementedError("elements of a query or value are not neighbours");
      tensor.place.strides[3] = 1;
    }
    const auto width = [&](AttentionTensor tensor) {
      int64_t elements = 1;
      for (const auto& [extent, stride] : tensors_[static_cast<int>(tensor)].elements)
        elements *= extent;
      return elements;
    };
    geometry_.width = width(AttentionTensor::kQuery);
    geometry_.value_width = width(AttentionTensor::kValue);
    if (sums_ >= 0) geometry_.row_sums = tensors_[sums_].place;
    if (bias_ >= 0) geometry_.bias = tensors_[bias_].place;
    return absl::OkStatus();
  }

  void SetMask() {
    if (!attention_.causal()) return;
    geometry_.causal = true;
    geometry_.offset = attention_.offset() + RangeOf(attention_.query_index()).begin -
                       RangeOf(attention_.key_index()).begin;
    geometry_.hidden = attention_.hidden();
  }

  const LoadedProgram& program_;
  const program::Attention& attention_;
  const int device_;
  std::vector<Strided> tensors_;  // then the bias, then the sums of rows
  int bias_ = -1, sums_ = -1;
  Indices shared_, queries_, positions_, keys_;
  AttentionGeometry geometry_;
};

}  // namespace

absl::StatusOr<AttentionGeometry> GeometryOf(const LoadedProgram& program,
                                             const program::Attention& attention, int device) {
  return Reader(program, attention, device).Read();
}

}  // namespace yuba::runtime
