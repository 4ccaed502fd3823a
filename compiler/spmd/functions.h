// The functions of a program while it is made: kernels that compute the same call the same one.
#ifndef YUBA_COMPILER_SPMD_FUNCTIONS_H_
#define YUBA_COMPILER_SPMD_FUNCTIONS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

class FunctionTable {
 public:
  // The number in program.functions of the function, which is added where it is new. `definitions`
  // are the function's, `kernel` the one that calls it: of a function of several definitions the
  // code depends on which results lie in which operands' buffers, so kernels that differ in that
  // have functions of their own.
  int NumberOf(const program::Function& function, std::vector<Definition> definitions,
               const program::Kernel& kernel, program::Program& program);

 private:
  // The function as text -> the definitions of those that read so, each with its number.
  std::map<std::string, std::vector<std::pair<std::vector<Definition>, int>>> known_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_FUNCTIONS_H_
