// The vocabulary of a model: what the longest table counts in which numbers of its inputs look up
// rows.
//
// Example: in x[b, s, c] = pick(r: 50257 where r == ids[b, s]) wte[r, c] the vocabulary is 50257
// long and index r runs along it, as does index v of the logits y[b, s, v]. A table of positions,
// whose rows a constant names, is none.
#ifndef YUBA_SEARCH_BASELINES_VOCABULARY_H_
#define YUBA_SEARCH_BASELINES_VOCABULARY_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// The extent of the vocabulary; 0 where the graph has none. `weights`: [TensorId], those of
// WeightTensors (search/plan/weights.h).
int64_t VocabularyOf(const Graph& graph, const std::vector<bool>& weights);

// [index]: whether it runs along a vocabulary of that extent and data says where on it: the rows of
// the table that are read or written, or the logit of a label.
std::vector<bool> VocabularyIndices(const Definition& definition, int64_t vocabulary);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_VOCABULARY_H_
