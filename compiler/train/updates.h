// The updates of a training step. An optimizer is a description like any other
// (opsemantics/operators/training.tdl), found by its name:
// - its first operand, a `state`, is what is trained; its second is the gradient of that,
// - a plain operand without dimensions is a number that all updates share, such as the learning
//   rate: a parameter of the model of that name, which may be set between steps,
// - further `state` operands begin as zeros: those without dimensions (a count of steps) are shared
//   by all updates, of others each update has its own.
//
// Example: op momentum(state w[s..], g[s..], lr[], state v[s..]; momentum = 0.9) -> w'[s..],
// v'[s..]
#ifndef YUBA_COMPILER_TRAIN_UPDATES_H_
#define YUBA_COMPILER_TRAIN_UPDATES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/elaborate/elaborate.h"

namespace yuba::compiler {

struct Optimizer {
  OpDescription description;
  Attributes attributes;
  std::map<std::string, double> numbers;  // values of the shared numbers before the first step
};

// What a caller carries once the graph has its order (CarryStates of simplify.h): a stored tensor
// and the output that is its next value, by name.
struct UpdatedState {
  std::string state, next;
};

// Whether the description can be an optimizer; else the user's error says what it lacks.
absl::Status CheckOptimizer(const OpDescription& description);

// Adds the nodes that update `trained`, given their gradients, which are parallel. The next values
// are outputs. Where the scalar `weight` is 0 all of them are what the states are (-1: nothing is
// looked at). The user's error where a number of the optimizer has no value or an update does not
// elaborate.
absl::StatusOr<std::vector<UpdatedState>> AddUpdates(Model& model, const Optimizer& optimizer,
                                                     const std::vector<TensorId>& trained,
                                                     const std::vector<TensorId>& gradients,
                                                     TensorId weight = -1);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_UPDATES_H_
