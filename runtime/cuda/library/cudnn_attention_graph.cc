#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_attention_graph.h"

#include <limits>
#include <utility>

namespace yuba::cuda {
namespace {

constexpr int kRank = 4;
constexpr int kQueryAxis = 2, kKeyAxis = 3;  // of scores

cudnnDataType_t FloatType(ElementType type) {
  return type == ElementType::kF32   ? CUDNN_DATA_FLOAT
         : type == ElementType::kF16 ? CUDNN_DATA_HALF
                                     : CUDNN_DATA_BFLOAT16;
}

// Along a dimension of one element nothing is stepped: it has the stride that a dense tensor has.
CudnnTensor Shape(const std::array<int64_t, 4>& extents, const AttentionTensor& tensor) {
  CudnnTensor made;
  made.extents.assign(extents.begin(), extents.end());
  made.strides.assign(tensor.strides.begin(), tensor.strides.end());
  made.alignment = tensor.alignment;
  for (size_t d = kRank; d-- > 0;) {
    if (extents[d] > 1) continue;
    made.strides[d] = d + 1 == kRank ? 1 : made.strides[d + 1] * extents[d + 1];
  }
  return made;
}

CudnnTensor Transposed(CudnnTensor tensor) {
  std::swap(tensor.extents[2], tensor.extents[3]);
  std::swap(tensor.strides[2], tensor.strides[3]);
  return tensor;
}

class Builder {
 public:
  explicit Builder(const AttentionRoutine& routine)
      : routine_(routine),
        type_(FloatType(routine.type)),
        scores_{routine.batch, routine.heads, routine.queries, routine.keys},
        rows_{routine.batch, routine.heads, routine.queries, 1},
        // The orders of cuDNN's documentation: keys, and backward values, are what is multiplied
        // from the right, transposed.
        scale_(graph_.AddValue(routine.scale, kRank)) {
    made_.tensors.fill(-1);
    for (int t = 0; t < TensorsOf(routine); ++t) {
      const auto tensor = static_cast<AttentionOperand>(t);
      const bool transposed = t == kKey || (t == kValue && routine.backward);
      CudnnTensor shape = Shape(ExtentsOf(routine, tensor), routine.tensors[t]);
      if (transposed) shape = Transposed(std::move(shape));
      made_.tensors[t] = graph_.AddStored(std::move(shape), type_);
    }
    if (routine.bias.has_value()) made_.tensors[kAttentionBias] = AddBias(*routine.bias);
    if (routine.backward || routine.statistics) {
      made_.tensors[kStatistics] = AddRows();
    }
  }

  AttentionGraph Forward() {
    int scores = Masked(Biased(ScaledScores()));
    const int most = OfRows();
    graph_.Reduce(CUDNN_REDUCE_TENSOR_MAX, scores, most);
    const int terms =
        MapScores(CUDNN_POINTWISE_EXP, {MapScores(CUDNN_POINTWISE_SUB, {scores, most})});
    const int sums = OfRows(), logarithms = OfRows();
    graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, terms, sums);
    // Without these two operations the library does not find the graph, whether or not what they
    // compute is stored.
    graph_.Map(CUDNN_POINTWISE_LOG, {sums}, logarithms);
    const int kept = made_.tensors[kStatistics];
    graph_.Map(CUDNN_POINTWISE_ADD, {most, logarithms}, kept >= 0 ? kept : OfRows());
    const int weights = graph_.AddVirtual(scores_, type_);
    graph_.Map(CUDNN_POINTWISE_DIV, {terms, sums}, weights);
    graph_.Multiply(weights, made_.tensors[kValue], made_.tensors[kAttended]);
    return Finish();
  }

  AttentionGraph Backward() {
    const int row_sums = RowSums();
    // The weights again, of the statistics.
    const int shifted =
        MapScores(CUDNN_POINTWISE_SUB, {Biased(ScaledScores()), made_.tensors[kStatistics]});
    const int weights = MapScores(CUDNN_POINTWISE_EXP, {Masked(shifted)});
    MultiplyTurned(weights, made_.tensors[kAttendedGradient], kValueGradient);
    // The gradient of the scores: weights (do vᵀ - row_sums).
    const int products = graph_.AddVirtual(scores_);
    graph_.Multiply(made_.tensors[kAttendedGradient], made_.tensors[kValue], products);
    const int differences = MapScores(CUDNN_POINTWISE_SUB, {products, row_sums});
    const int gradients = MapScores(
        CUDNN_POINTWISE_MUL, {MapScores(CUDNN_POINTWISE_MUL, {differences, weights}), scale_});
    MultiplyTurned(gradients, made_.tensors[kQuery], kKeyGradient);
    const CudnnTensor turned = graph_.tensors()[made_.tensors[kKey]].shape;
    const int keys = graph_.AddVirtual(Transposed(turned), type_);
    graph_.View(made_.tensors[kKey], keys);
    // Into the result itself. The other form that the library knows adds up in an f32 tensor, with
    // less workspace and in any order: its engines have the same numbers and notes, none of which
    // says so. With this one it stores the gradients of all scores of the call, and multiplies them
    // by the keys afterwards.
    graph_.Multiply(gradients, keys, made_.tensors[kQueryGradient]);
    return Finish();
  }

 private:
  int AddRows() {
    return graph_.AddStored({rows_, {rows_[1] * rows_[2], rows_[2], 1, 1}, sizeof(float)},
                            CUDNN_DATA_FLOAT);
  }
  int AddBias(const AttentionBias& bias) {
    std::array<int64_t, 4> extents;
    for (int d = 0; d < kRank; ++d) extents[d] = bias.tensor.strides[d] == 0 ? 1 : scores_[d];
    return graph_.AddStored(Shape(extents, bias.tensor), FloatType(bias.type));
  }

  int OfRows() { return graph_.AddVirtual(rows_); }
  int MapScores(cudnnPointwiseMode_t map, std::vector<int> inputs) {
    const int result = graph_.AddVirtual(scores_);
    graph_.Map(map, std::move(inputs), result);
    return result;
  }

  int ScaledScores() {
    const int products = graph_.AddVirtual(scores_);
    graph_.Multiply(made_.tensors[kQuery], made_.tensors[kKey], products);
    return MapScores(CUDNN_POINTWISE_MUL, {products, scale_});
  }
  int Biased(int scores) {
    if (!routine_.bias.has_value()) return scores;
    return MapScores(CUDNN_POINTWISE_ADD, {scores, made_.tensors[kAttentionBias]});
  }
  int Masked(int scores) {
    if (!routine_.causal.has_value()) return scores;
    int row = graph_.AddVirtual(scores_, CUDNN_DATA_INT32);
    const int column = graph_.AddVirtual(scores_, CUDNN_DATA_INT32);
    graph_.Index(scores, kQueryAxis, row);
    graph_.Index(scores, kKeyAxis, column);
    if (routine_.causal->offset != 0) {
      const int last = graph_.AddVirtual(scores_, CUDNN_DATA_INT32);
      const int offset = graph_.AddWhole(static_cast<int32_t>(routine_.causal->offset), kRank);
      graph_.Map(CUDNN_POINTWISE_ADD, {row, offset}, last, CUDNN_DATA_INT32);
      row = last;
    }
    const int seen = graph_.AddVirtual(scores_, CUDNN_DATA_BOOLEAN);
    graph_.Map(CUDNN_POINTWISE_CMP_GE, {row, column}, seen, CUDNN_DATA_BOOLEAN);
    const int masked = graph_.AddVirtual(scores_);
    const int hidden = graph_.AddValue(-std::numeric_limits<float>::infinity(), kRank);
    graph_.Select(scores, hidden, seen, masked);
    return masked;
  }

  // Σ do o of each row, which is the row's Σ weights (do vᵀ).
  int RowSums() {
    const CudnnTensor& shape = graph_.tensors()[made_.tensors[kAttended]].shape;
    const int products = graph_.AddVirtual(shape.extents);
    graph_.Map(CUDNN_POINTWISE_MUL, {made_.tensors[kAttendedGradient], made_.tensors[kAttended]},
               products);
    const int sums = OfRows();
    graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
    // The library wants this factor, which is for dropout, and its result stored.
    made_.row_sums = AddRows();
    graph_.Map(CUDNN_POINTWISE_MUL, {sums, graph_.AddValue(1, kRank)}, made_.row_sums);
    return made_.row_sums;
  }

  // result = scoresᵀ right, added up over the heads that share keys.
  void MultiplyTurned(int scores, int right, AttentionOperand result) {
    const int64_t keys = routine_.keys, queries = routine_.queries, heads = routine_.heads;
    const int turned = graph_.AddVirtual({{routine_.batch, heads, keys, queries},
                                          {heads * queries * keys, queries * keys, 1, keys},
                                          routine_.tensors[result].alignment},
                                         type_);
    graph_.View(scores, turned);
    if (heads == routine_.key_heads) {
      graph_.Multiply(turned, right, made_.tensors[result]);
      return;
    }
    std::vector<int64_t> extents = graph_.tensors()[made_.tensors[result]].shape.extents;
    extents[1] = heads;
    const int shares = graph_.AddVirtual(std::move(extents), type_);
    graph_.Multiply(turned, right, shares);
    graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, shares, made_.tensors[result]);
  }

  AttentionGraph Finish() {
    made_.operations = std::move(graph_);
    return std::move(made_);
  }

  const AttentionRoutine& routine_;
  AttentionGraph made_;
  OperationGraph graph_;
  const cudnnDataType_t type_;
  const std::vector<int64_t> scores_, rows_;  // extents
  const int scale_;
};

}  // namespace

AttentionGraph GraphOf(const AttentionRoutine& part) {
  Builder builder(part);
  return part.backward ? builder.Backward() : builder.Forward();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
