#include "compiler/spmd/functions.h"

#include "absl/strings/str_cat.h"

namespace yuba::compiler {
namespace {

// Which operands lie where results are written: "0>1 " where operand 0 lies where result 1 does.
std::string InPlace(const program::Kernel& kernel) {
  std::string text;
  for (int o = 0; o < kernel.operands_size(); ++o) {
    for (int r = 0; r < kernel.results_size(); ++r) {
      if (kernel.operands(o).buffer() == kernel.results(r).buffer())
        absl::StrAppend(&text, o, ">", r, " ");
    }
  }
  return text;
}

}  // namespace

int FunctionTable::NumberOf(const program::Function& function, std::vector<Definition> definitions,
                            const program::Kernel& kernel, program::Program& program) {
  std::string text = function.SerializeAsString();
  if (definitions.size() > 1) absl::StrAppend(&text, InPlace(kernel));
  std::vector<std::pair<std::vector<Definition>, int>>& same_text = known_[text];
  for (const auto& [known, number] : same_text) {
    if (known == definitions) return number;
  }
  *program.add_functions() = function;
  same_text.emplace_back(std::move(definitions), program.functions_size() - 1);
  return program.functions_size() - 1;
}

}  // namespace yuba::compiler
