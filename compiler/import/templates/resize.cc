#include "compiler/import/templates/resize.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/arithmetic.h"

namespace yuba::onnx {
namespace {

std::string Number(double value) { return absl::StrFormat("(%.17g)", value); }

// Writes the text of one resize. Places and distances are integers: so many parts of an element.
class Writer {
 public:
  explicit Writer(const ResizeText& resize)
      : resize_(resize),
        from_(resize.dims[resize.axis]),
        // All in units of which a stretched kernel has a whole number.
        step_(resize.step * resize.unstretched),
        start_(resize.start * resize.unstretched),
        unit_(resize.unit * resize.unstretched),
        width_(resize.unit * resize.stretch) {
    for (size_t d = 0; d < resize.dims.size(); ++d)
      indices_.push_back(IndexName("i", static_cast<int64_t>(d)));
    indices_[resize.axis] = "q";
  }

  OpTemplate Text() const {
    std::string body = Weighted() ? Sum() : Pick();
    if (Weighted() && Wide() != resize_.type)
      body = absl::StrCat("cast(", body, ", ", Name(resize_.type), ")");
    const std::string outside = Number(resize_.outside);
    if (resize_.last < resize_.length)
      body = absl::StrCat("if q < ", resize_.last, " then ", body, " else ", outside);
    if (resize_.first > 0)
      body = absl::StrCat("if q < ", resize_.first, " then ", outside, " else ", body);
    Dims result = resize_.dims;
    result[resize_.axis] = resize_.length;
    OpTemplate op_template;
    op_template.text =
        absl::StrCat("op resize(x", Extents(resize_.dims), ") -> y", Extents(result), "\n", Sums(),
                     "  y[", absl::StrJoin(indices_, ", "), "] = ", body, "\n");
    return op_template;
  }

 private:
  bool Weighted() const {
    return resize_.filter == ResizeText::kLinear || resize_.filter == ResizeText::kCubic;
  }
  bool Stretched() const { return width_ != unit_; }
  bool Scaled() const {
    return Stretched() || (resize_.filter == ResizeText::kCubic && !resize_.edges_repeated);
  }
  ElementType Wide() const { return AccumulatorType(resize_.type); }
  int64_t Reach() const { return resize_.filter == ResizeText::kCubic ? 2 * width_ : width_; }

  std::string Read(const std::string& position) const {
    std::vector<std::string> at = indices_;
    at[resize_.axis] = position;
    return absl::StrCat("x[", absl::StrJoin(at, ", "), "]");
  }

  // The place of element q of the result, and whether all are inside of [low, high].
  std::string Place() const {
    return absl::StrCat(step_, "*q", start_ < 0 ? " - " : " + ", std::abs(start_));
  }
  bool PlacesWithin(int64_t low, int64_t high) const {
    if (resize_.first >= resize_.last) return true;
    const int64_t one = step_ * resize_.first + start_, other = step_ * (resize_.last - 1) + start_;
    return std::min(one, other) >= low && std::max(one, other) <= high;
  }

  // Conditions under which an element at `position`, in elements, is within the kernel's reach.
  std::string Within(const std::string& position) const {
    return absl::StrCat(Place(), " < ", unit_, "*", position, " + ", Reach(), ", ", unit_, "*",
                        position, " < ", Place(), " + ", Reach());
  }

  // The kernel at a distance, which may be beyond its reach where `anywhere`.
  std::string Kernel(const std::string& distance, bool anywhere) const {
    const char* type = Name(Wide());
    if (resize_.filter == ResizeText::kLinear) {
      const std::string left = absl::StrCat(width_, " - ", distance);
      return absl::StrCat("cast(", anywhere ? absl::StrCat("max(", left, ", 0)") : left, ", ", type,
                          ") / ", width_);
    }
    const double a = resize_.cubic;
    const std::string v = absl::StrCat("(cast(", distance, ", ", type, ") / ", width_, ")");
    const std::string near =
        absl::StrCat("(", Number(a + 2), "*", v, " - ", Number(a + 3), ")*", v, "*", v, " + 1");
    std::string far = absl::StrCat("((", Number(a), "*", v, " - ", Number(5 * a), ")*", v, " + ",
                                   Number(8 * a), ")*", v, " - ", Number(4 * a));
    if (anywhere) far = absl::StrCat("select(", distance, " < ", 2 * width_, ", ", far, ", 0)");
    return absl::StrCat("select(", distance, " <= ", width_, ", ", near, ", ", far, ")");
  }
  std::string Distance(const std::string& place, const std::string& position) const {
    return absl::StrCat("abs(", place, " - ", unit_, "*", position, ")");
  }

  // x[p] times its weight, over all p within reach.
  std::string Sum() const {
    return absl::StrCat("sum(p: ", from_, " where ", Within("p"), ") ", Read("p"), " * (", Weight(),
                        ")");
  }

  std::string Weight() const {
    const int64_t edge = (from_ - 1) * unit_;
    if (resize_.filter == ResizeText::kLinear && !Stretched()) {
      // Where the place is outside, the element at the edge counts alone.
      const std::string inside =
          PlacesWithin(0, edge) ? Place() : absl::StrCat("min(max(", Place(), ", 0), ", edge, ")");
      return Kernel(Distance(inside, "p"), false);
    }
    std::string weight = Kernel(Distance(Place(), "p"), false);
    if (resize_.edges_repeated && Stretched()) {
      weight = absl::StrCat("(", weight, ") + (if p == 0 then lo[q] else 0) + (if p == ", from_ - 1,
                            " then hi[q] else 0)");
    } else if (resize_.edges_repeated) {
      weight =
          absl::StrCat("(", weight, ")", PlacesWithin(unit_, edge) ? "" : Edge(0, {-1, -2}),
                       PlacesWithin(0, edge - unit_) ? "" : Edge(from_ - 1, {from_, from_ + 1}));
    }
    return Scaled() ? absl::StrCat("(", weight, ") / n[q]") : weight;
  }

  // What the element at an edge counts in place of those outside.
  std::string Edge(int64_t edge, const std::vector<int64_t>& outside) const {
    std::vector<std::string> weights;
    for (const int64_t position : outside)
      weights.push_back(Kernel(Distance(Place(), absl::StrCat("(", position, ")")), true));
    return absl::StrCat(" + (if p == ", edge, " then (", absl::StrJoin(weights, ") + ("),
                        ") else 0)");
  }

  // The definitions of what the weights add up to, and of what lies outside.
  std::string Sums() const {
    if (!Weighted() || !Scaled()) return "";
    const auto sum = [&](const char* name, int64_t first, int64_t count) {
      const std::string position =
          absl::StrCat("(t", first < 0 ? " - " : " + ", std::abs(first), ")");
      return absl::StrCat("  ", name, "[q: ", resize_.length, "] = sum(t: ", count, " where ",
                          Within(position), ") ", Kernel(Distance(Place(), position), false), "\n");
    };
    if (!resize_.edges_repeated) return sum("n", 0, from_);
    const int64_t far = CeilDiv(Reach(), unit_) + 1;  // elements that count outside
    return absl::StrCat(sum("lo", -far, far), sum("hi", from_, far),
                        sum("n", -far, from_ + 2 * far));
  }

  // The one element that rounding gives; outside of the operand that at the edge.
  std::string Pick() const {
    if (resize_.first >= resize_.last) return Read("0");  // of no element
    const int64_t first = Rounded(step_ * resize_.first + start_);
    const int64_t last = Rounded(step_ * (resize_.last - 1) + start_);
    if (first == last)  // conditions that always hold would leave nothing to pick by
      return Read(absl::StrCat(std::min(std::max<int64_t>(first, 0), from_ - 1)));
    const int64_t before = std::max<int64_t>(0, -std::min(first, last));
    const int64_t behind = std::max<int64_t>(0, std::max(first, last) - (from_ - 1));
    const std::string p = before > 0 ? absl::StrCat("(p - ", before, ")") : "p";
    std::string read = Read(p);
    if (behind > 0) {
      read = absl::StrCat("if p < ", before + from_, " then ", read, " else ",
                          Read(absl::StrCat(from_ - 1)));
    }
    if (before > 0) read = absl::StrCat("if p < ", before, " then ", Read("0"), " else ", read);
    return absl::StrCat("pick(p: ", before + from_ + behind, " where ", Rounds(p), ") (", read,
                        ")");
  }

  // The conditions under which the place of q is rounded to `position`.
  std::string Rounds(const std::string& position) const {
    const std::string at = absl::StrCat(unit_, "*", position),
                      twice = absl::StrCat(2 * unit_, "*", position);
    const std::string place = Place(), twice_place = absl::StrCat("2*(", place, ")");
    switch (resize_.filter) {
      case ResizeText::kFloor:
        return absl::StrCat(at, " <= ", place, ", ", place, " < ", at, " + ", unit_);
      case ResizeText::kCeil:
        return absl::StrCat(place, " <= ", at, ", ", at, " < ", place, " + ", unit_);
      case ResizeText::kHalfDown:
        return absl::StrCat(twice, " - ", unit_, " < ", twice_place, ", ", twice_place,
                            " <= ", twice, " + ", unit_);
      default:
        return absl::StrCat(twice, " - ", unit_, " <= ", twice_place, ", ", twice_place, " < ",
                            twice, " + ", unit_);
    }
  }
  int64_t Rounded(int64_t place) const {
    switch (resize_.filter) {
      case ResizeText::kFloor: return FloorDiv(place, unit_);
      case ResizeText::kCeil: return CeilDiv(place, unit_);
      case ResizeText::kHalfDown: return CeilDiv(2 * place - unit_, 2 * unit_);
      default: return FloorDiv(2 * place + unit_, 2 * unit_);
    }
  }

  const ResizeText& resize_;
  const int64_t from_;
  const int64_t step_, start_, unit_;
  const int64_t width_;  // of half a linear kernel
  std::vector<std::string> indices_;
};

}  // namespace

OpTemplate ResizeTemplate(const ResizeText& resize) { return Writer(resize).Text(); }

}  // namespace yuba::onnx
