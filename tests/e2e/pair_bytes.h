// What devices receive from each other by the exchanges of a program: counted element by element
// from their boxes, by what opsemantics/base/transfers.h calls a gather and a reduce. The runtime's
// plans of exchanges, and their counts, have no part in it.
#ifndef YUBA_TESTS_E2E_PAIR_BYTES_H_
#define YUBA_TESTS_E2E_PAIR_BYTES_H_

#include <cstdint>
#include <vector>

#include "runtime/program/program.h"

namespace yuba {

using PairBytes = std::vector<std::vector<int64_t>>;  // [from][to]

// Of all instructions of the program, each run once.
PairBytes PairBytesOf(const runtime::LoadedProgram& program);

}  // namespace yuba

#endif  // YUBA_TESTS_E2E_PAIR_BYTES_H_
