// The programs of the bundled models, for predictions.
#ifndef YUBA_TESTS_RUNTIME_MODEL_COMPILED_MODEL_H_
#define YUBA_TESTS_RUNTIME_MODEL_COMPILED_MODEL_H_

#include <memory>
#include <string>

#include "runtime/program/program.h"

namespace yuba::runtime {

// Of tests/models/NAME by the default search, without code, for a target of the compiler. With
// `any_target` it does not say for which machines it was compiled.
std::shared_ptr<const LoadedProgram> CompiledModel(const std::string& name, int devices,
                                                   bool any_target = true,
                                                   const std::string& target = "host");

// The same of a file of a model.
std::shared_ptr<const LoadedProgram> CompiledFile(const std::string& file, int devices,
                                                  bool any_target = true,
                                                  const std::string& target = "host");

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_MODEL_COMPILED_MODEL_H_
