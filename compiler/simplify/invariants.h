// What never changes is computed once: nodes and terms that read constants and parameters alone
// move to an entry of their own, `init`, which runs before any other. Their results are states that
// nothing else writes.
//
// Example: batch norm is the map y[n, c, h, w] = (x[n, c, h, w] - m[c]) * rsqrt(v[c] + eps) * s[c].
// `init` gets r[c] = rsqrt(v[c] + eps), and the map reads r[c]: one square root a channel and not
// one an element, and one in all runs.
#ifndef YUBA_COMPILER_SIMPLIFY_INVARIANTS_H_
#define YUBA_COMPILER_SIMPLIFY_INVARIANTS_H_

#include "compiler/model.h"

namespace yuba::compiler {

constexpr char kInitEntry[] = "init";  // as in runtime/program/entries.h

// Adds the entry `init` in front of the others, where something moves to it; else it changes
// nothing. To be called on a graph in canonical order whose states are carried. Moved are
// - each node that reads nothing but what never changes: parameters and constants that no node
//   writes, and what has moved;
// - of other nodes, terms that do so, call a function that takes time (a root, a quotient, a sine,
//   ...), depend on fewer points than the node has, and have few elements: at most kMostHoisted, or
//   as many as something that they read. Terms of 16 bits stay: they are computed in 32 there.
void MoveInvariantsToInit(Model& model);

constexpr int64_t kMostHoisted = 1 << 16;

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_INVARIANTS_H_
