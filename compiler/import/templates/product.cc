// Templates of matrix products with broadcasting, and of einsum.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/import/templates/templates.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {

absl::StatusOr<OpTemplate> MatMulTemplate(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return UserError("matmul of a scalar");
  const int64_t inner = a.back();
  const int64_t other = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (inner != other) {
    return UserError("the last dimension of ", Extents(a), " and the ",
                     b.size() == 1 ? "only" : "last but one", " of ", Extents(b),
                     " are contracted and must be equal");
  }
  const int a_batch = std::max<int>(0, static_cast<int>(a.size()) - 2);
  const int b_batch = std::max<int>(0, static_cast<int>(b.size()) - 2);
  const int batch = std::max(a_batch, b_batch);
  Dims result;
  std::vector<std::string> left, read_a, read_b;
  for (int d = 0; d < batch; ++d) {
    const int in_a = d - (batch - a_batch), in_b = d - (batch - b_batch);
    const int64_t size_a = in_a < 0 ? 1 : a[in_a], size_b = in_b < 0 ? 1 : b[in_b];
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      return UserError("the leading dimensions of ", Extents(a), " and ", Extents(b),
                       " do not broadcast");
    }
    result.push_back(size_a == 1 ? size_b : size_a);
    left.push_back(IndexName("p", d));
    if (in_a >= 0) read_a.push_back(size_a == result.back() ? left.back() : "0");
    if (in_b >= 0) read_b.push_back(size_b == result.back() ? left.back() : "0");
  }
  if (a.size() > 1) {
    result.push_back(a[a.size() - 2]);
    left.push_back("r");
    read_a.push_back("r");
  }
  read_a.push_back("q");
  read_b.push_back("q");
  if (b.size() > 1) {
    result.push_back(b.back());
    left.push_back("s");
    read_b.push_back("s");
  }
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op matmul(a", Extents(a), ", b", Extents(b), ") -> y", Extents(result),
                   "\n  y[", absl::StrJoin(left, ", "), "] = sum(q: ", inner, ") a[",
                   absl::StrJoin(read_a, ", "), "] * b[", absl::StrJoin(read_b, ", "), "]\n");
  return op_template;
}

namespace {

// The names of the dimensions of one term of the equation ("labels" in einsum's terms): a letter
// each, and e1, e2, ... for dimensions of the ellipsis, counted from the end.
using Labels = std::vector<std::string>;

// Labels of `term` for `rank` dimensions (-1: as many as the ellipsis has in `ellipsis`).
absl::StatusOr<Labels> ParseTerm(absl::string_view term, int rank, int* ellipsis) {
  const size_t dots = term.find("...");
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      int count = rank < 0 ? *ellipsis : rank - (static_cast<int>(term.size()) - 3);
      if (count < 0) return UserError("term '", std::string(term), "' has too many letters");
      *ellipsis = std::max(*ellipsis, count);
      for (int e = count; e > 0; --e) labels.push_back(IndexName("e", e));  // aligned at the end
      i += 2;
    } else if (absl::ascii_isalpha(term[i])) {
      labels.push_back(absl::StrCat(absl::ascii_isupper(term[i]) ? "c" : "l",
                                    std::string(1, absl::ascii_tolower(term[i]))));
    } else {
      return UserError("the equation has a '", std::string(1, term[i]), "'");
    }
  }
  if (rank >= 0 && static_cast<int>(labels.size()) != rank) {
    return UserError("term '", std::string(term), "' has ", labels.size(),
                     " dimensions, its operand ", rank);
  }
  return labels;
}

// Without "->": the ellipsis, then the letters that occur once, in alphabetical order.
Labels ImplicitOutput(absl::string_view inputs, int ellipsis) {
  std::map<char, int> count;
  for (const char c : inputs) {
    if (absl::ascii_isalpha(c)) ++count[c];
  }
  Labels output;
  for (int e = ellipsis; e > 0; --e) output.push_back(IndexName("e", e));
  for (const auto& [letter, times] : count) {
    if (times == 1) {
      output.push_back(absl::StrCat(absl::ascii_isupper(letter) ? "c" : "l",
                                    std::string(1, absl::ascii_tolower(letter))));
    }
  }
  return output;
}

}  // namespace

absl::StatusOr<OpTemplate> EinsumTemplate(const std::string& equation,
                                          const std::vector<Dims>& operands) {
  std::string text;
  for (const char c : equation) {
    if (!absl::ascii_isspace(c)) text += c;
  }
  const size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  const std::vector<std::string> names = absl::StrSplit(inputs, ',');
  if (names.size() != operands.size()) {
    return UserError("the equation '", equation, "' has ", names.size(), " terms for ",
                     operands.size(), " operands");
  }
  int ellipsis = 0;
  std::vector<Labels> terms;
  std::map<std::string, int64_t> extents;
  for (size_t k = 0; k < operands.size(); ++k) {
    YUBA_ASSIGN_OR_RETURN(Labels labels,
                          ParseTerm(names[k], static_cast<int>(operands[k].size()), &ellipsis));
    for (size_t d = 0; d < labels.size(); ++d) {
      int64_t& extent = extents.emplace(labels[d], operands[k][d]).first->second;
      if (extent == 1) extent = operands[k][d];
      if (operands[k][d] != extent && operands[k][d] != 1) {
        return UserError("index ", labels[d].substr(1), " of '", equation, "' is ", extent, " and ",
                         operands[k][d], " long");
      }
    }
    terms.push_back(std::move(labels));
  }
  Labels output = ImplicitOutput(inputs, ellipsis);
  if (arrow != std::string::npos) {
    YUBA_ASSIGN_OR_RETURN(output, ParseTerm(text.substr(arrow + 2), -1, &ellipsis));
  }
  Dims result;
  std::set<std::string> free;
  for (const std::string& label : output) {
    if (extents.count(label) == 0 || !free.insert(label).second) {
      return UserError("the result of '", equation,
                       "' names an index twice, or one that no operand has");
    }
    result.push_back(extents[label]);
  }
  std::vector<std::string> params, reads, ranges;
  for (size_t k = 0; k < operands.size(); ++k) {
    std::vector<std::string> position;
    for (size_t d = 0; d < terms[k].size(); ++d)
      position.push_back(operands[k][d] == extents[terms[k][d]] ? terms[k][d] : "0");
    params.push_back(absl::StrCat("x", k, Extents(operands[k])));
    reads.push_back(absl::StrCat("x", k, "[", absl::StrJoin(position, ", "), "]"));
  }
  for (const auto& [label, extent] : extents) {
    if (free.count(label) == 0) ranges.push_back(absl::StrCat(label, ": ", extent));
  }
  std::string body = absl::StrJoin(reads, " * ");
  if (!ranges.empty()) body = absl::StrCat("sum(", absl::StrJoin(ranges, ", "), ") ", body);
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op einsum(", absl::StrJoin(params, ", "), ") -> y", Extents(result), "\n  y[",
                   absl::StrJoin(output, ", "), "] = ", body, "\n");
  return op_template;
}

}  // namespace yuba::onnx
