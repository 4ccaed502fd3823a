// Tables that exporters of before store as they store parameters: positions as sines, and the
// frequencies of rotary embeddings. Files do not tell them apart, so people are told of them.
#ifndef YUBA_COMPILER_TRAIN_TABLES_H_
#define YUBA_COMPILER_TRAIN_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

// How many elements of a tensor of that shape, its first, LooksLikeTable wants to see; 0: it is no
// table, whatever they are.
int64_t ElementsToSee(const std::vector<int64_t>& dims);

// Whether the tensor looks like such a table:
// - [positions, n], besides dimensions of 1: column i is sin or cos of p*w_i, for the positions p
//   from 0 on.
// - [n]: powers 1, r, r*r, ... of one number below 1.
bool LooksLikeTable(const std::vector<int64_t>& dims, const std::vector<Scalar>& elements);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_TABLES_H_
