// Ranks of packs: how many dimensions each pack of a signature stands for, from the ranks of the
// operands. The first step of extents.h, with the few functions on dimensions that both need.
//
// Example: x[b, c, h..] of rank 5 gives h.. the rank 3; x[p.., q..] alone settles neither, so one
// of them must be given as an attribute.
#ifndef YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_
#define YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/instance.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// An extent, or a pack of extents, as far as it is solved.
struct Extent {
  bool pack = false;
  bool attribute = false;                         // whether it is also declared as an attribute
  int rank = 1;                                   // of a pack; -1: not solved yet
  std::vector<absl::optional<int64_t>> elements;  // `rank` of them; nullopt: not solved yet
  std::vector<std::string> from;                  // [element]: what settled it, for messages
};

using Extents = std::map<std::string, Extent>;  // by name

// Calls `visit` for each name in a dimension, in order: the name, or those of its factors.
template <typename Visit>
void ForEachName(const Dim& dim, const Visit& visit) {
  const Syntax& element = dim.element();
  if (element.kind == Syntax::kName) visit(element);
  for (const SyntaxPtr& factor : element.args) {
    if (factor->kind == Syntax::kName) visit(*factor);
  }
}

void Resize(Extent& extent, int rank);  // sets the rank; new elements are not solved yet

// How many dimensions `dim` stands for: 1 where it is no pack, -1 where that is not solved yet.
int RankOf(const Extents& extents, const Dim& dim);

// Gives every pack in `extents` its rank; `extents` has an entry for each name of a dimension. A
// rank that does not fit, or cannot be told, is a user's error and underlines the operand or
// dimension.
absl::Status SolveRanks(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        Extents& extents);

std::string ShapeText(const Shape& shape);  // "f32[2, 3]"

// "operand 'x' (f32[2, 3])"
std::string OperandText(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                        size_t operand);

// The error that an operand has more or fewer dimensions than the description.
absl::Status RankError(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
                       size_t operand);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_PACK_RANKS_H_
