#include "tools/report/op_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/sample_uses.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr char kHalo[] = "aligned, halo";

// What a strategy of two parts reads of one operand: "whole" where both read all of it, "aligned"
// where their boxes are disjoint, else "aligned, halo".
std::string ReadsText(const Box& whole, const Box& first, const Box& second) {
  if (SameSet(first, whole) && SameSet(second, whole)) return "whole";
  if (IsEmpty(Intersect(first, second))) return "aligned";
  return kHalo;
}

struct StrategyFacts {
  std::string index, result;
  std::vector<std::string> reads;  // by operand
};

StrategyFacts FactsOfStrategy(const Definition& definition, int index) {
  const std::vector<Interval> whole = WholeRanges(definition);
  std::vector<Interval> first = whole, second = whole;
  first[index] = PartOf(definition.indices[index].extent, 2, 0);
  second[index] = PartOf(definition.indices[index].extent, 2, 1);
  const Boxes all = AnalyzeBoxes(definition, whole), a = AnalyzeBoxes(definition, first),
              b = AnalyzeBoxes(definition, second);
  StrategyFacts facts;
  facts.index = definition.indices[index].name;
  facts.result = definition.indices[index].reduction
                     ? absl::StrCat("partial(", Name(definition.reducer), ")")
                     : "disjoint";
  for (size_t operand = 0; operand < definition.operands.size(); ++operand) {
    facts.reads.push_back(ReadsText(all.reads[operand], a.reads[operand], b.reads[operand]));
  }
  return facts;
}

// How much an instance shows: first the number of indices that can be cut, then that of halos.
int64_t Showing(const Instance& instance) {
  int64_t strategies = 0, halos = 0;
  for (const SlotDefinition& part : instance.definitions) {
    for (int index : CuttableIndices(part.definition)) {
      const StrategyFacts facts = FactsOfStrategy(part.definition, index);
      ++strategies;
      halos += std::count(facts.reads.begin(), facts.reads.end(), kHalo);
    }
  }
  return 1000 * strategies + halos;
}

const char* StructureName(const Definition& definition) {
  if (IsOpaque(definition)) return "call of an opaque function";
  if (const auto convolution = MatchConvolution(definition)) {
    return convolution->input == ProductTensor::kResult    ? "data gradient of a convolution"
           : convolution->filter == ProductTensor::kResult ? "weight gradient of a convolution"
                                                           : "convolution";
  }
  if (MatchContraction(definition).has_value()) return "contraction";
  if (MatchView(definition).has_value()) return "view";
  return IsMap(definition) ? "map" : "reduction";
}

std::vector<std::string> OperandNames(const Instance& instance, const SlotDefinition& part) {
  std::vector<std::string> names;
  for (int slot : part.operands) names.push_back(instance.slots[slot].name);
  return names;
}

}  // namespace

absl::StatusOr<std::string> OperatorText(const OpDescription& op) {
  std::string text;
  if (!op.comment.empty()) absl::StrAppend(&text, op.comment, "\n");
  absl::StrAppend(&text, op.text(), "\n");
  YUBA_ASSIGN_OR_RETURN(const Instance instance, TellingInstance(op, Showing));
  for (const SlotDefinition& part : instance.definitions) {
    const std::vector<int> indices = CuttableIndices(part.definition);
    absl::StrAppend(&text, "\n", instance.slots[part.result].name, " is a ",
                    StructureName(part.definition),
                    indices.empty() ? ". It cannot be cut.\n" : ". Its partitions:\n");
    if (indices.empty()) continue;
    TextTable table(99);
    std::vector<std::string> header = {"index"};
    for (const std::string& name : OperandNames(instance, part)) header.push_back(name);
    header.push_back(instance.slots[part.result].name);
    table.Add(header);
    for (int index : indices) {
      const StrategyFacts facts = FactsOfStrategy(part.definition, index);
      std::vector<std::string> row = {facts.index};
      row.insert(row.end(), facts.reads.begin(), facts.reads.end());
      row.push_back(facts.result);
      table.Add(row);
    }
    text += table.ToString("  ");
  }
  return text;
}

absl::StatusOr<std::string> OperatorJson(const OpDescription& op) {
  nlohmann::ordered_json json;
  json["name"] = op.name;
  json["comment"] = op.comment;
  json["text"] = std::string(op.text());
  json["opaque"] = op.opaque;
  json["definitions"] = nlohmann::ordered_json::array();
  YUBA_ASSIGN_OR_RETURN(const Instance instance, TellingInstance(op, Showing));
  for (const SlotDefinition& part : instance.definitions) {
    nlohmann::ordered_json definition;
    definition["result"] = instance.slots[part.result].name;
    definition["structure"] = StructureName(part.definition);
    definition["partitions"] = nlohmann::ordered_json::array();
    const std::vector<std::string> names = OperandNames(instance, part);
    for (int index : CuttableIndices(part.definition)) {
      const StrategyFacts facts = FactsOfStrategy(part.definition, index);
      nlohmann::ordered_json strategy = {{"index", facts.index}, {"result", facts.result}};
      for (size_t i = 0; i < names.size(); ++i) strategy["reads"][names[i]] = facts.reads[i];
      definition["partitions"].push_back(strategy);
    }
    json["definitions"].push_back(definition);
  }
  return json.dump(1) + "\n";
}

}  // namespace yuba::tools
