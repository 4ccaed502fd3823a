#include "tests/runtime/exchange_programs.h"

#include <algorithm>
#include <cmath>

#include "opsemantics/base/collectives.h"
#include "tests/runtime/program_builder.h"

namespace yuba::runtime {
namespace {

std::vector<int64_t> RandomDims(Random& random) {
  std::vector<int64_t> dims(Pick(random, 1, 3));
  for (int64_t& dim : dims) dim = Pick(random, 1, 6);
  return dims;
}

Box RandomBox(Random& random, const std::vector<int64_t>& dims) {
  Box box;
  for (int64_t dim : dims) {
    const int64_t a = Pick(random, 0, dim), b = Pick(random, 0, dim);
    box.push_back({std::min(a, b), std::max(a, b)});
  }
  return box;
}

}  // namespace

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

float AnyFloat(Random& random) {
  const float digits = static_cast<float>(Pick(random, -999, 999));
  return std::ldexp(digits, static_cast<int>(Pick(random, -20, 20)));
}

GatherProgram RandomGather(Random& random, int least) {
  GatherProgram made;
  const int devices = static_cast<int>(Pick(random, least, 6));
  const std::vector<int64_t> dims = RandomDims(random);
  for (int d = 0; d < devices; ++d) {
    made.has.push_back(RandomBox(random, dims));
    made.reads.push_back(RandomBox(random, dims));
  }
  ProgramBuilder builder({devices});
  const int source = builder.AddBuffer("x", program::F32, dims, made.has);
  const int destination = builder.AddBuffer("fetched", program::F32, dims, made.reads);
  builder.AddExchange(source, destination);
  builder.message().mutable_buffers(source)->set_initialized(true);
  made.program = builder.Load();
  return made;
}

SumProgram RandomSum(Random& random, int least) {
  SumProgram made;
  made.owners = static_cast<int>(Pick(random, 1, 3));
  // Where there are twice as many devices, two own each box.
  const int devices = made.owners * static_cast<int>(Pick(random, made.owners < least ? 2 : 1, 2));
  made.partials = static_cast<int>(Pick(random, 2, 4));
  const std::vector<int64_t> dims = RandomDims(random);
  for (int d = 0; d < devices; ++d) {
    made.writes.push_back(RandomBox(random, dims));
    made.own.push_back(WholeBox(dims));
    made.own.back()[0] = PartOf(dims[0], made.owners, d % made.owners);
    made.partial.push_back(Pick(random, 0, made.partials - 1));
  }
  ProgramBuilder builder({devices});
  const int source = builder.AddBuffer("made", program::F32, dims, made.writes);
  const int destination = builder.AddBuffer("y", program::F32, dims, made.own);
  builder.AddReduction(source, destination, program::SUM, made.partials, made.partial);
  builder.message().mutable_buffers(source)->set_initialized(true);
  made.program = builder.Load();
  return made;
}

std::shared_ptr<const LoadedProgram> ExchangeChain(program::ElementType type) {
  const std::vector<int64_t> dims = {7, 5};
  ProgramBuilder builder({2, 2});
  const int rows = builder.AddBuffer("x", type, dims, CutAlong(dims, 0, 4));
  const int whole = builder.AddBuffer("whole", type, dims, std::vector<Box>(4, WholeBox(dims)));
  builder.AddInput("x", rows);
  builder.AddOutput("x", rows);
  program::Exchange* gather = builder.AddExchange(rows, whole);
  gather->set_collective(CollectiveNumber("all_gather"));
  program::Exchange* scatter = builder.AddReduction(whole, rows, program::SUM, 4, {0, 1, 2, 3});
  scatter->set_collective(CollectiveNumber("reduce_scatter"));
  for (program::Exchange* exchange : {gather, scatter}) {
    exchange->add_axes(0);
    exchange->add_axes(1);
  }
  builder.Repeat(3);
  return builder.Load();
}

TensorData Ramp() {
  std::vector<float> values;
  for (int i = 0; i < 35; ++i) values.push_back(static_cast<float>(i) + 0.25f);
  return FloatTensor({7, 5}, values);
}

}  // namespace yuba::runtime
