// Templates that repeat or make up elements: expand, tile, fills, ranges and borders.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/templates/templates.h"

namespace yuba::onnx {

OpTemplate ExpandTemplate(const Dims& dims, const Dims& to) {
  std::vector<std::string> reads;
  const size_t missing = to.size() - dims.size();
  for (size_t d = 0; d < dims.size(); ++d)
    reads.push_back(dims[d] == to[missing + d] ? IndexName("i", missing + d) : "0");
  OpTemplate op_template;
  op_template.text = absl::StrCat("op expand(x", Extents(dims), ") -> y", Extents(to), "\n  y[",
                                  Names("i", static_cast<int>(to.size())), "] = x[",
                                  absl::StrJoin(reads, ", "), "]\n");
  return op_template;
}

OpTemplate TileTemplate(const Dims& dims, const Dims& repeats) {
  OpTemplate::Groups groups;
  Dims flat;
  std::vector<std::string> left;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (repeats[d] == 1) {
      groups.push_back({dims[d]});
      left.push_back(IndexName("i", d));
    } else {
      groups.push_back({repeats[d], dims[d]});
      left.push_back(absl::StrCat(IndexName("r", d), ", ", IndexName("i", d)));
    }
    flat.insert(flat.end(), groups.back().begin(), groups.back().end());
  }
  OpTemplate op_template;
  op_template.text = absl::StrCat("op tile(x", Extents(dims), ") -> y", Extents(flat), "\n  y[",
                                  absl::StrJoin(left, ", "), "] = x[",
                                  Names("i", static_cast<int>(dims.size())), "]\n");
  op_template.outputs = {groups};
  return op_template;
}

OpTemplate FillTemplate(const Dims& dims, const std::string& value, const std::string& type) {
  OpTemplate op_template;
  op_template.text = absl::StrCat("op fill() -> y", Extents(dims), ": ", type, "\n  y[",
                                  Names("i", static_cast<int>(dims.size())), "] = ", value, "\n");
  return op_template;
}

OpTemplate RangeTemplate(int64_t length, const std::string& start, const std::string& step,
                         const std::string& type) {
  OpTemplate op_template;
  op_template.text = absl::StrCat("op range() -> y[", length, "]: ", type, "\n  y[i] = cast(i, ",
                                  type, ")*", step, " + ", start, "\n");
  return op_template;
}

OpTemplate BorderTemplate(const Dims& dims, int axis, int64_t lo, int64_t hi,
                          const std::string& mode) {
  const int64_t n = dims[axis];
  const std::string i = IndexName("i", axis);
  // Where an element before the first and one after the last come from.
  std::string before, after;
  if (mode == "edge") {
    before = "0";
    after = absl::StrCat(n - 1);
  } else if (mode == "reflect") {
    before = absl::StrCat(lo, " - ", i);
    after = absl::StrCat(2 * n - 2 + lo, " - ", i);
  } else {
    before = absl::StrCat(i, " + ", n - lo);
    after = absl::StrCat(i, " - ", n + lo);
  }
  const auto read = [&](const std::string& position) {
    std::vector<std::string> indices;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      indices.push_back(d == axis ? position : IndexName("i", d));
    return absl::StrCat("x[", absl::StrJoin(indices, ", "), "]");
  };
  Dims result = dims;
  result[axis] += lo + hi;
  std::string body = read(absl::StrCat(i, " - ", lo));
  if (hi > 0) body = absl::StrCat("if ", i, " < ", lo + n, " then ", body, " else ", read(after));
  if (lo > 0) body = absl::StrCat("if ", i, " < ", lo, " then ", read(before), " else ", body);
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op pad_", mode, "(x", Extents(dims), ") -> y", Extents(result), "\n  y[",
                   Names("i", static_cast<int>(dims.size())), "] = ", body, "\n");
  return op_template;
}

}  // namespace yuba::onnx
