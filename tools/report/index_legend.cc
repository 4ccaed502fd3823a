#include "tools/report/index_legend.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr size_t kMostOperators = 4;  // that are named in a row

// "dimension 1 of the output, 0 of the weight"; `along`: of the output, then of each operand. Where
// an index runs along the output, operands other than weights run along with it.
std::string AlongText(const search::PlanFile::NodeRow& node, const std::vector<int>& along,
                      const std::set<std::string>& weights) {
  std::vector<std::string> places;
  const auto add = [&](int dimension, const std::string& of) {
    if (dimension < 0) return;
    const std::string place =
        absl::StrCat(places.empty() ? "dimension " : "", dimension, " of ", of);
    if (places.empty() || places.back() != place) places.push_back(place);
  };
  add(along[0], "the output");
  for (size_t operand = 0; operand + 1 < along.size(); ++operand) {
    const bool weight = weights.count(node.reads[operand]) > 0;
    if (along[0] >= 0 && !weight) continue;
    add(along[operand + 1],
        weight ? "the weight" : absl::StrCat("operand ", operand + 1, " of ", node.reads.size()));
  }
  const std::string text = places.empty() ? "no dimension" : absl::StrJoin(places, ", ");
  return along[0] < 0 ? absl::StrCat(text, "; none of the output: its parts give partial sums")
                      : text;
}

}  // namespace

std::vector<IndexMeaning> IndexMeanings(const search::PlanFile& plan, bool all) {
  const std::set<std::string> weights = Weights(plan);
  std::set<std::string> moving;  // nodes
  for (const auto& row : plan.transfers) moving.insert(row.node);
  std::vector<IndexMeaning> meanings;
  std::map<std::pair<std::string, std::string>, size_t> known;  // index and what it runs along
  for (const auto& node : plan.nodes) {
    if (node.op == "copy" || (!all && moving.count(node.name) == 0)) continue;
    for (size_t i = 0; i < node.along.size(); ++i) {
      const std::string text = AlongText(node, node.along[i], weights);
      const auto [it, is_new] =
          known.emplace(std::make_pair(node.indices[i], text), meanings.size());
      if (is_new) meanings.push_back({node.indices[i], {}, text});
      std::vector<std::string>& operators = meanings[it->second].operators;
      if (std::count(operators.begin(), operators.end(), node.op) == 0) {
        operators.push_back(node.op);
      }
    }
  }
  std::stable_sort(meanings.begin(), meanings.end(),
                   [](const auto& a, const auto& b) { return a.index < b.index; });
  return meanings;
}

std::string IndexLegendText(const search::PlanFile& plan, bool all) {
  const std::vector<IndexMeaning> meanings = IndexMeanings(plan, all);
  if (meanings.empty()) return "";
  TextTable table(99);
  table.Add({"index", "of", "runs along"});
  for (const IndexMeaning& meaning : meanings) {
    std::vector<std::string> names = meaning.operators;
    const size_t more = names.size() > kMostOperators ? names.size() - kMostOperators : 0;
    names.resize(names.size() - more);
    table.Add(
        {meaning.index,
         absl::StrCat(absl::StrJoin(names, ", "), more > 0 ? absl::StrCat(" and ", more) : ""),
         meaning.runs_along});
  }
  return absl::StrCat(table.ToString(), "\n");
}

}  // namespace yuba::tools
