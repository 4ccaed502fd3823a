// What training would change of a model: which of its parameters are weights, and which are tables,
// masks and statistics. Whoever gives a model weights by name asks this too: a weight that is
// missing is a mistake, a table is not.
#ifndef YUBA_COMPILER_TRAIN_TRAINABLE_H_
#define YUBA_COMPILER_TRAIN_TRAINABLE_H_

#include <set>
#include <string>

#include "compiler/model.h"

namespace yuba::compiler {

// Whether a step of the model itself gives the parameter another value.
bool IsStateOfModel(const Model& model, TensorId parameter);

// Why no training changes the parameter of floats: "a mask of 0 and -inf"; empty where training
// changes it, unless the user freezes it. Reads values that may be those of masks, of at most 2^22
// elements.
std::string WhyNotTrainable(const Model& model, TensorId parameter);

// The names of the parameters that training would change, frozen ones among them. Of a training
// step they are model.trainable; of other models they are found here.
std::set<std::string> TrainableParameters(const Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_TRAINABLE_H_
