#include "compiler/dump/table_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

std::string BoundText(const Mesh& mesh, const program::Bound& bound) {
  const std::string values = absl::StrJoin(bound.values(), " ");
  if (bound.axes_size() == 0) return values;
  return absl::StrCat(AxesText(mesh, AxisList(bound.axes().begin(), bound.axes().end())), "(",
                      values, ")");
}

std::string BoxText(const Mesh& mesh, const program::Box& box) {
  return absl::StrCat("[",
                      absl::StrJoin(box.dims(), ", ",
                                    [&](std::string* out, const program::Range& range) {
                                      absl::StrAppend(out, BoundText(mesh, range.begin()), ":",
                                                      BoundText(mesh, range.end()));
                                    }),
                      "]");
}

absl::StatusOr<program::Bound> ParseBound(const Mesh& mesh, absl::string_view text) {
  program::Bound bound;
  const absl::string_view whole = text;
  const size_t open = text.find('(');
  if (open != absl::string_view::npos) {
    YUBA_ASSIGN_OR_RETURN(const AxisList axes, ParseAxes(mesh, text.substr(0, open)));
    for (uint8_t axis : axes) bound.add_axes(axis);
    text.remove_prefix(open + 1);
    if (!absl::ConsumeSuffix(&text, ")"))
      return UserError("')' expected at the end of '", whole, "'");
  }
  for (absl::string_view value : absl::StrSplit(text, ' ')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number)) return UserError("a number expected in '", whole, "'");
    bound.add_values(number);
  }
  return bound;
}

absl::StatusOr<program::Box> ParseBox(const Mesh& mesh, absl::string_view text) {
  program::Box box;
  const absl::string_view whole = text;
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return UserError("'[' and ']' expected round '", whole, "'");
  }
  if (text.empty()) return box;
  for (absl::string_view dim : absl::StrSplit(text, ", ")) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(dim, absl::MaxSplits(':', 1));
    program::Range* range = box.add_dims();
    YUBA_ASSIGN_OR_RETURN(*range->mutable_begin(), ParseBound(mesh, ends.first));
    YUBA_ASSIGN_OR_RETURN(*range->mutable_end(), ParseBound(mesh, ends.second));
  }
  return box;
}

}  // namespace yuba::compiler
