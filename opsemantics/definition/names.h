// The names of a graph's tensors and nodes, for whoever adds some: names stand for them in files
// and messages, so what is made has a name that nothing else has, whatever a model calls its own.
//
// Example: beside a tensor of the model that is called grad(w), the gradient of w is grad(w).2.
#ifndef YUBA_OPSEMANTICS_DEFINITION_NAMES_H_
#define YUBA_OPSEMANTICS_DEFINITION_NAMES_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "opsemantics/definition/graph.h"

namespace yuba {

class GraphNames {
 public:
  explicit GraphNames(const Graph& graph);

  // `wanted`, or with a number behind it where that is taken. What is returned is taken from now
  // on.
  std::string Fresh(const std::string& wanted);

 private:
  absl::flat_hash_set<std::string> taken_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_NAMES_H_
