// Masks that constants of the model decide, as conditions on indices: exporters write which keys a
// query sees as a table of bools, or compare ranges that are stored.
//
// Example: mask[2, 3] = {{1, 0, 0}, {1, 1, 0}} read at [i, j] is j <= i.
#ifndef YUBA_COMPILER_ATTENTION_KNOWN_MASKS_H_
#define YUBA_COMPILER_ATTENTION_KNOWN_MASKS_H_

#include <map>
#include <vector>

#include "compiler/model.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

class KnownMasks {
 public:
  // The model must outlive this.
  explicit KnownMasks(const Model& model) : model_(model) {}

  // The condition, a part of the node's definition, as b <= a + offset of two of its indices or as
  // the contrary. Null where constants of at most 4,194,304 elements do not decide it, or it is
  // another one. Each different condition is looked at once.
  ExprPtr Of(NodeId node, const ExprPtr& condition);

 private:
  const Model& model_;
  std::map<std::vector<int64_t>, ExprPtr> known_;  // by what is computed of which tensors
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_KNOWN_MASKS_H_
