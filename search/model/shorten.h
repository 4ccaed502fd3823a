// The problem of grids with most repeated blocks left out, and what its messages say about the
// whole.
//
// Equal blocks have equal tables, and far from the ends of a chain the messages of a dual become
// equal from block to block. So the dual is solved on the first few blocks and the last few, joined
// where the others were; each use of a block that was left out begins with the messages of its like
// in the last block before the gap. Whatever they are, the bound that the whole graph has with
// them is a true one (search/THEORY.md): this decides how soon it is a good one.
//
// Example: of 32 blocks of a transformer, 2 on either side stay. Block 30, which reads what block
// 29 made, reads in the short problem what block 1 makes.
#ifndef YUBA_SEARCH_MODEL_SHORTEN_H_
#define YUBA_SEARCH_MODEL_SHORTEN_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/model/grid_problem.h"
#include "search/solve/dual.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct ShortProblem {
  PairwiseProblem pairwise;
  std::vector<int> elements;  // [variable]: the element that it is, ascending
  std::vector<int> like;      // [factor of the whole]: the factor whose messages it begins with
  std::vector<int> stand_in;  // [element]: the variable that stands for it
};

// Nothing where too little repeats: a quarter of the variables at least must go. `problem` is
// complete. `uses` are those that it was built of, in their order.
absl::optional<ShortProblem> Shortened(const Graph& graph, const std::vector<TensorUse>& uses,
                                       const GridProblem& problem);

// The messages of all factors of the whole.
MessageState Tiled(const ShortProblem& problem, const MessageState& messages);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_SHORTEN_H_
