// Templates of reductions over given axes: entries of the library would have to name every
// combination of axes.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/import/templates/norm.h"
#include "compiler/import/templates/templates.h"

namespace yuba::onnx {
namespace {

// The texts that all reductions share.
struct Reduction {
  Dims result;
  std::vector<std::string> left, read, ranges;
  int64_t count = 1;

  Reduction(const Dims& dims, const std::vector<int>& axes, bool keep) {
    size_t axis = 0;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
      const bool reduced = axis < axes.size() && axes[axis] == d;
      read.push_back(IndexName(reduced ? "r" : "i", d));
      if (!reduced) {
        left.push_back(read.back());
        result.push_back(dims[d]);
        continue;
      }
      ++axis;
      count *= dims[d];
      ranges.push_back(absl::StrCat(read.back(), ": ", dims[d]));
      if (keep) {
        left.push_back(IndexName("u", d));
        result.push_back(1);
      }
    }
  }
  std::string Left() const { return absl::StrCat("y[", absl::StrJoin(left, ", "), "]"); }
  std::string Row() const { return absl::StrCat("[", absl::StrJoin(left, ", "), "]"); }
  // Where an element's result stands: kept dimensions have one place.
  std::string Place() const {
    std::vector<std::string> place = left;
    for (std::string& index : place) index = index[0] == 'u' ? "0" : index;
    return absl::StrCat("y[", absl::StrJoin(place, ", "), "]");
  }
  std::string Read() const { return absl::StrCat("x[", absl::StrJoin(read, ", "), "]"); }
};

}  // namespace

OpTemplate ReduceTemplate(const ReduceText& reduce, const Dims& dims, const std::vector<int>& axes,
                          bool keep) {
  const Reduction text(dims, axes, keep);
  const std::string term = absl::StrReplaceAll(reduce.term, {{"$", text.Read()}});
  std::string reduced = axes.empty()
                            ? absl::StrCat("(", term, ")")
                            : absl::StrCat("(", reduce.reducer, "(",
                                           absl::StrJoin(text.ranges, ", "), ") ", term, ")");
  reduced = absl::StrReplaceAll(reduce.finish, {{"$", reduced}, {"N", absl::StrCat(text.count)}});
  OpTemplate op_template;
  op_template.text = absl::StrCat("op ", reduce.name, "(x", Extents(dims), ") -> y",
                                  Extents(text.result), "\n  ", text.Left(), " = ", reduced, "\n");
  return op_template;
}

OpTemplate NormTemplate(const Dims& dims, const std::vector<int>& axes, bool keep) {
  const Reduction text(dims, axes, keep);
  const std::string here = text.Place();
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op reduce_l2(x", Extents(dims), ") -> y", Extents(text.result), "\n  ",
                   text.Left(), " = sqrt(sum(", absl::StrJoin(text.ranges, ", "), ") sq(",
                   text.Read(), "))\n  grad ", text.Read(), " = if ", here, " == 0 then 0 else ",
                   text.Read(), " * (d", here, " / ", here, ")\n");
  return op_template;
}

OpTemplate SharedExtremeTemplate(const std::string& reducer, const std::string& type,
                                 const Dims& dims, const std::vector<int>& axes, bool keep) {
  const Reduction text(dims, axes, keep);
  const std::string row = Reduction(dims, axes, false).Row();
  const std::string ranges = absl::StrCat("(", absl::StrJoin(text.ranges, ", "), ") ");
  const std::string here = text.Place();
  const std::string equal = absl::StrCat("if ", text.Read(), " == ", here, " then ");
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op reduce_", reducer, "(x", Extents(dims), ") -> y", Extents(text.result),
                   "\n  ", text.Left(), " = ", reducer, ranges, text.Read(), "\n  n", row, " = sum",
                   ranges, "cast(", equal, "1 else 0, ", type, ")\n  grad ", text.Read(), " = ",
                   equal, "d", here, " / n", row, " else 0\n");
  return op_template;
}

OpTemplate LogSumExpTemplate(const Dims& dims, const std::vector<int>& axes, bool keep) {
  const Reduction text(dims, axes, keep);
  const std::string of_row =
      absl::StrCat("[", absl::StrJoin(Reduction(dims, axes, false).left, ", "), "]");
  const std::string ranges = absl::StrCat("(", absl::StrJoin(text.ranges, ", "), ") ");
  OpTemplate op_template;
  op_template.text = absl::StrCat(
      "op reduce_log_sum_exp(x", Extents(dims), ") -> y", Extents(text.result), "\n  nograd m",
      of_row, " = max", ranges, text.Read(), "\n  nograd shift", of_row, " = if abs(m", of_row,
      ") == inf then 0 else m", of_row, "\n  ", text.Left(), " = log(sum", ranges, "exp(",
      text.Read(), " - shift", of_row, ")) + shift", of_row, "\n");
  return op_template;
}

OpTemplate ArgTemplate(const std::string& reducer, const Dims& dims, int axis, bool keep,
                       bool last) {
  Reduction text(dims, {axis}, keep);
  const int64_t n = dims[axis];
  std::string body;
  if (last) {  // the first when counted from the other end
    text.read[axis] = absl::StrCat(n - 1, " - ", text.read[axis]);
    body = absl::StrCat(n - 1, " - (", reducer, "(", text.ranges[0], ") ", text.Read(), ")");
  } else {
    body = absl::StrCat(reducer, "(", text.ranges[0], ") ", text.Read());
  }
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op ", reducer, "(x", Extents(dims), ") -> y", Extents(text.result), ": i64\n  ",
                   text.Left(), " = ", body, "\n");
  return op_template;
}

}  // namespace yuba::onnx
