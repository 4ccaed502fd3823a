#include "opsemantics/oracle/interpret_opaque.h"

#include <type_traits>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/opaque.h"

namespace yuba {
namespace {

using Point = std::vector<int64_t>;

// All elements of the interpreter have 8 bytes, and one of two types.
ElementType WideType(ElementType type) {
  return IsFloat(type) ? ElementType::kF64 : ElementType::kI64;
}

// One tensor of the definition and the slice of it at a point of the indices that may be cut.
template <typename Byte>
class Slices {
 public:
  Slices(const Definition& definition, const std::vector<Affine>& position, const TensorType& type)
      : position_(position), dims_(type.dims), strides_(dims_.size(), 1) {
    for (size_t d = dims_.size(); d-- > 1;) strides_[d - 1] = strides_[d] * dims_[d];
    slice_.type.type = WideType(type.type);
    for (size_t d = 0; d < dims_.size(); ++d) {
      if (MayBeCut(definition, position[d].BareIndex())) continue;
      slice_.type.extents.push_back(dims_[d]);
      slice_.strides.push_back(strides_[d]);
      whole_.push_back(d);
    }
  }

  // `point` has 0 for all indices that may not be cut.
  Point FirstAt(const Point& point) const {
    Point first;
    for (const Affine& affine : position_) first.push_back(Evaluate(affine, point));
    return first;
  }
  int64_t OffsetAt(const Point& point) const {
    const Point first = FirstAt(point);
    int64_t offset = 0;
    for (size_t d = 0; d < first.size(); ++d) offset += first[d] * strides_[d];
    return offset;
  }
  const OpaqueSlice<Byte>& At(const Point& point, Byte* elements) {
    slice_.data = elements + OffsetAt(point) * static_cast<int64_t>(sizeof(Scalar));
    return slice_;
  }

  template <typename Visit>
  void ForEachPosition(const Point& point, const Visit& visit) const {
    const Point first = FirstAt(point);
    ForEachPoint(WholeBox(slice_.type.extents), [&](const Point& inner) {
      Point at = first;
      for (size_t w = 0; w < whole_.size(); ++w) at[whole_[w]] = inner[w];
      visit(at);
    });
  }

 private:
  const std::vector<Affine>& position_;
  const std::vector<int64_t>& dims_;
  std::vector<int64_t> strides_;  // of the whole tensor
  std::vector<size_t> whole_;     // its dimensions that are the slice's
  OpaqueSlice<Byte> slice_;
};

// The indices that may be cut over their ranges, all others at 0.
Box CallBox(const Definition& definition, const std::vector<Interval>& ranges) {
  Box calls;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const bool cut = MayBeCut(definition, static_cast<int>(i));
    calls.push_back(cut ? ranges[i] : Interval{0, 1});
  }
  if (IsEmpty(calls)) return calls;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Index& index = definition.indices[i];
    const Interval whole = {0, index.extent};
    YUBA_CHECK(MayBeCut(definition, static_cast<int>(i)) || ranges[i] == whole)
        << definition.name << ": index " << index.name << " may not be cut";
  }
  return calls;
}

template <typename Value>
auto* BytesOf(Value& value) {
  using Byte = std::conditional_t<std::is_const_v<Value>, const char, char>;
  return reinterpret_cast<Byte*>(value.elements.data());
}

}  // namespace

void InterpretOpaque(const Definition& definition, const std::vector<Interval>& ranges,
                     const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
                     TensorValue& result, const ReadLog& log) {
  const OpaqueFunction* const function = FindOpaqueFunction(definition.opaque.function);
  YUBA_CHECK(function != nullptr) << NoOpaqueFunction(definition.opaque.function);
  const std::vector<ExprPtr>& reads = definition.body->args;
  std::vector<Slices<const char>> arguments;
  for (const ExprPtr& read : reads) {
    arguments.emplace_back(definition, read->position, definition.operands[read->operand]);
  }
  Slices<char> written(definition, definition.left, definition.result);
  const ElementType type = definition.result.type;
  ForEachPoint(CallBox(definition, ranges), [&](const Point& point) {
    OpaqueCall call;
    call.attributes = definition.opaque.attributes;
    call.hash = arithmetic == Arithmetic::kHash;
    for (size_t r = 0; r < reads.size(); ++r) {
      const int operand = reads[r]->operand;
      call.arguments.push_back(arguments[r].At(point, BytesOf(*operands[operand])));
      if (log == nullptr) continue;
      arguments[r].ForEachPosition(point, [&](const Point& at) { log(operand, at); });
    }
    call.result = written.At(point, BytesOf(result));
    function->run(call);
    written.ForEachPosition(point, [&](const Point& at) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d) offset = offset * definition.result.dims[d] + at[d];
      Scalar& element = result.elements[offset];
      element = Convert(element, WideType(type), type, arithmetic);
    });
  });
}

}  // namespace yuba
