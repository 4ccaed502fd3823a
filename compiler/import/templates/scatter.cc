#include "compiler/import/templates/scatter.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace yuba::onnx {
namespace {

using Strings = std::vector<std::string>;

std::string List(const Strings& parts) { return absl::StrJoin(parts, ", "); }

Strings NamesOf(const std::string& prefix, size_t count) {
  Strings names;
  for (size_t d = 0; d < count; ++d) names.push_back(IndexName(prefix, static_cast<int64_t>(d)));
  return names;
}

Strings Joined(Strings a, const Strings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dims Joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// "r0: 5, r1: 4": indices with their extents.
std::string Ranges(const Strings& names, const Dims& extents) {
  Strings ranges;
  for (size_t d = 0; d < names.size(); ++d)
    ranges.push_back(absl::StrCat(names[d], ": ", extents[d]));
  return List(ranges);
}

// "r0 == wrap(ids[q0, 0], 5), r1 == wrap(ids[q0, 1], 4)": the last dimension of ids names places
// along dimensions of these extents.
std::string Tuples(const Strings& looked_up, const Dims& extents, const Strings& rows) {
  Strings conditions;
  for (size_t d = 0; d < looked_up.size(); ++d) {
    conditions.push_back(absl::StrCat(looked_up[d], " == wrap(ids[",
                                      List(Joined(rows, {absl::StrCat(d)})), "], ", extents[d],
                                      ")"));
  }
  return List(conditions);
}

// The texts of one scatter. Definitions of what the updates bring to an element have the indices
// `place`, whose extents may be less than those of the element's index in `data`.
struct Scatter {
  ScatterReduction reduction = ScatterReduction::kNone;
  ElementType type = ElementType::kF32;
  Dims data, indices, updates;
  Strings element;      // the indices of data
  Dims reached;         // [dimension of data]: how far the updates reach
  Strings tuple;        // the indices of which one update is: those that are reduced
  Dims tuples;          // their extents
  Strings looked_up;    // the indices of data that ids give
  Dims looked_up_from;  // their extents
  std::string where;    // the conditions that ids make
  Strings update;       // the indices of the updates
  Strings last;         // the indices on which it depends which update is the last
  Dims lasts;           // their extents

  OpTemplate Text() const;

 private:
  std::string Over(const char* reducer) const {
    return absl::StrCat(reducer, "(", Ranges(tuple, tuples), " where ", where, ") ");
  }
  // What the updates bring, read for one element of data, and `otherwise` where none reaches.
  std::string Brought(const std::string& tensor, const std::string& otherwise) const {
    const std::string read = absl::StrCat(tensor, "[", List(element), "]");
    return reached == data ? read : absl::StrCat("(", read, " else ", otherwise, ")");
  }
  std::string Define(const std::string& tensor, const std::string& body) const {
    return absl::StrCat("  nograd ", tensor, "[", Ranges(element, reached), "] = ", body, "\n");
  }
  std::string In(const std::string& tensor) const {
    return absl::StrCat(tensor, "[", List(element), "]");
  }
  // Small floats are added up and multiplied in f32, as everywhere.
  ElementType Wide() const { return AccumulatorType(type); }
  std::string Update() const {
    const std::string read = absl::StrCat("u[", List(update), "]");
    return Wide() == type ? read : absl::StrCat("cast(", read, ", ", Name(Wide()), ")");
  }
  std::string Narrow(const std::string& value) const {
    return Wide() == type ? value : absl::StrCat("cast(", value, ", ", Name(type), ")");
  }
  // The gradient of the updates, from `body` at the element to which each of them goes.
  std::string GradientOfUpdates(const std::string& body) const {
    const std::string picked = absl::StrCat("(pick(", Ranges(looked_up, looked_up_from), " where ",
                                            where, ") ", body, ")");
    return absl::StrCat("  grad u[", List(update), "] = ", Narrow(picked), "\n");
  }

  std::string Replaced() const;
  std::string Added() const;
  std::string Multiplied() const;
  std::string Extreme(const char* function, const char* least) const;
};

std::string Scatter::Replaced() const {
  Strings terms;  // of the number of an update, in row-major order
  for (size_t d = 0; d < tuple.size(); ++d) {
    int64_t stride = 1;
    for (size_t e = d + 1; e < tuple.size(); ++e) stride *= tuples[e];
    terms.push_back(absl::StrCat(stride, "*", tuple[d]));
  }
  const std::string number = absl::StrCat("(", absl::StrJoin(terms, " + "), ")");
  std::string at = absl::StrCat("at[", List(last), "]");
  const std::string is_last = absl::StrCat(at, " == ", number);
  const std::string brought =
      type == ElementType::kBool
          ? absl::StrCat(Over("any"), "and(", is_last, ", ", Update(), ")")
          : absl::StrCat(Over("sum"), "select(", is_last, ", ", Update(), ", 0)");
  if (reached != data) at = absl::StrCat("(", at, " else -1)");
  const std::string none = type == ElementType::kBool ? "0 == 1" : "0";
  return absl::StrCat(
      "  nograd at[", Ranges(last, lasts), "] = ", Over("max"), number, "\n  w[",
      Ranges(element, reached), "] = ", brought, "\n  ", In("y"), " = ",
      Narrow(absl::StrCat("select(0 <= ", at, ", ", Brought("w", none), ", ", In("x"), ")")), "\n");
}

std::string Scatter::Added() const {
  return absl::StrCat("  w[", Ranges(element, reached), "] = ", Over("sum"), Update(), "\n  ",
                      In("y"), " = ", Narrow(absl::StrCat(In("x"), " + ", Brought("w", "0"))),
                      "\n");
}

// The gradient of an update is the product of all that it is multiplied with: p over it, where
// p is the product of those that are not 0 and none is; p, where it alone is 0.
std::string Scatter::Multiplied() const {
  const std::string u = Update();
  std::string text = absl::StrCat(Define("w", absl::StrCat(Over("prod"), u)), "  ", In("y"), " = ",
                                  Narrow(absl::StrCat(In("x"), " * ", Brought("w", "1"))), "\n");
  if (!IsFloat(type)) return text;
  const std::string others =
      absl::StrCat("select(", u, " == 0, select(", In("z"), " == 1, ", In("p"), ", 0), select(",
                   In("z"), " == 0, ", In("p"), " / ", u, ", 0))");
  absl::StrAppend(
      &text, Define("z", absl::StrCat(Over("sum"), "select(", u, " == 0, cast(1, i64), 0)")),
      Define("p", absl::StrCat(Over("prod"), "select(", u, " == 0, 1, ", u, ")")), "  grad ",
      In("x"), " = ", Narrow(absl::StrCat(In("dy"), " * ", Brought("w", "1"))), "\n",
      GradientOfUpdates(absl::StrCat(In("dy"), " * ", In("x"), " * ", others)));
  return text;
}

std::string Scatter::Extreme(const char* function, const char* least) const {
  const std::string u = Update(), one = absl::StrCat("cast(1, ", Name(Wide()), ")");
  std::string text = absl::StrCat(
      Define("w", absl::StrCat(Over(function), u)), "  ", In("y"), " = ",
      Narrow(absl::StrCat(function, "(", In("x"), ", ", Brought("w", least), ")")), "\n");
  if (!IsFloat(type)) return text;
  // How many have the extreme value, and the share of each.
  const std::string is_y = absl::StrCat(u, " == ", In("y"));
  const std::string x_is_y = absl::StrCat(In("x"), " == ", In("y"));
  const std::string share = absl::StrCat(In("dy"), " / ", In("n"));
  absl::StrAppend(&text, Define("e", absl::StrCat(Over("sum"), "select(", is_y, ", ", one, ", 0)")),
                  "  nograd ", In("n"), " = select(", x_is_y, ", ", one, ", 0) + ",
                  Brought("e", "0"), "\n", "  grad ", In("x"), " = ",
                  Narrow(absl::StrCat("select(", x_is_y, ", ", share, ", 0)")), "\n",
                  GradientOfUpdates(absl::StrCat("select(", is_y, ", ", share, ", 0)")));
  return text;
}

OpTemplate Scatter::Text() const {
  OpTemplate op_template;
  op_template.text = absl::StrCat("op scatter(x", Extents(data), ", ids", Extents(indices),
                                  ": int, u", Extents(updates), ") -> y", Extents(data), "\n");
  std::string& text = op_template.text;
  switch (reduction) {
    case ScatterReduction::kNone: text += Replaced(); break;
    case ScatterReduction::kAdd: text += Added(); break;
    case ScatterReduction::kMul: text += Multiplied(); break;
    case ScatterReduction::kMax: text += Extreme("max", "-inf"); break;
    case ScatterReduction::kMin: text += Extreme("min", "inf"); break;
  }
  return op_template;
}

}  // namespace

OpTemplate GatherNdTemplate(const Dims& data, const Dims& indices, int batch) {
  const size_t depth = static_cast<size_t>(indices.back());
  const Dims from(data.begin() + batch, data.begin() + batch + static_cast<int>(depth));
  const Strings rows = NamesOf("q", indices.size() - 1), places = NamesOf("r", depth);
  const Strings rest = NamesOf("c", data.size() - static_cast<size_t>(batch) - depth);
  const Strings read = Joined(Joined(Strings(rows.begin(), rows.begin() + batch), places), rest);
  const Dims result = Joined(Dims(indices.begin(), indices.end() - 1),
                             Dims(data.begin() + batch + static_cast<int>(depth), data.end()));
  OpTemplate op_template;
  op_template.text = absl::StrCat("op gather_nd(x", Extents(data), ", ids", Extents(indices),
                                  ": int) -> y", Extents(result), "\n  y[",
                                  List(Joined(rows, rest)), "] = pick(", Ranges(places, from),
                                  " where ", Tuples(places, from, rows), ") x[", List(read), "]\n");
  return op_template;
}

OpTemplate ScatterNdTemplate(const Dims& data, const Dims& indices, ScatterReduction reduction,
                             ElementType type) {
  const int depth = static_cast<int>(indices.back());
  Scatter text;
  text.reduction = reduction;
  text.type = type;
  text.data = text.reached = data;
  text.indices = indices;
  const Strings rest = NamesOf("c", data.size() - static_cast<size_t>(depth));
  text.tuple = NamesOf("q", indices.size() - 1);
  text.tuples = {indices.begin(), indices.end() - 1};
  text.looked_up = NamesOf("r", static_cast<size_t>(depth));
  text.looked_up_from = {data.begin(), data.begin() + depth};
  text.where = Tuples(text.looked_up, text.looked_up_from, text.tuple);
  text.updates = Joined(text.tuples, Dims(data.begin() + depth, data.end()));
  text.update = Joined(text.tuple, rest);
  text.element = Joined(text.looked_up, rest);
  text.last = text.looked_up;
  text.lasts = text.looked_up_from;
  return text.Text();
}

OpTemplate ScatterElementsTemplate(const Dims& data, const Dims& indices, int axis,
                                   ScatterReduction reduction, ElementType type) {
  Scatter text;
  text.reduction = reduction;
  text.type = type;
  text.data = data;
  text.indices = text.updates = text.reached = indices;
  text.element = text.update = NamesOf("c", data.size());
  text.element[axis] = "r";
  text.update[axis] = "q";
  text.reached[axis] = data[axis];
  text.tuple = {"q"};
  text.tuples = {indices[axis]};
  text.looked_up = {"r"};
  text.looked_up_from = {data[axis]};
  text.where = absl::StrCat("r == wrap(ids[", List(text.update), "], ", data[axis], ")");
  text.last = text.element;
  text.lasts = text.reached;
  return text.Text();
}

}  // namespace yuba::onnx
