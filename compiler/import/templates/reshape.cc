// Templates of reshapes and transposes. The dimensions of both sides are grouped where their
// products meet; within a group the factors that both sides need become indices.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/templates/templates.h"
#include "opsemantics/base/element_type.h"

namespace yuba::onnx {

std::string Extents(const Dims& dims) { return absl::StrCat("[", absl::StrJoin(dims, ", "), "]"); }

std::string IndexName(const std::string& prefix, int64_t number) {
  const std::string name = absl::StrCat(prefix, number);
  return ElementTypeFromName(name).has_value() ? name + "_" : name;
}

std::string Names(const std::string& prefix, int count, int first) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(IndexName(prefix, first + i));
  return absl::StrJoin(names, ", ");
}

namespace {

// What a reshape writes for one side: its groups, and the names of the indices of its flat
// dimensions.
struct Side {
  OpTemplate::Groups groups;
  std::vector<std::vector<std::string>> indices;  // [dimension][factor]

  explicit Side(size_t rank) : groups(rank), indices(rank) {}
  std::string Signature() const {
    Dims flat;
    for (const Dims& group : groups) flat.insert(flat.end(), group.begin(), group.end());
    return Extents(flat);
  }
  std::string Position() const {
    std::vector<std::string> flat;
    for (const auto& names : indices) flat.insert(flat.end(), names.begin(), names.end());
    return absl::StrCat("[", absl::StrJoin(flat, ", "), "]");
  }
};

// Dimensions [begin, end) of a side; dimensions of 1 among them do not count.
struct Span {
  size_t begin = 0, end = 0;
};

// The products of inner dimensions at each boundary of `span`, ascending from 1.
Dims Boundaries(const Dims& dims, const Span& span) {
  Dims boundaries = {1};
  for (size_t d = span.end; d-- > span.begin;) {
    if (dims[d] != 1) boundaries.push_back(boundaries.back() * dims[d]);
  }
  return boundaries;
}

class ReshapeWriter {
 public:
  ReshapeWriter(const Dims& from, const Dims& to)
      : from_(from), to_(to), x_(from.size()), y_(to.size()) {}

  OpTemplate Write() {
    Span in, out;
    while (in.begin < from_.size() || out.begin < to_.size()) {
      in.end = in.begin;
      out.end = out.begin;
      NextBlock(in, out);
      WriteBlock(in, out);
      in.begin = in.end;
      out.begin = out.end;
    }
    std::string body = absl::StrCat("x", x_.Position());
    if (!picked_.empty()) {
      body = absl::StrCat("pick(", absl::StrJoin(picked_, ", "), " where ",
                          absl::StrJoin(conditions_, ", "), ") ", body);
    }
    OpTemplate op_template;
    op_template.text = absl::StrCat("op reshape(x", x_.Signature(), ") -> y", y_.Signature(),
                                    "\n  y", y_.Position(), " = ", body, "\n");
    op_template.operands = {x_.groups};
    op_template.outputs = {y_.groups};
    op_template.tie_class = TieClass::kReshape;
    return op_template;
  }

 private:
  // Extends both spans to the least block of equal products.
  void NextBlock(Span& in, Span& out) const {
    int64_t in_product = 1, out_product = 1;
    do {
      const bool take_in =
          out.end == to_.size() || (in.end < from_.size() && in_product <= out_product);
      if (take_in)
        in_product *= from_[in.end++];
      else
        out_product *= to_[out.end++];
    } while (in_product != out_product);
  }

  void WriteBlock(const Span& in, const Span& out) {
    Dims boundaries = Boundaries(from_, in);
    const Dims other = Boundaries(to_, out);
    boundaries.insert(boundaries.end(), other.begin(), other.end());
    std::sort(boundaries.begin(), boundaries.end());
    boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
    bool nested = true;
    for (size_t i = 1; i < boundaries.size(); ++i) nested &= boundaries[i] % boundaries[i - 1] == 0;
    if (nested) {
      const int first = next_;
      next_ += static_cast<int>(boundaries.size()) - 1;
      WriteFactors(from_, in, boundaries, first, "0", x_);
      WriteFactors(to_, out, boundaries, first, "", y_);
    } else {
      const std::string from = WritePlain(from_, in, "p", x_, &picked_);
      const std::string to = WritePlain(to_, out, "i", y_, nullptr);
      conditions_.push_back(absl::StrCat(from, " == ", to));
    }
  }

  // Factors between neighbouring boundaries; index first + n is the n-th from the inside.
  void WriteFactors(const Dims& dims, const Span& span, const Dims& boundaries, int first,
                    const std::string& unit, Side& side) {
    size_t boundary = 0;
    for (size_t d = span.end; d-- > span.begin;) {
      if (dims[d] == 1) {
        side.groups[d] = {1};
        side.indices[d] = {unit.empty() ? IndexName("u", next_++) : unit};
        continue;
      }
      for (int64_t left = dims[d]; left != 1; ++boundary) {
        const int64_t factor = boundaries[boundary + 1] / boundaries[boundary];
        side.groups[d].insert(side.groups[d].begin(), factor);
        side.indices[d].insert(side.indices[d].begin(),
                               IndexName("i", first + static_cast<int64_t>(boundary)));
        left /= factor;
      }
    }
  }

  // Whole dimensions; returns the row-major position within the block.
  std::string WritePlain(const Dims& dims, const Span& span, const std::string& prefix, Side& side,
                         std::vector<std::string>* ranges) {
    std::vector<std::string> terms;
    int64_t stride = 1;
    for (size_t d = span.end; d-- > span.begin;) {
      const std::string name = IndexName(prefix, next_++);
      side.groups[d] = {dims[d]};
      side.indices[d] = {name};
      if (ranges != nullptr) ranges->push_back(absl::StrCat(name, ": ", dims[d]));
      terms.push_back(stride == 1 ? name : absl::StrCat(name, "*", stride));
      stride *= dims[d];
    }
    std::reverse(terms.begin(), terms.end());
    return absl::StrJoin(terms, " + ");
  }

  const Dims& from_;
  const Dims& to_;
  Side x_, y_;
  std::vector<std::string> picked_, conditions_;
  int next_ = 0;
};

// A reshape of tensors without elements: any body will do.
OpTemplate WriteEmptyReshape(const Dims& from, const Dims& to) {
  std::vector<std::string> ranges;
  for (size_t d = 0; d < from.size(); ++d)
    ranges.push_back(absl::StrCat(IndexName("p", d), ": ", from[d]));
  OpTemplate op_template;
  op_template.text = absl::StrCat("op reshape(x", Extents(from), ") -> y", Extents(to), "\n  y[",
                                  Names("i", static_cast<int>(to.size())), "] = pick(",
                                  absl::StrJoin(ranges, ", "), ") x[",
                                  Names("p", static_cast<int>(from.size())), "]\n");
  return op_template;
}

}  // namespace

OpTemplate ReshapeTemplate(const Dims& from, const Dims& to) {
  const auto empty = [](const Dims& dims) {
    return std::find(dims.begin(), dims.end(), 0) != dims.end();
  };
  if (empty(from) || empty(to)) return WriteEmptyReshape(from, to);
  return ReshapeWriter(from, to).Write();
}

OpTemplate TransposeTemplate(const Dims& dims, const std::vector<int>& permutation) {
  Dims result;
  std::vector<std::string> left;
  for (const int d : permutation) {
    result.push_back(dims[d]);
    left.push_back(IndexName("i", d));
  }
  OpTemplate op_template;
  op_template.text = absl::StrCat("op transpose(x", Extents(dims), ") -> y", Extents(result),
                                  "\n  y[", absl::StrJoin(left, ", "), "] = x[",
                                  Names("i", static_cast<int>(dims.size())), "]\n");
  return op_template;
}

}  // namespace yuba::onnx
