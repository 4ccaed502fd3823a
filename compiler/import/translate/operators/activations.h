// The activations of recurrent networks, as the attributes `activations`, `activation_alpha` and
// `activation_beta` of LSTM, GRU and RNN name them.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ACTIVATIONS_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ACTIVATIONS_H_

#include <string>
#include <vector>

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

struct Activation {
  std::string name;  // in lower case
  double alpha = 0, beta = 0;
};

// The node's activations, `usual` where it names none: as many as there are in `usual` for each
// direction. Numbers are taken from the lists by those that have some, in their order; a mistake
// where there is none for one that has no default, or where a name is unknown.
std::vector<Activation> ActivationsOf(NodeContext& node, const std::vector<std::string>& usual,
                                      int64_t directions);

// The activation of each element of the value `x`: a value of its shape.
int Activated(NodeContext& node, const Activation& activation, int x);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ACTIVATIONS_H_
