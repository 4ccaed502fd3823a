#include "tools/compare/differences.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

std::vector<int64_t> BytesByNode(const Candidate& candidate) {
  std::vector<int64_t> bytes(candidate.graph.nodes.size(), 0);
  for (const search::Move& move : search::MovesOf(candidate.graph, candidate.plan))
    bytes[move.node] += TimesOf(candidate.graph, move.node) * move.bytes;
  return bytes;
}

// "n in 4 and o in 2", whatever the mesh axes are called.
std::string HowSharded(const Candidate& candidate, NodeId node) {
  std::vector<std::string> words;
  const Sharding& sharding = candidate.plan.nodes[node];
  for (size_t i = 0; i < sharding.axes.size(); ++i) {
    if (sharding.axes[i].empty()) continue;
    words.push_back(absl::StrCat(candidate.graph.nodes[node].definition->indices[i].name, " in ",
                                 PartCount(candidate.plan.mesh, sharding.axes[i])));
  }
  return words.empty() ? "nothing" : absl::StrJoin(words, " and ");
}

// Nodes of like names, of which each of the two plans cuts all in one way.
struct Difference {
  std::string nodes;  // "layer4.*.conv2"
  int count = 0;
  int64_t bytes = 0;         // that `theirs` moves more than `ours` at these nodes
  std::string theirs, ours;  // the partitions, in words
};

// The nodes of both plans where `sign` * (theirs - ours) is largest; count is 0 where it is nowhere
// above 0.
Difference LargestDifference(const Candidate& theirs, const Candidate& ours, int sign) {
  const std::vector<int64_t> here = BytesByNode(theirs), there = BytesByNode(ours);
  std::map<std::string, NodeId> by_name;
  for (size_t n = 0; n < ours.graph.nodes.size(); ++n) {
    by_name[ours.graph.nodes[n].name] = static_cast<NodeId>(n);
  }
  std::map<std::tuple<std::string, std::string, std::string>, Difference> families;
  for (size_t n = 0; n < theirs.graph.nodes.size(); ++n) {
    const auto same = by_name.find(theirs.graph.nodes[n].name);
    if (same == by_name.end()) continue;
    const std::string& name = theirs.graph.nodes[n].name;
    const std::string mine = HowSharded(theirs, static_cast<NodeId>(n)),
                      yours = HowSharded(ours, same->second);
    Difference& family = families[{NamePattern(name), mine, yours}];
    family.nodes = family.count == 0 ? name : CommonPattern(name, family.nodes);
    family.theirs = mine;
    family.ours = yours;
    family.bytes += here[n] - there[same->second];
    ++family.count;
  }
  Difference largest;
  for (const auto& [key, family] : families) {
    if (sign * family.bytes > sign * largest.bytes) largest = family;
  }
  return largest;
}

std::string DifferenceText(const Difference& difference) {
  return absl::StrCat(ShortName(difference.nodes),
                      difference.count > 1 ? absl::StrCat(" (", difference.count, " nodes)") : "",
                      " ", SignedBytes(difference.bytes), ": cut ", difference.theirs,
                      difference.theirs == difference.ours
                          ? " as in the default, but tensors lie otherwise"
                          : ", in the default " + difference.ours);
}

}  // namespace

std::string Words(const Candidate& theirs, const Candidate& ours) {
  const int64_t more = theirs.plan.cost.bytes() - ours.plan.cost.bytes();
  std::string text = CostChangeText(ours.plan.cost, theirs.plan.cost);
  for (int sign : {more < 0 ? -1 : 1, more < 0 ? 1 : -1}) {
    const Difference difference = LargestDifference(theirs, ours, sign);
    if (difference.count == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", sign > 0 ? "most at " : "least at ",
                    DifferenceText(difference));
    break;
  }
  const int64_t memory = theirs.peak_memory - ours.peak_memory;
  if (more < 0) absl::StrAppend(&text, "; needs ", SignedBytes(memory), " on the fullest device");
  return text;
}

}  // namespace yuba::tools
