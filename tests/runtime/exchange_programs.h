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

// Exchanges of the forms that a library's collectives have, on a mesh of `outer` times `inner`
// devices: those of one inner row are a group. Buffer 0, "made", has values before and keeps them.
// Boxes are of random extents, cut along random dimensions, so that parts may be of different
// sizes, and lie scattered in memory.
enum class Collected {
  kGather,        // parts of a group are brought to all of it
  kScatter,       // partials of all of it are combined, each device getting a part of the result
  kReduce,        // the same, and then all of it gets all parts, in place
  kReduceScalar,  // of one element, which one device combines
};
struct CollectiveForm {
  int outer = 1, inner = 2;
  bool hash = false;
  program::Reducer reducer = program::SUM;
  program::ElementType type = program::F32;
  program::ElementType result = program::F32;  // not of kGather
  bool even = false;                           // all parts have one size, and lie side by side
};
std::shared_ptr<const LoadedProgram> RandomCollective(Random& random, Collected collected,
                                                      const CollectiveForm& form);

// Two combinations of what buffer 0 has, into different buffers, then a gather of each: with
// `joined` each two of them begin together. On `devices` devices, in parts of one size.
std::shared_ptr<const LoadedProgram> TwoByTwo(int devices, bool joined);

// Three times: each of 4 devices gathers the whole x[7, 5], and x becomes the sum of the four. An
// early or late copy of any element shows in the result, which is 64 x. In recognised collectives.
std::shared_ptr<const LoadedProgram> ExchangeChain(program::ElementType type = program::F32);

// 0.25, 1.25, ... in the shape of the chain's x.
TensorData Ramp();

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_EXCHANGE_PROGRAMS_H_
