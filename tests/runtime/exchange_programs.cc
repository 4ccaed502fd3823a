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

namespace {

// The boxes of a CollectiveForm, [device].
struct FormBoxes {
  std::vector<int64_t> dims;
  std::vector<Box> whole, part;
  std::vector<int64_t> partial;
};

FormBoxes BoxesOfForm(Random& random, Collected collected, const CollectiveForm& form) {
  FormBoxes boxes;
  const int devices = form.outer * form.inner;
  boxes.dims = {Pick(random, devices, 3 * devices), Pick(random, 1, 5),
                Pick(random, form.inner, 3 * form.inner)};
  int64_t outer_dim = 0, inner_dim = Pick(random, 0, 1) * 2;
  if (form.even) {
    boxes.dims = {devices * Pick(random, 1, 3), Pick(random, 1, 5), 7};
    inner_dim = 0;
  }
  if (collected == Collected::kReduceScalar) boxes.dims = {1, 1, 1};
  for (int device = 0; device < devices; ++device) {
    const int row = device / form.inner, place = device % form.inner;
    Box whole = WholeBox(boxes.dims);
    if (collected != Collected::kReduceScalar)
      whole[outer_dim] = PartOf(boxes.dims[outer_dim], form.outer, row);
    Box part = whole;
    part[inner_dim] = inner_dim == outer_dim ? PartOf(boxes.dims[0], devices, device)
                                             : PartOf(boxes.dims[inner_dim], form.inner, place);
    if (collected == Collected::kReduceScalar) {
      part = whole;
      part[0] = {0, device == 0};
    }
    boxes.whole.push_back(whole);
    boxes.part.push_back(part);
    boxes.partial.push_back(collected == Collected::kReduceScalar ? device : place);
  }
  return boxes;
}

}  // namespace

std::shared_ptr<const LoadedProgram> RandomCollective(Random& random, Collected collected,
                                                      const CollectiveForm& form) {
  const FormBoxes boxes = BoxesOfForm(random, collected, form);
  const int partials = collected == Collected::kReduceScalar ? form.outer * form.inner : form.inner;
  ProgramBuilder builder({form.outer, form.inner});
  builder.message().set_hash_arithmetic(form.hash);
  const bool gathers = collected == Collected::kGather;
  const int made =
      builder.AddBuffer("made", form.type, boxes.dims, gathers ? boxes.part : boxes.whole);
  builder.message().mutable_buffers(made)->set_initialized(true);
  const bool all = collected != Collected::kScatter;
  const int result = builder.AddBuffer("result", gathers ? form.type : form.result, boxes.dims,
                                       all ? boxes.whole : boxes.part);
  if (gathers) {
    builder.AddExchange(made, result);
    return builder.Load();
  }
  program::Exchange* const sum =
      builder.AddReduction(made, result, form.reducer, partials, boxes.partial);
  *sum->mutable_to() = builder.BoxTable(boxes.part);
  if (all) *builder.AddExchange(result, result)->mutable_from() = builder.BoxTable(boxes.part);
  return builder.Load();
}

std::shared_ptr<const LoadedProgram> TwoByTwo(int devices, bool joined) {
  const std::vector<int64_t> dims = {2 * devices, 6};
  const std::vector<Box> whole(devices, WholeBox(dims)), rows = CutAlong(dims, 0, devices);
  std::vector<int64_t> partial;
  for (int d = 0; d < devices; ++d) partial.push_back(d);
  ProgramBuilder builder({devices});
  const int made = builder.AddBuffer("made", program::F32, dims, whole);
  builder.message().mutable_buffers(made)->set_initialized(true);
  std::vector<int> sums;
  for (const char* name : {"a", "b"}) {
    sums.push_back(builder.AddBuffer(name, program::F32, dims, rows));
    builder.AddReduction(made, sums.back(), program::SUM, devices, partial);
  }
  for (const int sum : sums)
    builder.AddExchange(sum, builder.AddBuffer("all", program::F32, dims, whole));
  for (const int second : {1, 3}) builder.message().mutable_instructions(second)->set_joins(joined);
  return builder.Load();
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
