// Ranks of packs: how many dimensions each pack of a signature stands for, from the ranks of
// operands.
#ifndef YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_
#define YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/extents.h"

namespace yuba {

using Extents = std::map<std::string, Extent>;

// Names of an element of a dimension, in order.
template <typename Visit>
void ForEachName(const Dim& dim, const Visit& visit) {
  const Syntax& element = dim.element();
  if (element.kind == Syntax::kName) visit(element);
  for (const SyntaxPtr& factor : element.args) {
    if (factor->kind == Syntax::kName) visit(*factor);
  }
}

void Resize(Extent& extent, int rank);

// The dimensions that `dim` stands for: 1 where it is no pack, -1 where that is not known yet.
int RankOf(const Extents& extents, const Dim& dim);

// Gives every pack in `extents`, which has an entry for each name of a dimension, its rank. Errors
// underline the operand or dimension in the description.
absl::Status SolveRanks(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        Extents& extents);

// "operand 'x' (f32[2, 3])"
std::string OperandText(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        size_t operand);

// That the operand has more or fewer dimensions than are written.
absl::Status RankError(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                       size_t operand);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_
