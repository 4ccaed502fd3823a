#include "runtime/program/code_numbers.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/element_type.h"
#include "runtime/program/enums.h"

namespace yuba::program {
namespace {

bool IsOneElement(const CodeNumber& number) {
  if (!ElementType_IsValid(number.type())) return false;
  const auto size = ByteSize(FromProto(static_cast<ElementType>(number.type())));
  return static_cast<int64_t>(number.data().size()) == size &&
         std::all_of(number.shape().begin(), number.shape().end(),
                     [](int64_t dim) { return dim == 1; });
}

}  // namespace

// Program keeps fields that it does not know, as this one, wherever it is copied, written and read.
void AddCodeNumbers(const CodeNumbers& numbers, Program& program) {
  YUBA_CHECK(program.MergeFromString(numbers.SerializeAsString()));
}

CodeNumbers CodeNumbersOf(const Program& program) {
  std::string bytes;
  CodeNumbers numbers;
  const auto& unknown = program.GetReflection()->GetUnknownFields(program);
  if (!unknown.SerializeToString(&bytes) || !numbers.ParseFromString(bytes)) return {};
  const auto& all = numbers.numbers();
  return std::all_of(all.begin(), all.end(), IsOneElement) ? numbers : CodeNumbers();
}

}  // namespace yuba::program
