// The graph of operations that says to cuDNN what an attention computes. The library has no
// attention for masks before 9.21: it finds the graph among the few whose shape it knows and
// computes it as one routine, so that operations, their order and the types between them are to be
// as they are here.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_GRAPH_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_GRAPH_H_

#include <array>

#include "runtime/cuda/library/attention_routine.h"
#include "runtime/cuda/library/operation_graph.h"

namespace yuba::cuda {

struct AttentionGraph {
  OperationGraph operations;
  std::array<int, kAttentionOperands> tensors = {};  // their numbers; -1: not used
  int row_sums = -1;  // backward: f32 [batch, heads, queries], dense, that the graph is to be lent
};

// Of one part of a routine (PartsOf), which passes CheckAttention.
AttentionGraph GraphOf(const AttentionRoutine& part);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ATTENTION_GRAPH_H_
