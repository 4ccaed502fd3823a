// Small random graphs with states, carried (compiler/simplify/simplify.h) and before that, and the
// steps of the latter, in which next values are handed over by hand: the oracle of what is carried.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_CARRIED_GRAPHS_H_
#define YUBA_TESTS_COMPILER_SUPPORT_CARRIED_GRAPHS_H_

#include <vector>

#include "compiler/simplify/simplify.h"
#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {

struct CarriedModel {
  Model before;                    // states are stored, next values are outputs, nothing is carried
  std::vector<CarriedPair> pairs;  // tensors of `before`
  Model model;                     // the same, carried
};

// A model as ModelBuilder::Finish leaves it, and the same with these pairs carried. Their states
// become kState where they were inputs.
CarriedModel Carried(Model before, std::vector<CarriedPair> pairs);

// One to three states and a few nodes, of which some are next values: in place, by halo, of each
// other, read afterwards or not read at all.
CarriedModel RandomCarried(Random& random);

// [step][output]: the outputs of so many steps of `before` in hash arithmetic. `values` is by
// tensor of `before`, for the first step.
std::vector<std::vector<TensorValue>> StepsByHand(const CarriedModel& carried,
                                                  std::vector<TensorValue> values, int steps);

// `values`, which are by tensor of `before`, by tensor of `model`. Tensors keep their names.
std::vector<TensorValue> ValuesOfModel(const CarriedModel& carried,
                                       const std::vector<TensorValue>& values);

// Whether both have the same elements, by hash.
bool SameElements(const std::vector<TensorValue>& a, const std::vector<TensorValue>& b);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_CARRIED_GRAPHS_H_
