#include "compiler/kernels/has_chain.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/types/optional.h"

namespace yuba::kernels {
namespace {

constexpr size_t kMostPositions = 3;  // that a convolution has

using Role = google::protobuf::RepeatedPtrField<program::LibraryIndex>;

// Of the indices that have several values. Orders are those of dimensions in memory, innermost
// last.
struct ResultIndices {
  std::vector<int> all;       // along which the result runs
  std::vector<int> channels;  // of these, along which a bias does
  std::set<int> free;         // a bias may have them too, as there is a product for each value
};

class ResultOf {
 public:
  ResultOf(const program::LibraryCall& product, const std::vector<Index>& indices)
      : product_(product), indices_(indices) {
    std::vector<std::pair<int, int>> by_dim;
    for (const Role* role :
         {&product.batch(), &product.groups(), &product.rows(), &product.columns()}) {
      for (const program::LibraryIndex& index : *role)
        by_dim.emplace_back(index.result_dim(), index.index());
    }
    for (const program::LibraryWindow& window : product.windows())
      if (window.output() >= 0) by_dim.emplace_back(window.output_dim(), window.output());
    std::sort(by_dim.begin(), by_dim.end());
    for (const auto& [dim, index] : by_dim)
      if (HasSeveral(index)) order_.push_back(index);
  }

  // Of a product of matrices. nullopt where its result is not contiguous along a side of it.
  absl::optional<ResultIndices> OfProduct() const {
    if (product_.kind() != program::LibraryCall::CONTRACTION) return absl::nullopt;
    ResultIndices result = {order_, {}, Of(product_.batch())};
    if (order_.empty()) return result;
    for (const Role* side : {&product_.rows(), &product_.columns()}) {
      std::set<int> of_side = Of(*side);
      if (of_side.erase(order_.back()) == 0) continue;
      result.channels = {order_.back()};
      result.free.merge(of_side);
      return result;
    }
    return absl::nullopt;
  }

  // Of a convolution, or of a contraction that is one with windows of one tap.
  absl::optional<ResultIndices> OfConvolution() const {
    if (product_.kind() == program::LibraryCall::CONVOLUTION) {
      std::set<int> channels = Of(product_.groups());
      for (const int index : Of(product_.columns())) channels.insert(index);
      return ResultIndices{order_, InOrder(channels), {}};
    }
    if (product_.kind() != program::LibraryCall::CONTRACTION || order_.empty() ||
        !Of(product_.batch()).empty() || Of(product_.inner()).empty())
      return absl::nullopt;
    const bool along_rows = Of(product_.rows()).count(order_.back()) > 0;
    const std::set<int> channels = Of(along_rows ? product_.columns() : product_.rows());
    if (channels.size() != 1) return absl::nullopt;
    const auto channel = std::find(order_.begin(), order_.end(), *channels.begin());
    const auto images = static_cast<size_t>(channel - order_.begin());
    if (images > 1 || order_.size() - images - 1 > kMostPositions) return absl::nullopt;
    return ResultIndices{order_, {*channel}, {}};
  }

  // Whether one call adds up all products, as indices that are summed lie next to each other in
  // both operands: what several calls do would be needed before any step.
  bool IsOneSum() const {
    return AreOne(product_.inner(), &program::LibraryIndex::left_dim,
                  &program::LibraryIndex::right_dim);
  }

  bool IsOneProduct() const {
    return Of(product_.batch()).empty() && IsOneSum() &&
           AreOne(product_.rows(), &program::LibraryIndex::left_dim,
                  &program::LibraryIndex::result_dim) &&
           AreOne(product_.columns(), &program::LibraryIndex::right_dim,
                  &program::LibraryIndex::result_dim);
  }

  bool HasSeveral(int index) const { return index >= 0 && indices_[index].extent > 1; }

 private:
  // Whether the indices lie next to each other, in one order, in the two tensors that have them.
  using DimOf = int32_t (program::LibraryIndex::*)() const;
  bool AreOne(const Role& role, DimOf first, DimOf second) const {
    std::vector<std::pair<int, int>> dims;
    for (const program::LibraryIndex& index : role)
      if (HasSeveral(index.index())) dims.emplace_back((index.*first)(), (index.*second)());
    std::sort(dims.begin(), dims.end());
    for (size_t d = 1; d < dims.size(); ++d) {
      if (dims[d].first != dims[d - 1].first + 1 || dims[d].second != dims[d - 1].second + 1)
        return false;
    }
    return true;
  }

  std::set<int> Of(const Role& role) const {
    std::set<int> found;
    for (const program::LibraryIndex& index : role)
      if (HasSeveral(index.index())) found.insert(index.index());
    return found;
  }

  std::vector<int> InOrder(const std::set<int>& some) const {
    std::vector<int> ordered;
    for (const int index : order_)
      if (some.count(index) > 0) ordered.push_back(index);
    return ordered;
  }

  const program::LibraryCall& product_;
  const std::vector<Index>& indices_;
  std::vector<int> order_;
};

// Whether `of_step` are the indices `wanted`, the last of which is innermost in both, and some of
// `free`.
bool RunsAlong(const std::vector<int>& of_step, const std::vector<int>& wanted,
               const std::set<int>& free) {
  std::set<int> rest;
  for (const int index : of_step)
    if (std::count(wanted.begin(), wanted.end(), index) > 0 || free.count(index) == 0)
      rest.insert(index);
  return rest == std::set<int>(wanted.begin(), wanted.end()) &&
         (wanted.empty() || of_step.back() == wanted.back());
}

bool MayStand(const PostOp& step, const PostOpPlace& place, const ResultIndices& result,
              const ResultOf& product) {
  if ((place.kinds >> step.kind & 1) == 0) return false;
  if (!step.HasOperand() || place.along == PostOpPlace::kAnything) return true;
  std::vector<int> of_step;
  for (const int index : step.indices)
    if (product.HasSeveral(index)) of_step.push_back(index);
  return place.along == PostOpPlace::kResult ? RunsAlong(of_step, result.all, {})
                                             : RunsAlong(of_step, result.channels, result.free);
}

bool IsAnyOf(const PostOpChain& chain, const std::vector<PostOp>& steps) {
  return std::all_of(steps.begin(), steps.end(), [&](const PostOp& step) {
    return std::any_of(chain.places.begin(), chain.places.end(), [&](const PostOpPlace& place) {
      return (place.kinds >> step.kind & 1) != 0;
    });
  });
}

bool IsAdded(const PostOp& step) {
  return step.kind == PostOp::kAdd || step.kind == PostOp::kSubtract;
}

bool IsChain(const PostOpChain& chain, const absl::optional<ResultIndices>& result,
             const ResultOf& product, const std::vector<PostOp>& steps) {
  if (chain.any_order) return IsAnyOf(chain, steps);
  if (!result.has_value() || !product.IsOneSum()) return false;
  std::array<const PostOp*, PostOpChain::kMostPlaces> taken = {};
  for (const PostOp& step : steps) {
    bool stands = false;
    for (size_t p = 0; p < taken.size() && !stands; ++p) {
      // What is behind it already comes after it, unless both are added.
      const bool may_come = std::all_of(taken.begin() + p, taken.end(), [&](const PostOp* other) {
        return other == nullptr || (IsAdded(*other) && IsAdded(step));
      });
      stands = taken[p] == nullptr && may_come && MayStand(step, chain.places[p], *result, product);
      if (stands) taken[p] = &step;
    }
    if (!stands) return false;
  }
  return true;
}

}  // namespace

bool IsOneProduct(const program::LibraryCall& call, const std::vector<Index>& indices) {
  return call.kind() == program::LibraryCall::CONTRACTION && ResultOf(call, indices).IsOneProduct();
}

bool HasChain(const LibraryPostOps& chains, const program::LibraryCall& product,
              const std::vector<Index>& indices, const std::vector<PostOp>& steps) {
  const bool gradient = product.kind() != program::LibraryCall::CONTRACTION &&
                        product.kind() != program::LibraryCall::CONVOLUTION;
  if (gradient) return false;
  const ResultOf result(product, indices);
  if (product.kind() == program::LibraryCall::CONTRACTION &&
      (IsChain(chains.products, result.OfProduct(), result, steps) ||
       IsChain(chains.slopes, result.OfProduct(), result, steps)))
    return true;
  return IsChain(chains.convolutions, result.OfConvolution(), result, steps);
}

}  // namespace yuba::kernels
