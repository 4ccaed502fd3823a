// The least costs of uses at prices on the grids of their tensors: the inner loops of the replay of
// dual proofs.
#ifndef YUBA_SEARCH_CHECK_USE_MINIMA_H_
#define YUBA_SEARCH_CHECK_USE_MINIMA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "search/check/minimum.h"
#include "search/check/use_table.h"
#include "search/plan/memory_price.h"

namespace yuba::search {

// The costs of one node's uses of one tensor: two where it reads the tensor whose next value it
// computes, else one.
using UsesOfPair = std::vector<std::shared_ptr<const UseTable>>;
// More costs, in units, [node grid][tensor grid].
using AddedCosts = std::vector<CheckTable::Cells>;

// For each node grid: adds to *sum the least, over the grids of the tensor, of the uses' costs in
// units, and of those added, less the tensor's price.
void AddLeast(const UsesOfPair& uses, PriceScale scale, const std::vector<int64_t>& prices,
              const AddedCosts& added, std::vector<int64_t>* sum);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_USE_MINIMA_H_
