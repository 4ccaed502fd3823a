#include "opsemantics/opaque/opaque_function.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/opaque/argsort.h"

namespace yuba {
namespace {

constexpr OpaqueFunction kFunctions[] = {
    {"argsort", WhyNotArgsort, Argsort},
};

}  // namespace

absl::Span<const OpaqueFunction> OpaqueFunctions() { return kFunctions; }

const OpaqueFunction* FindOpaqueFunction(absl::string_view name) {
  for (const OpaqueFunction& function : kFunctions) {
    if (name == function.name) return &function;
  }
  return nullptr;
}

std::string NoOpaqueFunction(absl::string_view name) {
  return absl::StrCat(
      "no opaque function is called '", name, "'; there are: ",
      absl::StrJoin(OpaqueFunctions(), ", ", [](std::string* out, const OpaqueFunction& function) {
        out->append(function.name);
      }));
}

}  // namespace yuba
