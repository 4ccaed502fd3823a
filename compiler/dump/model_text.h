// What a model is besides its graph, as text (README.md).
#ifndef YUBA_COMPILER_DUMP_MODEL_TEXT_H_
#define YUBA_COMPILER_DUMP_MODEL_TEXT_H_

#include <string>

#include "compiler/model.h"

namespace yuba::compiler {

// A line `model "FILE"`, then a line for each thing that is known of it. Lists that are empty and
// texts that say nothing have no line.
std::string ModelText(const Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_MODEL_TEXT_H_
