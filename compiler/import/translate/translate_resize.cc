// Resize and Upsample, one dimension after the other: each becomes a sum or a choice whose
// conditions are inequalities of indices (templates/resize.h). So places are fractions here, as
// exact as the numbers of the file are meant: 0.6 as an f32 is read as 3/5.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/import/templates/resize.h"
#include "compiler/import/translate/fraction.h"
#include "compiler/import/translate/translate.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/arithmetic.h"

namespace yuba::onnx {
namespace {

constexpr char kFloor[] = "floor";  // of nearest_mode

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

// One dimension that is resized.
struct Axis {
  int axis = 0;
  int64_t from = 1, to = 1;
  Fraction scale{1, 1};
  Fraction begin{0, 1}, end{1, 1};  // of the part that is taken, where one is: the roi
};

class Resizing {
 public:
  Resizing(NodeContext& node, int x)
      : node_(node),
        upsample_(node.proto().op_type() == "Upsample"),
        old_(upsample_ || node.opset() < 11),
        filter_(node.String("mode", "nearest")),
        place_(old_ ? "asymmetric" : node.String("coordinate_transformation_mode", "half_pixel")),
        rounding_(old_ ? kFloor : node.String("nearest_mode", "round_prefer_floor")),
        x_(x) {}

  void Translate() {
    CheckForms();
    ReadAxes();
    if (node_.failed()) return;
    if (filter_ == "nearest" && Repeated()) return;
    std::stable_sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) {
      // What becomes shorter first, the last dimension last; of what becomes longer the last first.
      const double by_a = a.scale.number(), by_b = b.scale.number();
      if (by_a != by_b) return by_a < by_b;
      return by_a < 1 ? a.axis < b.axis : a.axis > b.axis;
    });
    int y = x_;
    for (const Axis& axis : axes_) {
      y = Resized(y, axis);
      if (node_.failed()) return;
    }
    node_.SetOutput(0, y);
  }

 private:
  bool Cropped() const { return place_ == "tf_crop_and_resize"; }

  void CheckForms() {
    const auto one_of = [&](const std::string& what, const std::string& value,
                            const std::vector<std::string>& known) {
      if (std::find(known.begin(), known.end(), value) == known.end())
        node_.Fail("its ", what, " '", value, "' is not known");
    };
    one_of("mode", filter_, {"nearest", "linear", "cubic"});
    one_of("coordinate_transformation_mode", place_,
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
    one_of("nearest_mode", rounding_, {"round_prefer_floor", "round_prefer_ceil", kFloor, "ceil"});
    if (filter_ == "nearest" && node_.Int("antialias", 0) != 0)
      node_.Fail("antialias is of its modes linear and cubic, not of nearest");
    if (filter_ != "nearest" && !IsFloat(node_.ValueOf(x_).type))
      node_.Fail("its mode '", filter_, "' of ", Name(node_.ValueOf(x_).type),
                 " is not supported: cast to floats before it, and back");
  }

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

  void ReadAxes() {
    const int rank = node_.Rank(x_);
    std::vector<int64_t> given;
    if (!old_ && node_.HasAttribute("axes")) {
      given = node_.Ints("axes");
    } else {
      for (int d = 0; d < rank; ++d) given.push_back(d);
    }
    for (const int64_t axis : given) {
      axes_.push_back({node_.Axis(axis, rank)});
      for (size_t other = 0; other + 1 < axes_.size(); ++other) {
        if (axes_[other].axis == axes_.back().axis) node_.Fail("an axis is named twice");
      }
      if (node_.failed()) return;
      axes_.back().from = node_.Dims(x_)[axes_.back().axis];
    }
    if (Cropped()) ReadRegion();
    const std::vector<Fraction> scales = Scales();
    if (node_.failed()) return;
    if (!scales.empty()) {
      SetScales(scales);
    } else {
      SetSizes();
    }
    for (const Axis& axis : axes_) {
      if (axis.from == 0 && axis.to > 0)
        node_.Fail("it makes ", axis.to, " elements of dimension ", axis.axis, ", which has none");
    }
  }

  std::vector<Fraction> Scales() {
    const size_t count = axes_.size();
    if (upsample_ && node_.opset() < 9) return Numbers(node_.Floats("scales"), "scales", count);
    const int operand = old_ ? 1 : 2;
    if (old_) return Numbers(node_.Input(operand), "scales", count);
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
      Axis& axis = axes_[i];
      axis.scale = scales[i];
      if (!(Whole(0) < axis.scale)) return node_.Fail("it scales by ", axis.scale.number());
      const Fraction length = Whole(axis.from) * axis.scale;
      if (!length.fits()) return node_.Fail("it scales by ", axis.scale.number());
      axis.to = length.over / length.under;
      // Implementations scale the whole dimension, where the operator's text says its part.
      const Fraction part = length * (axis.end - axis.begin);
      if (FloorDiv(part.over, std::max<int64_t>(part.under, 1)) != axis.to)
        return node_.Fail("how long its scales make a part of dimension ", axis.axis,
                          " is read in two ways: give it sizes");
    }
  }

  void SetSizes() {
    Dims sizes = old_ ? Dims() : node_.KnownInts(node_.Optional(3), "sizes");
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
        axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.scale < b.scale; });
    const Fraction scale = (policy == "not_larger" ? least : greatest)->scale;
    for (Axis& axis : axes_) {
      axis.scale = scale;
      const Fraction length = Whole(axis.from) * scale;
      if (!length.fits())
        return node_.Fail("its sizes are too large to scale by ", scale.over, "/", scale.under);
      axis.to = FloorDiv(2 * length.over + length.under, 2 * length.under);
    }
  }

  // Nearest, where each element is repeated or every output position is rounded down: entries of
  // the library. False where it is another one.
  bool Repeated() {
    const int rank = node_.Rank(x_);
    if (rank < 3) return false;
    bool whole = true, exact = true;
    Dims repeats(rank, 1), extents = node_.Dims(x_);
    for (const Axis& axis : axes_) {
      repeats[axis.axis] = axis.scale.over;
      extents[axis.axis] = axis.to;
      whole &= axis.scale.under == 1;
      exact &= axis.from > 0 && axis.scale == Quotient(axis.to, axis.from);
    }
    if (repeats[0] != 1 || repeats[1] != 1 || extents[0] != node_.Dims(x_)[0] ||
        extents[1] != node_.Dims(x_)[1] || !exact)
      return false;
    const bool floor = place_ == "asymmetric" && rounding_ == kFloor;
    // With whole scales the middle of each repetition is nearest to its element.
    const bool middle = place_ == "half_pixel" && rounding_.compare(0, 5, "round") == 0;
    if (!floor && !(whole && middle)) return false;
    const auto inner = [](const Dims& dims) { return Dims(dims.begin() + 2, dims.end()); };
    node_.SetOutput(0, whole ? node_.Entry("resize_nearest", {x_}, {{"r", inner(repeats)}})
                             : node_.Entry("resize_floor", {x_}, {{"o", inner(extents)}}));
    return true;
  }

  // The place of element q of the result is step*q + start.
  struct Places {
    Fraction step, start;
  };
  Places PlacesOf(const Axis& axis) const {
    const Fraction half{1, 2}, one = Whole(1) / axis.scale;
    const Fraction from = Whole(axis.from), last = Whole(axis.from - 1),
                   others = Whole(axis.to - 1);
    const Places middle{one, half * one - half};
    if (place_ == "asymmetric") return {one, {0, 1}};
    if (place_ == "tf_half_pixel_for_nn") return {one, half * one};
    if (place_ == "align_corners")
      return axis.to > 1 ? Places{last / others, {0, 1}} : Places{{0, 1}, {0, 1}};
    if (Cropped()) {
      if (axis.to <= 1) return {{0, 1}, half * (axis.begin + axis.end) * last};
      return {(axis.end - axis.begin) * last / others, axis.begin * last};
    }
    if (place_ == "pytorch_half_pixel" && axis.to <= 1) return {{0, 1}, {0, 1}};
    if (place_ != "half_pixel_symmetric") return middle;
    const Fraction adjustment = Whole(axis.to) / (axis.scale * from);
    return {one, half * from * (Whole(1) - adjustment) + middle.start};
  }

  int Resized(int y, const Axis& axis) {
    const Places places = PlacesOf(axis);
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
    if (axis.from == axis.to && (same || (axis.scale == Whole(1) && !Cropped()))) return y;
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
    CheckBounds(axis, text);
    if (Cropped() && !node_.failed()) SetOutside(text);
    if (!node_.failed()) CheckPlaces(axis, text);
    return node_.failed() ? -1 : node_.Write(ResizeTemplate(text), {y});
  }

  int Empty(int y, const Axis& axis) {
    Dims start(node_.Rank(y), 0), step(node_.Rank(y), 1), length = node_.Dims(y);
    length[axis.axis] = 0;
    return node_.Write(SliceTemplate(node_.Dims(y), start, step, length), {y});
  }

  ResizeText::Filter Filter() const {
    if (filter_ == "linear") return ResizeText::kLinear;
    if (filter_ == "cubic") return ResizeText::kCubic;
    if (rounding_ == kFloor) return ResizeText::kFloor;
    if (rounding_ == "ceil") return ResizeText::kCeil;
    return rounding_ == "round_prefer_floor" ? ResizeText::kHalfDown : ResizeText::kHalfUp;
  }

  // So that no place overflows.
  void CheckBounds(const Axis& axis, const ResizeText& text) {
    constexpr double kMost = 1e12;
    const auto widened = static_cast<double>(text.unstretched);
    const double operand = static_cast<double>(text.unit) * widened *
                           static_cast<double>(text.stretch) * static_cast<double>(axis.from);
    const double result =
        std::abs(static_cast<double>(text.step)) * widened * static_cast<double>(axis.to);
    if (operand > kMost || result > kMost)
      node_.Fail("it scales dimension ", axis.axis, " by ", axis.scale.over, "/", axis.scale.under,
                 ", which is too large a fraction");
    if (std::abs(static_cast<double>(text.start)) > kMost)
      node_.Fail("its places along dimension ", axis.axis, " begin at ", text.start, "/", text.unit,
                 ", which is too large a fraction");
  }

  // Which elements of the result have places inside: a row of them, as places only rise or fall.
  // Those of q are inside where 0 <= step*q + start <= edge.
  void SetOutside(ResizeText& text) {
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
    text.outside = node_.Float("extrapolation_value", 0);
  }

  void CheckPlaces(const Axis& axis, const ResizeText& text) {
    if (filter_ == "nearest" || text.first >= text.last) return;
    for (const int64_t q : {text.first, text.last - 1}) {
      const int64_t place = text.step * q + text.start;
      if (place <= -text.unit || place >= text.unit * axis.from)
        node_.Fail("element ", q, " of dimension ", axis.axis,
                   " of the result has a place outside of its operand by a whole element or more, "
                   "which is not supported");
    }
  }

  NodeContext& node_;
  const bool upsample_, old_;  // old: before coordinates could be chosen
  const std::string filter_, place_, rounding_;
  const int x_;
  std::vector<Axis> axes_;
};

}  // namespace

void TranslateResize(NodeContext& node) {
  const int x = node.Input(0);
  if (!node.failed()) Resizing(node, x).Translate();
}

}  // namespace yuba::onnx
