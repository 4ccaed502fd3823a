#include "tools/page/units.h"

#include <cctype>
#include <map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/definition/graph.h"

namespace yuba::tools {
namespace {

// A node of the model may come in pieces with others between them, as the parts of a split do; so
// many units back they still join.
constexpr size_t kApart = 6;

// "h.0." of "h.0.attn.MatMul", "grad(h.0.Add)" and "adam of h.0.attn.weight": up to the first
// component that is a number, else to the first that has a digit; "" without one.
std::string BlockPrefix(const std::string& name) {
  const size_t before = name.find_last_of(" (");
  const size_t start = before == std::string::npos ? 0 : before + 1;
  std::string mixed;
  bool digits = false, others = false;
  for (size_t i = start; i < name.size(); ++i) {
    const char c = name[i];
    if (c != '.' && c != '/' && c != ':') {
      (std::isdigit(static_cast<unsigned char>(c)) ? digits : others) = true;
      continue;
    }
    if (digits && !others) return name.substr(start, i + 1 - start);
    if (digits && mixed.empty()) mixed = name.substr(start, i + 1 - start);
    digits = others = false;
  }
  return mixed;
}

std::vector<bool> Copies(const search::PlanFile& plan) {
  std::unordered_set<std::string> names;
  for (const auto& row : plan.tensors) {
    if (row.kind == "copy") names.insert(row.name);
  }
  std::vector<bool> copies;
  for (const auto& node : plan.nodes) copies.push_back(names.count(node.name) > 0);
  return copies;
}

// Which nodes compute gradients. A copy belongs to what reads it first.
std::vector<bool> Gradients(const search::PlanFile& plan, const std::vector<bool>& copies) {
  std::vector<bool> gradient(plan.nodes.size());
  std::map<std::string, bool> next;  // of the nodes behind, by the model's node
  for (size_t n = plan.nodes.size(); n-- > 0;) {
    const auto& node = plan.nodes[n];
    if (!copies[n]) next[node.from] = IsGradient(node.op);
    gradient[n] = next[node.from];
  }
  return gradient;
}

}  // namespace

std::vector<Unit> UnitsOf(const search::PlanFile& plan) {
  const std::vector<bool> copies = Copies(plan), gradients = Gradients(plan, copies);
  std::map<std::pair<std::string, bool>, size_t> latest;  // unit of a node of the model
  std::vector<std::string> operators;                     // of each unit, in order
  std::vector<Unit> units;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    const std::string& name = node.from.empty() ? node.name : node.from;
    const auto [place, added] = latest.emplace(std::make_pair(name, gradients[n]), units.size());
    if (added || place->second + kApart < units.size()) {
      place->second = units.size();
      units.push_back({name, BlockPrefix(name), gradients[n], 0, {}});
      operators.emplace_back();
    }
    units[place->second].nodes.push_back(static_cast<int>(n));
    if (!copies[n]) absl::StrAppend(&operators[place->second], node.op, "\n");
  }
  std::map<std::string, int> known;
  for (size_t u = 0; u < units.size(); ++u) {
    units[u].structure = known.emplace(operators[u], static_cast<int>(known.size())).first->second;
  }
  return units;
}

}  // namespace yuba::tools
