// Which dimensions of a graph are one and the same, followed through all its definitions, and what
// nodes do along them other than to treat each element by itself.
//
// Example: in y[b, t] = sum(k) x[b, t, k] * w[k], then z[b] = sum(t) y[b, t], dimension 0 of x, y
// and z is one dimension, along which no node does anything; along dimension 1 of x and y, one too,
// the second node adds up. Factors are dimensions of their own; those of extent 1 are followed
// nowhere.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_DIM_FLOWS_H_
#define YUBA_COMPILER_IMPORT_FACTORS_DIM_FLOWS_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::onnx {

// What a node does along a dimension.
struct AlongDim {
  NodeId node = -1;       // -1: none does anything
  const char* does = "";  // for a message: "adds up along"
};

class DimFlows {
 public:
  // `followed` says which nodes are followed, `free` along which of these anything may be done.
  DimFlows(const Graph& graph, const std::vector<bool>& followed, const std::vector<bool>& free);

  // The number of the one dimension that this flat dimension of a tensor is; -1 for extent 1.
  int Of(TensorId tensor, int flat) const;
  // The first node that does something along it; with `reads_part`, the first that reads or writes
  // only some elements of it, so that it would do something else at another extent.
  const AlongDim& First(int dim, bool reads_part = false) const;
  // The first node along it that is free to do anything, and does.
  NodeId FirstFree(int dim) const;

 private:
  void Join(int a, int b);
  int Root(int variable) const;
  void Follow(NodeId id);
  void FollowRead(NodeId id, int operand, const Expr& read);
  void FollowIndices(NodeId id, const ExprPtr& expr);
  void Note(NodeId id, int variable, const char* does, bool part);
  void NoteTerms(NodeId id, const Affine& affine, const char* does);
  void NotePairs(NodeId id);

  const Graph& graph_;
  std::vector<bool> free_;
  std::vector<int> first_;        // [tensor]: the variable of its first flat dimension
  std::vector<int> first_index_;  // [node]: of its first index
  mutable std::vector<int> parent_;
  std::vector<AlongDim> does_, part_;  // [variable that is a root]
  std::vector<NodeId> free_node_;
  struct Noted {
    int variable;
    AlongDim what;
    bool part;
  };
  std::vector<Noted> noted_;
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_DIM_FLOWS_H_
