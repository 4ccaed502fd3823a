// ResizeForms and ReadResizedAxes of resize_axes.h.
#include "compiler/import/translate/operators/resize_axes.h"

#include <algorithm>

#include "compiler/simplify/constants.h"
#include "opsemantics/base/arithmetic.h"

namespace yuba::onnx {
namespace {

// The numbers of a float operand; empty where they are not known. Floats that the file stores are
// parameters, which are not `known`; their stored values serve here all the same.
std::vector<double> KnownNumbers(const OnnxValue& operand) {
  const bool stored = operand.stored && operand.initial.kind == compiler::InitialValue::kData &&
                      ElementCount(TensorType{operand.type, operand.dims}) <= kKnownElements;
  if (!IsFloat(operand.type) || (operand.known == nullptr && !stored)) return {};
  const TensorValue value =
      operand.known != nullptr
          ? *operand.known
          : compiler::ValueFromBytes(operand.type, operand.dims, *operand.initial.data);
  std::vector<double> numbers;
  for (const Scalar& element : value.elements) numbers.push_back(element.number);
  return numbers;
}

class AxesReader {
 public:
  AxesReader(const ResizeForms& forms, int x, NodeContext& node)
      : forms_(forms), x_(x), node_(node) {}

  std::vector<ResizedAxis> Read() {
    const int rank = node_.Rank(x_);
    std::vector<int64_t> given;
    if (!forms_.old && node_.HasAttribute("axes")) {
      given = node_.Ints("axes");
    } else {
      for (int d = 0; d < rank; ++d) given.push_back(d);
    }
    for (const int64_t axis : given) {
      axes_.push_back({node_.Axis(axis, rank)});
      for (size_t other = 0; other + 1 < axes_.size(); ++other) {
        if (axes_[other].axis == axes_.back().axis) node_.Fail("an axis is named twice");
      }
      if (node_.failed()) return {};
      axes_.back().from = node_.Dims(x_)[axes_.back().axis];
    }
    if (forms_.cropped()) ReadRegion();
    const std::vector<Fraction> scales = Scales();
    if (node_.failed()) return {};
    if (!scales.empty()) {
      SetScales(scales);
    } else {
      SetSizes();
    }
    for (const ResizedAxis& axis : axes_) {
      if (axis.from == 0 && axis.to > 0)
        node_.Fail("it makes ", axis.to, " elements of dimension ", axis.axis, ", which has none");
    }
    return axes_;
  }

 private:
  // The numbers of an optional operand of floats; a mistake where they are not known, but for an
  // empty one.
  std::vector<Fraction> Numbers(int operand, const char* what, size_t count) {
    if (operand < 0 || ElementCount(TensorType{ElementType::kBool, node_.Dims(operand)}) == 0)
      return {};
    return Numbers(KnownNumbers(node_.ValueOf(operand)), what, count);
  }
  std::vector<Fraction> Numbers(const std::vector<double>& numbers, const char* what,
                                size_t count) {
    if (numbers.size() != count)
      node_.Fail("its ", what, " must be ", count, " numbers that are known when planning");
    std::vector<Fraction> result;
    for (const double number : numbers) {
      result.push_back(Meant(number));
      if (!result.back().fits())
        node_.Fail("its ", what, " have ", number, ", which is too large or small");
    }
    return result;
  }

  std::vector<Fraction> Scales() {
    const size_t count = axes_.size();
    if (forms_.upsample && node_.opset() < 9)
      return Numbers(node_.Floats("scales"), "scales", count);
    const int operand = forms_.old ? 1 : 2;
    if (forms_.old) return Numbers(node_.Input(operand), "scales", count);
    return Numbers(node_.Optional(operand), "scales", count);
  }

  void ReadRegion() {
    const std::vector<Fraction> region = Numbers(node_.Optional(1), "roi", 2 * axes_.size());
    if (region.empty()) node_.Fail("its coordinates 'tf_crop_and_resize' need a roi");
    if (node_.failed()) return;
    for (size_t i = 0; i < axes_.size(); ++i) {
      axes_[i].begin = region[i];
      axes_[i].end = region[axes_.size() + i];
    }
  }

  void SetScales(const std::vector<Fraction>& scales) {
    for (size_t i = 0; i < axes_.size() && !node_.failed(); ++i) {
      ResizedAxis& axis = axes_[i];
      axis.scale = scales[i];
      if (!(Whole(0) < axis.scale)) return node_.Fail("it scales by ", axis.scale.number());
      const Fraction length = Whole(axis.from) * axis.scale;
      if (!length.fits()) return node_.Fail("it scales by ", axis.scale.number());
      axis.to = length.over / length.under;
      // Implementations scale the whole dimension, where the operator's text says its part.
      const Fraction part = length * (axis.end - axis.begin);
      if (FloorDiv(part.over, std::max<int64_t>(part.under, 1)) != axis.to) {
        return node_.Fail("how long its scales make a part of dimension ", axis.axis,
                          " is read in two ways: give it sizes");
      }
    }
  }

  void SetSizes() {
    Dims sizes = forms_.old ? Dims() : node_.KnownInts(node_.Optional(3), "sizes");
    if (sizes.size() != axes_.size())
      node_.Fail("it has ", sizes.size(), " sizes and no scales for ", axes_.size(), " dimensions");
    const std::string policy = node_.String("keep_aspect_ratio_policy", "stretch");
    const ValueAtBatch* other = policy == "stretch" ? node_.AtBatch(0) : nullptr;
    for (size_t i = 0; i < axes_.size() && other != nullptr && !node_.failed(); ++i)
      sizes[i] = other->dims[axes_[i].axis];
    for (size_t i = 0; i < axes_.size() && !node_.failed(); ++i) {
      if (sizes[i] < 0) return node_.Fail("one of its sizes is ", sizes[i]);
      axes_[i].to = sizes[i];
      axes_[i].scale = axes_[i].from == 0 ? Whole(1) : Quotient(sizes[i], axes_[i].from);
    }
    KeepAspectRatio(policy);
  }

  // One scale for all axes; their lengths are rounded.
  void KeepAspectRatio(const std::string& policy) {
    if (policy == "stretch" || node_.failed() || axes_.empty()) return;
    if (policy != "not_larger" && policy != "not_smaller")
      return node_.Fail("its keep_aspect_ratio_policy '", policy, "' is not known");
    const auto [least, greatest] = std::minmax_element(
        axes_.begin(), axes_.end(),
        [](const ResizedAxis& a, const ResizedAxis& b) { return a.scale < b.scale; });
    const Fraction scale = (policy == "not_larger" ? least : greatest)->scale;
    for (ResizedAxis& axis : axes_) {
      axis.scale = scale;
      const Fraction length = Whole(axis.from) * scale;
      if (!length.fits())
        return node_.Fail("its sizes are too large to scale by ", scale.over, "/", scale.under);
      axis.to = FloorDiv(2 * length.over + length.under, 2 * length.under);
    }
  }

  const ResizeForms& forms_;
  const int x_;
  NodeContext& node_;
  std::vector<ResizedAxis> axes_;
};

}  // namespace

ResizeForms::ResizeForms(NodeContext& node)
    : upsample(node.proto().op_type() == "Upsample"),
      old(upsample || node.opset() < 11),
      filter(node.String("mode", "nearest")),
      place(old ? "asymmetric" : node.String("coordinate_transformation_mode", "half_pixel")),
      rounding(old ? kFloor : node.String("nearest_mode", "round_prefer_floor")) {}

std::vector<ResizedAxis> ReadResizedAxes(const ResizeForms& forms, int x, NodeContext& node) {
  return AxesReader(forms, x, node).Read();
}

}  // namespace yuba::onnx
