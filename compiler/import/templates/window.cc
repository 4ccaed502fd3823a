// Templates of windows that slide: what an entry of the library cannot say for any number of
// dimensions.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/templates/templates.h"

namespace yuba::onnx {

// For one dimension of 7 elements and windows of 3, 2 apart, with a pad of 1 in front:
//   w[n, a, p0: 4] = argmax(u0: 3 where 1 <= p0*2 + u0*1, p0*2 + u0*1 <= 7)
//                    x[n, a, p0*2 + u0*1 - 1]
//   y[n, a, p0] = (n*C + a)*7 + (p0*2 + w[n, a, p0]*1 - 1)*1
OpTemplate MaxPoolIndicesTemplate(const Dims& dims, const WindowText& window, bool columns) {
  const auto spatial = static_cast<int>(window.kernel.size());
  const std::string p = absl::StrCat("[n, a, ", Names("p", spatial), "]");
  std::vector<std::string> left = {"n", "a"}, ranges, conditions, read = {"n", "a"}, place;
  int64_t size = 1;
  for (int d = 0; d < spatial; ++d) {
    const int64_t lo = window.lo[d], step = window.dilation[d], extent = dims[2 + d];
    const std::string u = IndexName("u", d),
                      begin = absl::StrCat(IndexName("p", d), "*", window.stride[d]);
    const std::string at = absl::StrCat(begin, " + ", u, "*", step);
    left.push_back(absl::StrCat(IndexName("p", d), ": ", window.result[d]));
    ranges.push_back(absl::StrCat(u, ": ", window.kernel[d]));
    conditions.push_back(absl::StrCat(lo, " <= ", at, ", ", at, " <= ", extent - 1 + lo));
    read.push_back(absl::StrCat(at, " - ", lo));
    // The position in the window, in row-major order, gives that of each dimension.
    int64_t inner = 1, apart = 1;
    for (int e = d + 1; e < spatial; ++e) inner *= window.kernel[e];
    for (int e = columns ? 0 : d + 1; e < (columns ? d : spatial); ++e) apart *= dims[2 + e];
    std::string position = inner == 1 ? "w" + p : absl::StrCat("w", p, "/", inner);
    if (d > 0) position = absl::StrCat("mod(", position, ", ", window.kernel[d], ")");
    place.push_back(absl::StrCat("(", begin, " + ", position, "*", step, " - ", lo, ")*", apart));
    size *= extent;
  }
  OpTemplate op_template;
  Dims result = {dims[0], dims[1]};
  result.insert(result.end(), window.result.begin(), window.result.end());
  op_template.text =
      absl::StrCat("op max_pool_indices(x", Extents(dims), ") -> y", Extents(result), ": i64\n  w[",
                   absl::StrJoin(left, ", "), "] = argmax(", absl::StrJoin(ranges, ", "), " where ",
                   absl::StrJoin(conditions, ", "), ") x[", absl::StrJoin(read, ", "), "]\n  y", p,
                   " = (n*", dims[1], " + a)*", size, " + ", absl::StrJoin(place, " + "), "\n");
  return op_template;
}

}  // namespace yuba::onnx
