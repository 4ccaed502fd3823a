// What an element of a tensor is, as an expression over elements of others: the maps between them
// put into each other, casts between types of floats left out. Nodes that compute the same of the
// same tensor have the same expression, however many maps stand between and in whatever order their
// indices and dimensions are.
//
// All expressions speak of the dimensions of one tensor, the origin. Example: s[i, j] is the
// origin, a[i, j] = s[i, j] / 8 and y[j, i] = exp(a[i, j]). Element of y: exp(s[0, 1] / 8), where 0
// and 1 are the dimensions of s.
#ifndef YUBA_COMPILER_ATTENTION_ELEMENTS_H_
#define YUBA_COMPILER_ATTENTION_ELEMENTS_H_

#include <map>
#include <set>
#include <vector>

#include "compiler/attention/known_masks.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::compiler {

class Elements {
 public:
  // The graph must be linked; it and `masks`, of its model, outlive this. Dimensions of what
  // depends on the origin are known from the start (LearnReaders).
  Elements(const Graph& graph, KnownMasks& masks, TensorId origin);

  // Of each flat dimension of the tensor the dimension of the origin along which it runs, or -1.
  // Null where that is not known, or none does.
  const std::vector<int>* DimsOf(TensorId tensor) const;

  // [index of the node's definition]: the dimension of the origin, or -1, by the tensors of known
  // dimensions that it reads at bare indices.
  std::vector<int> IndicesOf(NodeId node) const;

  // Knows the dimensions of `tensor`, an operand or the result of the node, from then on.
  void Learn(NodeId node, TensorId tensor);

  // Knows the dimensions of what is computed of the node's result, by at most 256 nodes of its
  // entry, where all of their indices run along dimensions of the origin.
  void LearnReaders(NodeId node);

  // Whether all dimensions of the tensor are known and ones of the origin.
  bool IsKnown(TensorId tensor) const;

  // The body of the node. Operand k of its reads is tensor k of the graph, or a copy of it; index d
  // is dimension d of the origin. Of what it reads, maps of known dimensions are written out;
  // results of other nodes and `leaves` are read. Null where an index runs along no dimension, or
  // it has more than 64 distinct terms. Equal ones of one object are one node.
  ExprPtr Of(NodeId node, const std::set<TensorId>& leaves = {});

 private:
  class Writer;
  const Graph& graph_;
  KnownMasks& masks_;
  std::map<TensorId, std::vector<int>> dims_;
  SharedTerms terms_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_ELEMENTS_H_
