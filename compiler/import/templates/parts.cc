// Templates of split, concat and slice. Each works in units of u elements, where u is the largest
// number that divides the dimension, all offsets and all lengths. The unit becomes a factor of its
// own, on which nothing is done, so that whole heads stay whole: a split of 2304 into 3 times 768
// has u = 768, and the dimension is (3 768).
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/templates/templates.h"

namespace yuba::onnx {
namespace {

// The extents of the flat dimensions and the indices of one tensor, while its text is written.
struct Text {
  OpTemplate::Groups groups;
  std::vector<std::string> indices;

  void Add(const Dims& group, const std::vector<std::string>& names) {
    groups.push_back(group);
    indices.insert(indices.end(), names.begin(), names.end());
  }
  std::string Signature() const {
    Dims flat;
    for (const Dims& group : groups) flat.insert(flat.end(), group.begin(), group.end());
    return Extents(flat);
  }
  std::string Position() const { return absl::StrCat("[", absl::StrJoin(indices, ", "), "]"); }
};

std::string Plus(const std::string& index, int64_t offset) {
  if (offset == 0) return index;
  return offset > 0 ? absl::StrCat(index, " + ", offset) : absl::StrCat(index, " - ", -offset);
}

std::string Bare(size_t d) { return IndexName("i", d); }
std::string Inner(size_t d) { return IndexName("t", d); }

// Adds to both texts the dimension d of x, of `size` elements, of which y has the `length` elements
// from `start` on, in units of u.
void AddWindow(size_t d, int64_t size, int64_t start, int64_t length, int64_t u, Text& x, Text& y) {
  const std::string outer = Bare(d);
  if (u == 1) {
    x.Add({size}, {Plus(outer, start)});
    y.Add({length}, {outer});
  } else if (length == u) {
    x.Add({size / u, u}, {absl::StrCat(start / u), Inner(d)});
    y.Add({u}, {Inner(d)});
  } else {
    x.Add({size / u, u}, {Plus(outer, start / u), Inner(d)});
    y.Add({length / u, u}, {outer, Inner(d)});
  }
}

// "if j < 2 then x0[..] else x1[..]" over operands [begin, end), as a balanced tree.
std::string Choice(const std::vector<std::string>& reads, const Dims& ends, size_t begin,
                   size_t end, const std::string& index) {
  if (end - begin == 1) return reads[begin];
  const size_t middle = (begin + end) / 2;
  return absl::StrCat("if ", index, " < ", ends[middle - 1], " then ",
                      Choice(reads, ends, begin, middle, index), " else ",
                      Choice(reads, ends, middle, end, index));
}

}  // namespace

OpTemplate SplitTemplate(const Dims& dims, int axis, const Dims& lengths) {
  int64_t u = dims[axis];
  for (const int64_t length : lengths) u = std::gcd(u, length);
  if (u == 0) u = 1;
  std::vector<std::string> outputs, definitions;
  OpTemplate op_template;
  int64_t start = 0;
  Text x;
  for (size_t part = 0; part < lengths.size(); ++part) {
    x = Text();
    Text y;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (static_cast<int>(d) == axis && lengths.size() > 1) {
        AddWindow(d, dims[d], start, lengths[part], u, x, y);
      } else {
        x.Add({dims[d]}, {Bare(d)});
        y.Add({dims[d]}, {Bare(d)});
      }
    }
    outputs.push_back(absl::StrCat("y", part, y.Signature()));
    definitions.push_back(absl::StrCat("  y", part, y.Position(), " = x", x.Position(), "\n"));
    op_template.outputs.push_back(y.groups);
    start += lengths[part];
  }
  op_template.text =
      absl::StrCat("op split(x", x.Signature(), ") -> ", absl::StrJoin(outputs, ", "), "\n",
                   absl::StrJoin(definitions, ""));
  op_template.operands = {x.groups};
  op_template.tie_class = TieClass::kReshape;
  return op_template;
}

OpTemplate ConcatTemplate(const std::vector<Dims>& operands, int axis) {
  int64_t total = 0, u = 0;
  for (const Dims& dims : operands) {
    total += dims[axis];
    u = std::gcd(u, dims[axis]);
  }
  OpTemplate op_template;
  std::vector<std::string> params, reads;
  Dims ends;
  int64_t start = 0;
  const std::string outer = Bare(axis), inner = Inner(axis);
  for (size_t k = 0; k < operands.size(); ++k) {
    Text x;
    for (size_t d = 0; d < operands[k].size(); ++d) {
      const int64_t size = operands[k][d];
      if (static_cast<int>(d) != axis)
        x.Add({size}, {Bare(d)});
      else if (u == 1)
        x.Add({size}, {Plus(outer, -start)});
      else if (size == u)
        x.Add({u}, {inner});
      else
        x.Add({size / u, u}, {Plus(outer, -start / u), inner});
    }
    params.push_back(absl::StrCat("x", k, x.Signature()));
    reads.push_back(absl::StrCat("x", k, x.Position()));
    op_template.operands.push_back(x.groups);
    start += operands[k][axis];
    ends.push_back(start / u);
  }
  Text y;
  for (size_t d = 0; d < operands[0].size(); ++d) {
    if (static_cast<int>(d) != axis)
      y.Add({operands[0][d]}, {Bare(d)});
    else if (u == 1)
      y.Add({total}, {outer});
    else
      y.Add({total / u, u}, {outer, inner});
  }
  op_template.text =
      absl::StrCat("op concat(", absl::StrJoin(params, ", "), ") -> y", y.Signature(), "\n  y",
                   y.Position(), " = ", Choice(reads, ends, 0, reads.size(), outer), "\n");
  op_template.outputs = {y.groups};
  op_template.tie_class = TieClass::kConcat;
  return op_template;
}

OpTemplate SliceTemplate(const Dims& dims, const Dims& start, const Dims& step,
                         const Dims& length) {
  Text x, y;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (start[d] == 0 && step[d] == 1 && length[d] == dims[d]) {
      x.Add({dims[d]}, {Bare(d)});
      y.Add({dims[d]}, {Bare(d)});
    } else if (step[d] == 1 || length[d] <= 1) {
      const int64_t u = std::gcd(std::gcd(dims[d], start[d]), length[d]);
      AddWindow(d, dims[d], start[d], length[d], length[d] == 0 ? 1 : u, x, y);
    } else {
      x.Add({dims[d]}, {Plus(absl::StrCat(step[d], "*", Bare(d)), start[d])});
      y.Add({length[d]}, {Bare(d)});
    }
  }
  OpTemplate op_template;
  op_template.text = absl::StrCat("op slice(x", x.Signature(), ") -> y", y.Signature(), "\n  y",
                                  y.Position(), " = x", x.Position(), "\n");
  op_template.operands = {x.groups};
  op_template.outputs = {y.groups};
  op_template.tie_class = TieClass::kReshape;
  return op_template;
}

}  // namespace yuba::onnx
