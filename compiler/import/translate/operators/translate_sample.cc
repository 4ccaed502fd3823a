// GridSample: values at places between elements, which another tensor names. Along each dimension
// the places become whole positions and what each counts; then one description picks and adds up.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// Along one dimension: positions [batch, places.., taps], and what each counts. One tap has neither
// the last dimension nor weights. Positions outside the dimension give 0.
struct Taps {
  int at = -1, weight = -1;
};

class Sampling {
 public:
  explicit Sampling(NodeContext& node)
      : node_(node),
        mode_(node.String("mode", node.opset() < 20 ? "bilinear" : "linear")),
        padding_(node.String("padding_mode", "zeros")),
        corners_(node.Int("align_corners", 0) != 0) {
    if (mode_ == "bilinear") mode_ = "linear";
    if (mode_ == "bicubic") mode_ = "cubic";
    if (mode_ != "nearest" && mode_ != "linear" && mode_ != "cubic")
      node_.Fail("its mode '", mode_, "' is none of nearest, linear and cubic");
    if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection")
      node_.Fail("its padding_mode '", padding_, "' is none of zeros, border and reflection");
  }

  // `places`, numbers from -1 to 1, along a dimension of n elements.
  Taps TapsAlong(int places, int64_t n) {
    const int u =
        node_.Entry("sample_position", {places}, {{"n", n}, {"corners", int64_t{corners_}}});
    Taps taps;
    if (mode_ == "nearest") {
      taps.at = node_.Entry("round", {Kept(u, n)});
    } else if (mode_ == "linear") {
      SetTaps("linear_taps", Kept(u, n), taps);
    } else {  // of cubic ones each position is kept inside by itself
      SetTaps("cubic_taps", u, taps);
      taps.at = Kept(taps.at, n);
    }
    taps.at = node_.Cast(taps.at, ElementType::kI64);
    return taps;
  }

 private:
  void SetTaps(const char* entry, int u, Taps& taps) {
    const std::vector<int> both = node_.EntryOutputs(entry, {u});
    taps.at = both[0];
    taps.weight = both[1];
  }

  // Places outside become places inside, but for zeros.
  int Kept(int u, int64_t n) {
    const auto last = static_cast<double>(n - 1);
    if (padding_ == "reflection") {
      const double low = corners_ ? 0 : -0.5, span = corners_ ? last : static_cast<double>(n);
      if (span > 0) u = node_.Entry("mirrored", {u}, {{"low", low}, {"span", span}});
    }
    if (padding_ == "zeros") return u;
    return node_.Entry("clip", {u}, {{"least", 0.0}, {"greatest", last}});
  }

  NodeContext& node_;
  std::string mode_, padding_;
  const bool corners_;
};

// The sum over all taps, along each of `rank` dimensions, of an element times what it counts.
OpTemplate SampledTemplate(int rank, bool weighted) {
  std::vector<std::string> positions, weights, extents, indices, taps, conditions, factors;
  const char* tap = weighted ? ", t" : "";
  for (int d = 0; d < rank; ++d) {
    const std::string index = weighted ? absl::StrCat("[n, i.., e", d, "]") : "[n, i..]";
    positions.push_back(absl::StrCat("p", d, "[b, s..", tap, "]: int"));
    weights.push_back(absl::StrCat("w", d, "[b, s..", tap, "]"));
    extents.push_back(absl::StrCat("h", d));
    indices.push_back(absl::StrCat("q", d));
    taps.push_back(absl::StrCat("e", d, ": t"));
    conditions.push_back(absl::StrCat("q", d, " == p", d, index));
    factors.push_back(absl::StrCat("w", d, index, " * "));
  }
  std::vector<std::string> ranges;
  for (int d = 0; d < rank; ++d) ranges.push_back(absl::StrCat("q", d, ": h", d));
  OpTemplate op_template;
  op_template.text = absl::StrCat(
      "op sampled(x[b, c, ", absl::StrJoin(extents, ", "), "], ", absl::StrJoin(positions, ", "),
      weighted ? ", " + absl::StrJoin(weights, ", ") : "", ") -> y[b, c, s..]\n  y[n, a, i..] = ",
      weighted ? absl::StrCat("sum(", absl::StrJoin(taps, ", "), ") ", absl::StrJoin(factors, ""))
               : "",
      "(pick(", absl::StrJoin(ranges, ", "), " where ", absl::StrJoin(conditions, ", "),
      ") x[n, a, ", absl::StrJoin(indices, ", "), "])\n");
  return op_template;
}

}  // namespace

void TranslateGridSample(NodeContext& node) {
  const int x = node.Input(0), grid = node.Input(1);
  Sampling sampling(node);
  if (node.failed()) return;
  const Dims dims = node.Dims(x), places = node.Dims(grid);
  const int rank = node.Rank(x) - 2;
  if (rank < 1 || places.size() != dims.size() || places.back() != rank || places[0] != dims[0]) {
    node.Fail("its operand ", Extents(dims), " and its grid ", Extents(places),
              " do not fit: with [batch, channels] and ", std::max(rank, 1),
              " dimensions behind, the grid is [batch, ..., ", std::max(rank, 1),
              "], of as many dimensions");
  }
  if (std::count(dims.begin(), dims.end(), 0) > 0) node.Fail("its operand has no elements");
  std::vector<int> operands = {x}, weights;
  for (int d = 0; d < rank && !node.failed(); ++d) {
    // The first number of a place is along the last dimension.
    const int along = node.Element(grid, node.Rank(grid) - 1, rank - 1 - d);
    const Taps taps = sampling.TapsAlong(along, dims[2 + d]);
    operands.push_back(taps.at);
    if (taps.weight >= 0) weights.push_back(node.Cast(taps.weight, node.ValueOf(x).type));
  }
  if (!weights.empty() && !IsFloat(node.ValueOf(x).type)) {
    node.Fail("between elements of ", Name(node.ValueOf(x).type),
              " there is nothing: cast to floats");
  }
  if (node.failed()) return;
  operands.insert(operands.end(), weights.begin(), weights.end());
  node.SetOutput(0, node.Write(SampledTemplate(rank, !weights.empty()), operands));
}

}  // namespace yuba::onnx
