// Nodes behind the last entry's: uses of descriptions that are one definition, and definitions that
// C++ makes.
#ifndef YUBA_COMPILER_TRAIN_ADDED_NODES_H_
#define YUBA_COMPILER_TRAIN_ADDED_NODES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/language/library.h"

namespace yuba::compiler {

// A built-in description, which every library has.
const OpDescription& OwnDescription(const char* name, const OperatorLibrary& library);

class AddedNodes {
 public:
  // Nodes go into the last entry that the graph has now. The graph must be linked behind them.
  explicit AddedNodes(Model& model);

  // The one result of a description that one definition computes; `name` is that of the node and of
  // the result. The user's error where the description does not elaborate or is several
  // definitions.
  absl::StatusOr<TensorId> Use(const OpDescription& op, const Attributes& attributes,
                               const std::vector<TensorId>& operands, const std::string& name);

  // Where the name is taken the result gets one that is like it (GraphNames). A result that has the
  // extents of `like` has its dimensions too.
  TensorId Add(const std::string& op, const std::string& from, Definition definition,
               std::vector<TensorId> operands, const std::string& name, TensorId like);

 private:
  Graph& graph_;
  GraphNames names_;
  int instance_ = 0;
  int entry_ = 0;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_ADDED_NODES_H_
