// The fast cost tables against the one definition of communication, opsemantics/base/transfers.h.

#include "search/cost/cost_tables.h"

#include <catch2/catch.hpp>

#include "opsemantics/base/transfers.h"
#include "search/space/domain.h"
#include "tests/support/graphs.h"

namespace yuba::search {
namespace {

std::vector<Choice> AllChoices(const ChoiceSpace& space, const Mesh& mesh) {
  std::vector<int> axes;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) axes.push_back(static_cast<int>(axis));
  return LegalChoices(space, mesh, axes, WholeChoice(space), Nesting::kFree);
}

std::vector<Box> Shards(const Mesh& mesh, const Choice& choice, const std::vector<int64_t>& dims) {
  std::vector<Box> shards;
  for (int device = 0; device < mesh.devices(); ++device) {
    shards.push_back(ShardBox(mesh, choice, dims, device));
  }
  return shards;
}

// Bytes of a reduction: the first owners' results move to the other owners in the tensor's type.
int64_t ReducedBytes(const NodeBoxes& at, const std::vector<Box>& have, ElementType type) {
  const int64_t moved = ReduceVolume({at.writes, at.partial, at.partials}, have);
  if (at.partials == 1) return moved * ByteSize(type);
  const int64_t results = GatherVolume(FirstOwnerBoxes(have), have);
  return (moved - results) * ByteSize(AccumulatorType(type)) + results * ByteSize(type);
}

// Every pair of choices of every operand and result of the graph's nodes.
void CompareTables(const Graph& graph, int devices) {
  Mesh mesh = MeshOf(devices);
  CAPTURE(devices);
  for (const Node& node : graph.nodes) {
    std::vector<Choice> node_choices = AllChoices(SpaceOfNode(*node.definition), mesh);
    std::vector<int> columns;
    std::vector<NodeBoxes> boxes;
    for (size_t c = 0; c < node_choices.size(); ++c) {
      columns.push_back(static_cast<int>(c));
      boxes.push_back(AnalyzeNode(*node.definition, node_choices[c], mesh));
    }
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      const TensorType& type = graph.tensors[o < 0 ? node.result : node.operands[o]].type;
      std::vector<Choice> choices = AllChoices(SpaceOfTensor(type), mesh);
      const Definition* const definition = node.definition.get();
      const std::vector<int64_t> table =
          CostTable({&mesh, definition, o, &choices, &node_choices, &columns, &boxes});
      size_t cell = 0, wrong = 0;
      for (const Choice& choice : choices) {
        std::vector<Box> have = Shards(mesh, choice, type.dims);
        for (const NodeBoxes& at : boxes) {
          int64_t bytes;
          if (o < 0) {
            bytes = ReducedBytes(at, have, type.type);
          } else {
            std::vector<Box> read;
            for (const std::vector<Box>& reads : at.reads) read.push_back(reads[o]);
            bytes = GatherVolume(have, read) * ByteSize(type.type);
          }
          wrong += table[cell++] != bytes;
        }
      }
      CHECK(cell == table.size());
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("tables are the volumes of transfers") {
  GraphBuilder builder;
  TensorId x = builder.Input({3, 2, 7, 5});
  TensorId y = builder.MaxPool(builder.Conv(x, builder.Parameter({3, 2, 3, 2}), 2, 1), 2, 1);
  TensorId z = builder.SumOver(builder.Scale(y, builder.Parameter({3}), 1), 2);
  Graph graph = builder.Finish({z});
  CompareTables(graph, 2);
  CompareTables(graph, 3);
  CompareTables(graph, 4);
}

TEST_CASE("tables of small tensors, which are replicated, and of narrow types") {
  GraphBuilder builder;
  TensorId x = builder.Input({2, 9}, ElementType::kBF16);
  TensorId w = builder.Parameter({9, 3}, ElementType::kBF16);
  TensorId y = builder.Matmul(x, w);
  TensorId dx = builder.ConvGradient(y, builder.Parameter({3}, ElementType::kBF16), 2, 7);
  Graph graph = builder.Finish({builder.Shift(builder.Slice(dx, 1, 1), 1)});
  for (int devices : {2, 4, 6, 8}) CompareTables(graph, devices);
}

}  // namespace
}  // namespace yuba::search
