#include "opsemantics/regions/convolution.h"

#include <algorithm>
#include <array>

#include "opsemantics/regions/structure.h"

namespace yuba {
namespace {

constexpr int kTensors = 3;
constexpr int kResult = static_cast<int>(ProductTensor::kResult);

bool IsZero(const Expr& expr) {
  return expr.kind == Expr::kLiteral && (IsFloat(expr.type) ? expr.number == 0 : expr.integer == 0);
}

// A window before it is known which tensor is the input: the sum over the tensors of `factor` times
// the number of `index` (0 where the tensor lacks it), plus `constant`, is 0.
struct Relation {
  std::array<int, kTensors> index = {-1, -1, -1};
  std::array<int64_t, kTensors> factor = {0, 0, 0};
  int64_t constant = 0;

  // Whether it is p*stride + u*dilation - low = q with the number of this tensor as q.
  bool MayBeInput(int tensor) const { return Sign(tensor) != 0; }

  // The sign, 1 or -1, with which it has -q and no other negative factor; 0 where there is none.
  int64_t Sign(int tensor) const {
    int64_t sign = -factor[tensor];
    for (int other = 0; other < kTensors; ++other) {
      if (other == tensor || index[other] < 0) continue;
      const int64_t own = factor[other] < 0 ? -1 : 1;
      if (sign == 0) sign = own;
      if (own != sign) return 0;
    }
    return sign;
  }
};

// Indices are numbered as in the definition; behind them come those that name a position of a read
// which is no index alone.
class Matcher {
 public:
  explicit Matcher(const Definition& definition) : definition_(definition) {
    for (const Index& index : definition.indices) AddIndex(index.extent);
  }

  absl::optional<Convolution> Match() {
    const absl::Span<const ExprPtr> factors = FactorsOf(definition_);
    if (factors.empty()) return absl::nullopt;
    if (!AddRead(0, *factors[0]) || !AddRead(1, *factors[1])) return absl::nullopt;
    if (!AddTensor(kResult, definition_.left, definition_.result, false)) return absl::nullopt;
    for (const Constraint& constraint : definition_.where) {
      if (!constraint.equality) return absl::nullopt;
      equalities_.push_back(constraint.expression);
    }
    for (const Affine& equality : equalities_) {
      if (!AddRelation(equality)) return absl::nullopt;
    }
    if (relations_.empty() || !IndicesAreShared()) return absl::nullopt;
    for (int input = 0; input < kTensors; ++input) {
      const bool possible =
          std::all_of(relations_.begin(), relations_.end(),
                      [&](const Relation& relation) { return relation.MayBeInput(input); });
      if (possible) return WithInput(input);
    }
    return absl::nullopt;
  }

 private:
  int AddIndex(int64_t extent) {
    extents_.push_back(extent);
    in_window_.push_back(false);
    for (std::vector<int>& dims : dims_) dims.push_back(-1);
    return static_cast<int>(extents_.size()) - 1;
  }

  bool AddRead(int tensor, const Expr& read) {
    const bool guarded = !read.args.empty();
    if (guarded && !IsZero(*read.args[0])) return false;
    return AddTensor(tensor, read.position, definition_.operands[read.operand], guarded);
  }

  bool AddTensor(int tensor, const std::vector<Affine>& position, const TensorType& type,
                 bool guarded) {
    for (size_t d = 0; d < position.size(); ++d) {
      if (position[d] == Affine() && type.dims[d] == 1) continue;
      int index = position[d].BareIndex();
      if (index < 0 || (guarded && extents_[index] > type.dims[d])) {
        if (tensor == kResult) return false;
        index = AddIndex(type.dims[d]);
        equalities_.push_back(position[d] - IndexAffine(index));
      }
      if (dims_[tensor][index] >= 0) return false;
      dims_[tensor][index] = static_cast<int>(d);
    }
    return true;
  }

  // Whether the equality ties indices of two or three tensors, each of one tensor alone.
  bool AddRelation(const Affine& equality) {
    Relation relation;
    relation.constant = equality.constant;
    for (const auto& [index, factor] : equality.terms) {
      if (in_window_[index] || TensorsOf(index).size() != 1) return false;
      const int tensor = TensorsOf(index)[0];
      if (relation.index[tensor] >= 0) return false;
      in_window_[index] = true;
      relation.index[tensor] = index;
      relation.factor[tensor] = factor;
    }
    relations_.push_back(relation);
    return equality.terms.size() >= 2;
  }

  std::vector<int> TensorsOf(int index) const {
    std::vector<int> tensors;
    for (int tensor = 0; tensor < kTensors; ++tensor) {
      if (dims_[tensor][index] >= 0) tensors.push_back(tensor);
    }
    return tensors;
  }

  // Whether every index outside of windows is in two tensors, and in both factors where it is
  // summed over.
  bool IndicesAreShared() const {
    for (size_t i = 0; i < extents_.size(); ++i) {
      if (!in_window_[i] && TensorsOf(static_cast<int>(i)).size() < 2) return false;
    }
    return true;
  }

  bool Shares(int index, int a, int b) const {
    return !in_window_[index] && dims_[a][index] >= 0 && dims_[b][index] >= 0 &&
           dims_[kTensors - a - b][index] < 0;
  }

  // The positions of all windows in the tensor.
  double Positions(int tensor) const {
    double positions = 1;
    for (const Relation& relation : relations_) {
      if (relation.index[tensor] >= 0)
        positions *= static_cast<double>(extents_[relation.index[tensor]]);
    }
    return positions;
  }

  // The index outside of windows that runs along the tensor's first dimensions; -1 for none. With
  // `shared_by_all` false it is the first one that two tensors alone have.
  int Outermost(int tensor, bool shared_by_all) const {
    int outermost = -1;
    for (size_t i = 0; i < extents_.size(); ++i) {
      const int index = static_cast<int>(i), dim = dims_[tensor][index];
      if (dim < 0 || in_window_[i] || (!shared_by_all && TensorsOf(index).size() == kTensors))
        continue;
      if (outermost < 0 || dim < dims_[tensor][outermost]) outermost = index;
    }
    return outermost;
  }

  // Which of the two tensors beside the input is the filter.
  int FilterOf(int input, int a, int b) const {
    bool with_a = false, with_b = false;
    for (size_t i = 0; i < extents_.size(); ++i) {
      with_a |= Shares(static_cast<int>(i), input, a);
      with_b |= Shares(static_cast<int>(i), input, b);
    }
    // Images stand outside of channels.
    if (with_a && with_b) return Shares(Outermost(input, false), input, a) ? b : a;
    const int first = Outermost(input, true);
    const bool has_images =
        first >= 0 && dims_[input][first] == 0 && Outermost(input, false) == first;
    if (with_a != with_b && !has_images) return with_a ? a : b;
    return Positions(a) < Positions(b) ? a : b;
  }

  Convolution WithInput(int input) const {
    const int a = input == 0 ? 1 : 0, b = input == kResult ? 1 : kResult;
    const int filter = FilterOf(input, a, b), output = a + b - filter;
    Convolution convolution;
    convolution.input = static_cast<ProductTensor>(input);
    convolution.filter = static_cast<ProductTensor>(filter);
    convolution.output = static_cast<ProductTensor>(output);
    for (size_t i = 0; i < definition_.indices.size(); ++i) {
      if (in_window_[i]) continue;
      const int index = static_cast<int>(i);
      (Shares(index, input, output)    ? convolution.images
       : Shares(index, filter, output) ? convolution.outputs
       : Shares(index, input, filter)  ? convolution.inputs
                                       : convolution.groups)
          .push_back(index);
    }
    for (const Relation& relation : relations_)
      convolution.windows.push_back(WindowOf(relation, input, filter, output));
    return convolution;
  }

  Window WindowOf(const Relation& relation, int input, int filter, int output) const {
    Window window;
    const int64_t sign = relation.Sign(input);
    const auto place = [&](int tensor, int& index, int& dim) {
      const int found = relation.index[tensor];
      if (found < 0) return;
      dim = dims_[tensor][found];
      if (found < static_cast<int>(definition_.indices.size())) index = found;
    };
    place(output, window.output, window.output_dim);
    place(filter, window.kernel, window.filter_dim);
    place(input, window.input, window.input_dim);
    if (window.output_dim >= 0) window.stride = sign * relation.factor[output];
    if (window.filter_dim >= 0) window.dilation = sign * relation.factor[filter];
    window.low = -sign * relation.constant;
    return window;
  }

  const Definition& definition_;
  std::vector<int64_t> extents_;     // [index]
  std::vector<bool> in_window_;      // [index]
  std::vector<int> dims_[kTensors];  // [tensor][index]: the flat dimension it runs along, or -1
  std::vector<Affine> equalities_;   // each is 0
  std::vector<Relation> relations_;
};

}  // namespace

absl::optional<Convolution> MatchConvolution(const Definition& definition) {
  return Matcher(definition).Match();
}

int OperandOf(const Definition& definition, ProductTensor tensor) {
  if (tensor == ProductTensor::kResult) return -1;
  return FactorsOf(definition)[static_cast<size_t>(tensor)]->operand;
}

}  // namespace yuba
