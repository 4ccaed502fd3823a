#include "runtime/program/opaque_on_gpus.h"

#include "absl/strings/str_cat.h"

namespace yuba::runtime {
namespace {

struct Row {
  const char* function;
  std::string (*why_not)(const OpaqueSignature& signature);
};

std::string WhyNotSorted(const OpaqueSignature& signature) {
  const int64_t length = signature.arguments[0].extents[0];
  if (length <= kMostSortedOnGpus) return "";
  return absl::StrCat("on GPUs it sorts rows of at most ", kMostSortedOnGpus, " elements, not ",
                      length);
}

constexpr Row kRows[] = {
    {"argsort", WhyNotSorted},
};

}  // namespace

std::string WhyNotOnGpus(absl::string_view function, const OpaqueSignature& signature) {
  for (const Row& row : kRows) {
    if (function == row.function) return row.why_not(signature);
  }
  return "it runs on processors only";
}

std::vector<const char*> OpaqueFunctionsOnGpus() {
  std::vector<const char*> names;
  for (const Row& row : kRows) names.push_back(row.function);
  return names;
}

}  // namespace yuba::runtime
