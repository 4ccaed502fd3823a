// The places of resize_axes.h.
#include <algorithm>
#include <cmath>

#include "compiler/import/translate/operators/resize_axes.h"
#include "opsemantics/base/arithmetic.h"

namespace yuba::onnx {
namespace {

// So that no place overflows.
void CheckBounds(const ResizedAxis& axis, const ResizeText& text, NodeContext& node) {
  constexpr double kMost = 1e12;
  const auto widened = static_cast<double>(text.unstretched);
  const double operand = static_cast<double>(text.unit) * widened *
                         static_cast<double>(text.stretch) * static_cast<double>(axis.from);
  const double result =
      std::abs(static_cast<double>(text.step)) * widened * static_cast<double>(axis.to);
  if (operand > kMost || result > kMost) {
    node.Fail("it scales dimension ", axis.axis, " by ", axis.scale.over, "/", axis.scale.under,
              ", which is too large a fraction");
  }
  if (std::abs(static_cast<double>(text.start)) > kMost) {
    node.Fail("its places along dimension ", axis.axis, " begin at ", text.start, "/", text.unit,
              ", which is too large a fraction");
  }
}

// Which elements of the result have places inside: a row of them, as places only rise or fall.
// Those of q are inside where 0 <= step*q + start <= edge.
void SetOutside(NodeContext& node, ResizeText& text) {
  const int64_t edge = text.unit * (text.dims[text.axis] - 1), to = text.last;
  int64_t first = 0, last = text.start >= 0 && text.start <= edge ? to : 0;
  if (text.step > 0) {
    first = CeilDiv(-text.start, text.step);
    last = FloorDiv(edge - text.start, text.step) + 1;
  } else if (text.step < 0) {
    first = CeilDiv(text.start - edge, -text.step);
    last = FloorDiv(text.start, -text.step) + 1;
  }
  text.first = std::clamp<int64_t>(first, 0, to);
  text.last = std::clamp(last, text.first, to);
  text.outside = node.Float("extrapolation_value", 0);
}

void CheckInside(const ResizedAxis& axis, const ResizeText& text, NodeContext& node) {
  if (text.first >= text.last) return;
  for (const int64_t q : {text.first, text.last - 1}) {
    const int64_t place = text.step * q + text.start;
    if (place <= -text.unit || place >= text.unit * axis.from) {
      node.Fail("element ", q, " of dimension ", axis.axis,
                " of the result has a place outside of its operand by a whole element or more, "
                "which is not supported");
    }
  }
}

}  // namespace

ResizePlaces PlacesOf(const ResizedAxis& axis, const ResizeForms& forms) {
  const Fraction half{1, 2}, one = Whole(1) / axis.scale;
  const Fraction from = Whole(axis.from), last = Whole(axis.from - 1), others = Whole(axis.to - 1);
  const ResizePlaces middle{one, half * one - half};
  if (forms.place == "asymmetric") return {one, {0, 1}};
  if (forms.place == "tf_half_pixel_for_nn") return {one, half * one};
  if (forms.place == "align_corners")
    return axis.to > 1 ? ResizePlaces{last / others, {0, 1}} : ResizePlaces{{0, 1}, {0, 1}};
  if (forms.cropped()) {
    if (axis.to <= 1) return {{0, 1}, half * (axis.begin + axis.end) * last};
    return {(axis.end - axis.begin) * last / others, axis.begin * last};
  }
  if (forms.place == "pytorch_half_pixel" && axis.to <= 1) return {{0, 1}, {0, 1}};
  if (forms.place != "half_pixel_symmetric") return middle;
  const Fraction adjustment = Whole(axis.to) / (axis.scale * from);
  return {one, half * from * (Whole(1) - adjustment) + middle.start};
}

void CheckPlaces(const ResizedAxis& axis, const ResizeForms& forms, NodeContext& node,
                 ResizeText& text) {
  CheckBounds(axis, text, node);
  if (forms.cropped() && !node.failed()) SetOutside(node, text);
  if (forms.filter != "nearest" && !node.failed()) CheckInside(axis, text, node);
}

}  // namespace yuba::onnx
