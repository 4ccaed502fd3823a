#include "compiler/import/factors/batch.h"

#include "opsemantics/base/status.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::onnx {
namespace {

class BatchFollower {
 public:
  explicit BatchFollower(const Graph& graph) : graph_(graph) {
    for (const Tensor& tensor : graph.tensors) batch_.emplace_back(tensor.type.dims.size(), false);
  }

  void MarkInput(TensorId input) {
    const std::vector<std::vector<int64_t>>& dims = graph_.tensors[input].dims;
    for (size_t d = 0; !dims.empty() && d < dims[0].size(); ++d) batch_[input][d] = true;
  }

  absl::Status Follow() {
    for (const Node& node : graph_.nodes) YUBA_RETURN_IF_ERROR(FollowNode(node));
    return absl::OkStatus();
  }

 private:
  absl::Status FollowNode(const Node& node) {
    const Definition& definition = *node.definition;
    const std::vector<Interval> ranges = WholeRanges(definition);
    std::vector<bool> carries(definition.indices.size(), false);
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const std::vector<bool>& batch = batch_[node.operands[k]];
      std::vector<Interval> read(batch.size());
      VisitReads(definition, static_cast<int>(k), [&](const Expr& expr) {
        for (size_t d = 0; d < batch.size(); ++d) {
          if (!batch[d]) continue;
          read[d] = Hull(read[d], Range(expr.position[d], ranges));
          if (expr.position[d].BareIndex() >= 0) carries[expr.position[d].BareIndex()] = true;
        }
      });
      for (size_t d = 0; d < batch.size(); ++d) {
        const Interval all{0, definition.operands[k].dims[d]};
        if (batch[d] && !read[d].Contains(all))
          return UserError(
              "node '", node.from, "' (", node.op, ") reads only elements ", ToString(read[d]),
              " of the ", all.end,
              " along the batch: --batch or --micro-batches cannot change it in this graph");
      }
    }
    for (size_t d = 0; d < definition.left.size(); ++d) {
      const int index = definition.left[d].BareIndex();
      if (index >= 0 && carries[index]) batch_[node.result][d] = true;
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  std::vector<std::vector<bool>>
      batch_;  // [tensor][flat dimension]: whether it runs along the batch
};

}  // namespace

absl::Status CheckBatch(const Graph& graph, const std::vector<TensorId>& inputs) {
  BatchFollower follower(graph);
  for (const TensorId input : inputs) follower.MarkInput(input);
  return follower.Follow();
}

}  // namespace yuba::onnx
