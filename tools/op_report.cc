#include "tools/op_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/boxes.h"
#include "opsemantics/elaborate.h"
#include "opsemantics/sample_uses.h"
#include "opsemantics/structure.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

// The use with the most indices says the most about an operator.
absl::optional<Instance> TellingInstance(const OpDescription& op) {
  absl::optional<Instance> best;
  size_t most = 0;
  for (const SampleUse& use : SampleUses(op)) {
    absl::StatusOr<Instance> instance = Elaborate(op, use.operands, use.attributes);
    if (!instance.ok()) continue;
    size_t indices = 0;
    for (const SlotDefinition& part : instance->definitions)
      indices += part.definition.indices.size();
    if (best.has_value() && indices <= most) continue;
    most = indices;
    best = *std::move(instance);
  }
  return best;
}

// What the parts of a cut need of one operand: "whole", "aligned", "aligned, halo", "part".
std::string NeedText(const Box& whole, const Box& first, const Box& second) {
  if (SameSet(first, whole) && SameSet(second, whole)) return "whole";
  if (IsEmpty(Intersect(first, second))) return "aligned";
  return "aligned, halo";
}

struct CutFacts {
  std::string index, result;
  std::vector<std::string> needs;  // by operand
};

CutFacts FactsOfCut(const Definition& definition, int index) {
  const std::vector<Interval> whole = WholeRanges(definition);
  std::vector<Interval> first = whole, second = whole;
  first[index] = PartOf(definition.indices[index].extent, 2, 0);
  second[index] = PartOf(definition.indices[index].extent, 2, 1);
  const Boxes all = AnalyzeBoxes(definition, whole), a = AnalyzeBoxes(definition, first),
              b = AnalyzeBoxes(definition, second);
  CutFacts facts;
  facts.index = definition.indices[index].name;
  facts.result = definition.indices[index].reduction
                     ? absl::StrCat("partial(", Name(definition.reducer), ")")
                     : "disjoint";
  for (size_t operand = 0; operand < definition.operands.size(); ++operand) {
    facts.needs.push_back(NeedText(all.needs[operand], a.needs[operand], b.needs[operand]));
  }
  return facts;
}

const char* StructureName(const Definition& definition) {
  if (MatchConvolution(definition).has_value()) return "convolution";
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

std::string OperatorText(const OpDescription& op) {
  std::string text;
  if (!op.comment.empty()) absl::StrAppend(&text, op.comment, "\n");
  absl::StrAppend(&text, op.text(), "\n");
  const absl::optional<Instance> instance = TellingInstance(op);
  if (!instance.has_value()) return text + "\nno sample use of it could be made\n";
  for (const SlotDefinition& part : instance->definitions) {
    absl::StrAppend(&text, "\n", instance->slots[part.result].name, " is a ",
                    StructureName(part.definition), ". Its cuts:\n");
    TextTable table(99);
    std::vector<std::string> header = {"index"};
    for (const std::string& name : OperandNames(*instance, part)) header.push_back(name);
    header.push_back(instance->slots[part.result].name);
    table.Add(header);
    for (int index : CuttableIndices(part.definition)) {
      const CutFacts facts = FactsOfCut(part.definition, index);
      std::vector<std::string> row = {facts.index};
      row.insert(row.end(), facts.needs.begin(), facts.needs.end());
      row.push_back(facts.result);
      table.Add(row);
    }
    text += table.ToString("  ");
  }
  return text;
}

std::string OperatorJson(const OpDescription& op) {
  nlohmann::ordered_json json;
  json["name"] = op.name;
  json["comment"] = op.comment;
  json["text"] = std::string(op.text());
  const absl::optional<Instance> instance = TellingInstance(op);
  if (!instance.has_value()) return json.dump(1) + "\n";
  for (const SlotDefinition& part : instance->definitions) {
    nlohmann::ordered_json definition;
    definition["result"] = instance->slots[part.result].name;
    definition["structure"] = StructureName(part.definition);
    const std::vector<std::string> names = OperandNames(*instance, part);
    for (int index : CuttableIndices(part.definition)) {
      const CutFacts facts = FactsOfCut(part.definition, index);
      nlohmann::ordered_json cut = {{"index", facts.index}, {"result", facts.result}};
      for (size_t i = 0; i < names.size(); ++i) cut["needs"][names[i]] = facts.needs[i];
      definition["cuts"].push_back(cut);
    }
    json["definitions"].push_back(definition);
  }
  return json.dump(1) + "\n";
}

}  // namespace yuba
