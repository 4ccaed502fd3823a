#include "search/file/explain.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/regions/along.h"
#include "opsemantics/sharding/mesh_text.h"

namespace yuba::search {
namespace {

// [dimension of the operand, of the result where it is below 0]: the axes that cut the index that
// runs along it; none where there is no such index.
std::vector<AxisList> AxesAlong(const Definition& definition, int operand,
                                const Partition& partition) {
  std::vector<AxisList> axes;
  for (const int index : IndicesAlong(definition, operand)) {
    axes.push_back(index < 0 ? AxisList() : partition.axes[index]);
  }
  return axes;
}

// Appends to `axes` the rest of `list` after the beginning that it shares with `other`.
void AddUnshared(const AxisList& list, const AxisList& other, AxisList* axes) {
  size_t shared = 0;
  while (shared < list.size() && shared < other.size() && list[shared] == other[shared]) ++shared;
  axes->insert(axes->end(), list.begin() + shared, list.end());
}

int OperandOf(const Node& node, TensorId tensor) {
  auto place = std::find(node.operands.begin(), node.operands.end(), tensor);
  return static_cast<int>(place - node.operands.begin());
}

}  // namespace

AxisList AxesCrossed(const Graph& graph, const Plan& plan, const Move& move) {
  const Node& node = graph.nodes[move.node];
  const Sharding& partition = plan.nodes[move.node];
  const Sharding& stored = plan.tensors[move.tensor];
  bool gather = move.kind == MoveKind::kGather;
  std::vector<AxisList> along =
      AxesAlong(*node.definition, gather ? OperandOf(node, move.tensor) : -1, partition);
  AxisList axes;
  for (size_t d = 0; d < along.size(); ++d) {
    if (gather) {
      AddUnshared(stored.axes[d], along[d], &axes);
    } else {
      AddUnshared(along[d], stored.axes[d], &axes);
    }
  }
  for (size_t i = 0; !gather && i < partition.axes.size(); ++i) {
    if (!node.definition->indices[i].reduction) continue;
    axes.insert(axes.end(), partition.axes[i].begin(), partition.axes[i].end());
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::string ShardingInWords(const Definition& definition, const Sharding& partition,
                            const Mesh& mesh, bool reductions) {
  std::vector<std::string> words;
  for (size_t i = 0; i < partition.axes.size(); ++i) {
    const Index& index = definition.indices[i];
    if (partition.axes[i].empty() || (reductions && !index.reduction)) continue;
    words.push_back(absl::StrCat(index.name, " over ", AxesText(mesh, partition.axes[i])));
  }
  return absl::StrJoin(words, " and ");
}

bool MoveReasons::ReadsAll(const Definition& definition, int operand, const Partition& partition) {
  const auto [place, is_new] = reads_all_.emplace(
      std::make_tuple(definitions_.NumberOf(definition), operand, partition.axes), true);
  if (!is_new) return place->second;
  const Box whole = WholeBox(definition.operands[operand].dims);
  const NodeBoxes boxes = AnalyzeNode(definition, partition, plan_.mesh);
  place->second =
      std::all_of(boxes.reads.begin(), boxes.reads.end(),
                  [&](const std::vector<Box>& reads) { return SameSet(reads[operand], whole); });
  return place->second;
}

std::string MoveReasons::Why(const Move& move) {
  const Node& node = graph_.nodes[move.node];
  const Partition& partition = plan_.nodes[move.node];
  if (IsCopy(graph_, node)) {
    return absl::StrCat(graph_.tensors[node.result].consumers.size(), " nodes share the copy");
  }
  if (node.definition->partial) {
    const std::string words = ShardingInWords(*node.definition, partition, plan_.mesh, true);
    return absl::StrCat(
        words.empty() ? node.name : absl::StrCat(node.name, " cuts ", words, " and"),
        " gathers its sums within groups, for ",
        graph_.nodes[graph_.tensors[node.result].consumers[0]].name);
  }
  std::string words = ShardingInWords(*node.definition, partition, plan_.mesh, move.partial);
  std::string who = words.empty() ? absl::StrCat(node.name, " is not cut")
                                  : absl::StrCat(node.name, " cuts ", words);
  if (move.partial) {
    return absl::StrCat(who, ", so its partial results are combined by ",
                        Name(node.definition->reducer));
  }
  if (move.kind == MoveKind::kReduce) return absl::StrCat(who, "; its result is stored otherwise");
  if (move.halo) return absl::StrCat(who, " and its windows reach beyond the shards");
  bool all = ReadsAll(*node.definition, OperandOf(node, move.tensor), partition);
  return absl::StrCat(who, all ? " and needs all of it" : " and needs another part of it");
}

}  // namespace yuba::search
