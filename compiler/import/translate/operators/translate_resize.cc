// Resize and Upsample, one dimension after the other: each becomes a sum or a choice whose
// conditions are inequalities of indices (templates/resize.h), so places are fractions.
#include <algorithm>
#include <numeric>

#include "compiler/import/templates/resize.h"
#include "compiler/import/translate/operators/fraction.h"
#include "compiler/import/translate/operators/resize_axes.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

class Resizing {
 public:
  Resizing(NodeContext& node, int x) : node_(node), forms_(node), x_(x) {}

  void Translate() {
    CheckForms();
    axes_ = ReadResizedAxes(forms_, x_, node_);
    if (node_.failed()) return;
    if (forms_.filter == "nearest" && Repeated()) return;
    std::stable_sort(axes_.begin(), axes_.end(), [](const ResizedAxis& a, const ResizedAxis& b) {
      // What becomes shorter first, the last dimension last; of what becomes longer the last first.
      const double by_a = a.scale.number(), by_b = b.scale.number();
      if (by_a != by_b) return by_a < by_b;
      return by_a < 1 ? a.axis < b.axis : a.axis > b.axis;
    });
    int y = x_;
    for (const ResizedAxis& axis : axes_) {
      y = Resized(y, axis);
      if (node_.failed()) return;
    }
    node_.SetOutput(0, y);
  }

 private:
  void CheckForms() {
    const auto one_of = [&](const std::string& what, const std::string& value,
                            const std::vector<std::string>& known) {
      if (std::find(known.begin(), known.end(), value) == known.end())
        node_.Fail("its ", what, " '", value, "' is not known");
    };
    one_of("mode", forms_.filter, {"nearest", "linear", "cubic"});
    one_of("coordinate_transformation_mode", forms_.place,
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
    one_of("nearest_mode", forms_.rounding,
           {"round_prefer_floor", "round_prefer_ceil", kFloor, "ceil"});
    if (forms_.filter == "nearest" && node_.Int("antialias", 0) != 0)
      node_.Fail("antialias is of its modes linear and cubic, not of nearest");
    if (forms_.filter != "nearest" && !IsFloat(node_.ValueOf(x_).type)) {
      node_.Fail("its mode '", forms_.filter, "' of ", Name(node_.ValueOf(x_).type),
                 " is not supported: cast to floats before it, and back");
    }
  }

  // Nearest, where each element is repeated or every output position is rounded down: entries of
  // the library. False where it is another one.
  bool Repeated() {
    const int rank = node_.Rank(x_);
    if (rank < 3) return false;
    bool whole = true, exact = true;
    Dims repeats(rank, 1), extents = node_.Dims(x_);
    for (const ResizedAxis& axis : axes_) {
      repeats[axis.axis] = axis.scale.over;
      extents[axis.axis] = axis.to;
      whole &= axis.scale.under == 1;
      exact &= axis.from > 0 && axis.scale == Quotient(axis.to, axis.from);
    }
    if (repeats[0] != 1 || repeats[1] != 1 || extents[0] != node_.Dims(x_)[0] ||
        extents[1] != node_.Dims(x_)[1] || !exact)
      return false;
    const bool floor = forms_.place == "asymmetric" && forms_.rounding == kFloor;
    // With whole scales the middle of each repetition is nearest to its element.
    const bool middle = forms_.place == "half_pixel" && forms_.rounding.compare(0, 5, "round") == 0;
    if (!floor && !(whole && middle)) return false;
    const auto inner = [](const Dims& dims) { return Dims(dims.begin() + 2, dims.end()); };
    node_.SetOutput(0, whole ? node_.Entry("resize_nearest", {x_}, {{"r", inner(repeats)}})
                             : node_.Entry("resize_floor", {x_}, {{"o", inner(extents)}}));
    return true;
  }

  int Resized(int y, const ResizedAxis& axis) {
    const ResizePlaces places = PlacesOf(axis, forms_);
    const Fraction &step = places.step, &start = places.start;
    const bool fits = step.fits() && start.fits() && axis.scale.fits() &&
                      std::lcm(step.under, start.under) < kLargestTerm;
    if (axis.to == 0 || !fits) {
      // An empty result has no places.
      if (axis.to > 0)
        node_.Fail("it scales dimension ", axis.axis, " by numbers that are too large");
      return axis.to > 0 ? -1 : Empty(y, axis);
    }
    // What keeps its length is not resized, where it is not moved either.
    const bool same = step == Whole(1) && start == Whole(0);
    if (axis.from == axis.to && (same || (axis.scale == Whole(1) && !forms_.cropped()))) return y;
    ResizeText text;
    text.filter = Filter();
    text.cubic = node_.Float("cubic_coeff_a", -0.75);
    text.type = node_.ValueOf(y).type;
    text.dims = node_.Dims(y);
    text.axis = axis.axis;
    text.length = axis.to;
    text.unit = std::lcm(step.under, start.under);
    text.step = step.over * (text.unit / step.under);
    text.start = start.over * (text.unit / start.under);
    text.edges_repeated = node_.Int("exclude_outside", 0) == 0;
    if (node_.Int("antialias", 0) != 0 && axis.scale < Whole(1)) {
      text.stretch = axis.scale.under;
      text.unstretched = axis.scale.over;
    }
    text.last = axis.to;
    CheckPlaces(axis, forms_, node_, text);
    return node_.failed() ? -1 : node_.Write(ResizeTemplate(text), {y});
  }

  int Empty(int y, const ResizedAxis& axis) {
    Dims start(node_.Rank(y), 0), step(node_.Rank(y), 1), length = node_.Dims(y);
    length[axis.axis] = 0;
    return node_.Write(SliceTemplate(node_.Dims(y), start, step, length), {y});
  }

  ResizeText::Filter Filter() const {
    if (forms_.filter == "linear") return ResizeText::kLinear;
    if (forms_.filter == "cubic") return ResizeText::kCubic;
    if (forms_.rounding == kFloor) return ResizeText::kFloor;
    if (forms_.rounding == "ceil") return ResizeText::kCeil;
    return forms_.rounding == "round_prefer_floor" ? ResizeText::kHalfDown : ResizeText::kHalfUp;
  }

  NodeContext& node_;
  const ResizeForms forms_;
  const int x_;
  std::vector<ResizedAxis> axes_;
};

}  // namespace

void TranslateResize(NodeContext& node) {
  const int x = node.Input(0);
  if (!node.failed()) Resizing(node, x).Translate();
}

}  // namespace yuba::onnx
