// Cuts as text, read back: "[4/a, 128, (3 12/bc 64)]" of a tensor, "m/ab k/c" of a node.
#ifndef YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
#define YUBA_COMPILER_DUMP_SHARDING_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {

// The factors of each dimension, and the axes of each factor.
struct Sharding {
  std::vector<std::vector<int64_t>> dims;
  Cut cut;
};
absl::StatusOr<Sharding> ParseSharding(const Mesh& mesh, absl::string_view text);

std::string NodeCutText(const Mesh& mesh, const std::vector<Index>& indices, const Cut& cut);
absl::StatusOr<Cut> ParseNodeCut(const Mesh& mesh, const std::vector<Index>& indices,
                                 absl::string_view text);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_SHARDING_TEXT_H_
