// Programs of exchanges alone: random ones, with the boxes they were made of, and a chain in which
// the order of all copies shows.
#ifndef YUBA_TESTS_RUNTIME_EXCHANGE_PROGRAMS_H_
#define YUBA_TESTS_RUNTIME_EXCHANGE_PROGRAMS_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/values/tensor_data.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

using Random = std::mt19937;

// From `low` to `high`, both included.
int64_t Pick(Random& random, int64_t low, int64_t high);
// Of any size, with a sign.
float AnyFloat(Random& random);

// An exchange of buffer 0, which has values before, into buffer 1, both f32.
struct GatherProgram {
  std::shared_ptr<const LoadedProgram> program;
  std::vector<Box> has, reads;  // [device]
};
// Any boxes of a tensor, gathered into others, on `least` to 6 devices.
GatherProgram RandomGather(Random& random, int least);

struct SumProgram {
  std::shared_ptr<const LoadedProgram> program;
  int owners = 1;  // of boxes cut along dimension 0; the first devices
  int partials = 2;
  std::vector<Box> writes, own;  // [device]
  std::vector<int64_t> partial;  // [device] that it wrote
};
// Any boxes of 2 to 4 partials, summed up into the first owner of each box, on `least` to 6
// devices; `least` is at most 2.
SumProgram RandomSum(Random& random, int least);

// Three times: each of 4 devices gathers the whole x[7, 5], and x becomes the sum of the four. An
// early or late copy of any element shows in the result, which is 64 x. In recognised collectives.
std::shared_ptr<const LoadedProgram> ExchangeChain(program::ElementType type = program::F32);

// 0.25, 1.25, ... in the shape of the chain's x.
TensorData Ramp();

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_EXCHANGE_PROGRAMS_H_
