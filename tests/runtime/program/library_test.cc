// Library calls against sums written out: random structures, types, orders of dimensions, ranges
// and boxes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/runtime/program/library_backend.h"
#include "tests/runtime/program/library_problem.h"

namespace yuba::runtime {
namespace {

constexpr std::array<bool, 3> kAll = {true, true, true}, kRows = {true, false, true},
                              kColumns = {false, true, true}, kInner = {true, true, false};

// The tensors of a role that one tensor lacks.
std::array<bool, 3> Without(LibraryTensor tensor) {
  std::array<bool, 3> in = kAll;
  in[static_cast<size_t>(tensor)] = false;
  return in;
}

bool MayHavePostOps(const Problem& problem) {
  return problem.type == problem.result_type && HasPostOpsOf(problem.type);
}

TEST_CASE("contractions of any structure and layout are products of the library") {
  Random random(3);
  int with_steps = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem = NewProblem(program::LibraryCall::CONTRACTION);
    PickTypes(random, problem);
    auto count = [&] { return static_cast<int>(Pick(random, 0, 2)); };
    AddRole(random, problem, count(), kAll, problem.call.mutable_batch());
    AddRole(random, problem, count(), kRows, problem.call.mutable_rows());
    AddRole(random, problem, count(), kColumns, problem.call.mutable_columns());
    AddRole(random, problem, count(), kInner, problem.call.mutable_inner());
    if (Pick(random, 0, 3) == 0)  // a dimension of one element
      problem.At(LibraryTensor::kLeft).Add(1, {0, 1});
    if (Pick(random, 0, 1) == 0) ShuffleDimensions(random, problem);
    if (MayHavePostOps(problem) && Pick(random, 0, 1) == 0) AddPostOps(random, problem);
    if (CheckProblem(random, problem) && !problem.call.post_ops().empty()) ++with_steps;
  }
  CHECK(with_steps > 20);
}

// One number of a window: its index and dimension in one of the tensors.
struct Number {
  int64_t extent = 1;
  Interval part = {0, 1};
  int index = -1, dim = -1;
  Interval met;  // what of `part` has terms
};

Number PickNumber(Random& random, Problem& problem, int64_t most, bool with_index) {
  Number number;
  number.extent = Pick(random, 1, most);
  number.part = {0, number.extent};
  if (!with_index) return number;
  number.part.begin = Pick(random, 0, number.extent - 1);
  number.part.end = Pick(random, number.part.begin + 1, number.extent);
  number.index = static_cast<int>(problem.indices.size());
  problem.indices.push_back(number.part);
  return number;
}

// The dimension of a number in its tensor, with a box that holds what is used: of an operand what
// has terms, of the result all that is computed, or only what has terms.
void Hold(Random& random, Problem& problem, LibraryTensor tensor, Number& number) {
  const bool all = tensor == LibraryTensor::kResult && Pick(random, 0, 2) > 0;
  const Interval used = number.met.empty() && !all ? Interval{0, 0}
                        : all                      ? number.part
                                                   : number.met;
  const Interval held =
      tensor == LibraryTensor::kResult && !all ? used : Around(random, used, number.extent);
  number.dim = problem.At(tensor).Add(number.extent, held);
}

// Of its numbers, p, u and q, the tensor of one may lack it, and one of an operand may have no
// index.
void AddWindow(Random& random, Problem& problem) {
  const ConvolutionTensors tensors = TensorsOf(problem.call.kind());
  const LibraryTensor places[] = {tensors.output, tensors.filter, tensors.input};
  const int64_t most[] = {6, 3, 9};
  int derived = static_cast<int>(Pick(random, -1, 2)),
      absent = static_cast<int>(Pick(random, 0, 5));
  if (derived >= 0 && places[derived] == LibraryTensor::kResult) derived = -1;
  if (absent > 2 || absent == derived) absent = -1;
  program::LibraryWindow* window = problem.call.add_windows();
  window->set_stride(derived == 0 ? 1 : Pick(random, 1, 3));
  window->set_dilation(Pick(random, 1, 2));
  window->set_low(Pick(random, -1, 2));
  Number numbers[3];
  for (int k = 0; k < 3; ++k) {
    if (k != absent) numbers[k] = PickNumber(random, problem, most[k], k != derived);
  }
  for (int64_t p = numbers[0].part.begin; p < numbers[0].part.end; ++p) {
    for (int64_t u = numbers[1].part.begin; u < numbers[1].part.end; ++u) {
      const int64_t q = p * window->stride() + u * window->dilation() - window->low();
      if (q < numbers[2].part.begin || q >= numbers[2].part.end) continue;
      const int64_t met[] = {p, u, q};
      for (int k = 0; k < 3; ++k) numbers[k].met = Hull(numbers[k].met, {met[k], met[k] + 1});
    }
  }
  for (int k = 0; k < 3; ++k) {
    if (k != absent) Hold(random, problem, places[k], numbers[k]);
  }
  window->set_output(numbers[0].index);
  window->set_kernel(numbers[1].index);
  window->set_input(numbers[2].index);
  window->set_output_dim(numbers[0].dim);
  window->set_filter_dim(numbers[1].dim);
  window->set_input_dim(numbers[2].dim);
}

bool HoldsNothing(const ProblemTensor& tensor) {
  return std::any_of(tensor.dims.begin(), tensor.dims.end(),
                     [](const Dimension& dim) { return dim.held.empty(); });
}

void CheckConvolutions(program::LibraryCall::Kind kind, uint32_t seed) {
  Random random(seed);
  const ConvolutionTensors tensors = TensorsOf(kind);
  int run = 0;
  for (int round = 0; round < 300; ++round) {
    INFO("round " << round);
    Problem problem = NewProblem(kind);
    PickTypes(random, problem);
    auto count = [&](int most) { return static_cast<int>(Pick(random, 0, most)); };
    program::LibraryCall& call = problem.call;
    AddRole(random, problem, count(2), Without(tensors.filter), call.mutable_batch());
    AddRole(random, problem, count(1), kAll, call.mutable_groups());
    AddRole(random, problem, count(2), Without(tensors.input), call.mutable_columns());
    AddRole(random, problem, count(2), Without(tensors.output), call.mutable_inner());
    for (int windows = static_cast<int>(Pick(random, 1, 3)); windows > 0; --windows) {
      AddWindow(random, problem);
    }
    if (HoldsNothing(problem.At(LibraryTensor::kResult))) continue;  // nothing is computed
    ProblemTensor &left = problem.At(LibraryTensor::kLeft),
                  &right = problem.At(LibraryTensor::kRight);
    if ((HoldsNothing(left) || HoldsNothing(right)) && Pick(random, 0, 1) == 1) {
      for (ProblemTensor* operand : {&left, &right}) {  // as the compiler gives them then
        for (Dimension& dim : operand->dims) dim.held = {0, 0};
      }
    }
    if (Pick(random, 0, 1) == 1) ShuffleDimensions(random, problem);
    const bool may_have = kind == program::LibraryCall::CONVOLUTION;
    if (may_have && MayHavePostOps(problem) && Pick(random, 0, 2) > 0) AddPostOps(random, problem);
    if (CheckProblem(random, problem)) ++run;
  }
  CHECK(run > 100);
}

TEST_CASE("what follows a convolution of one sum is part of the library's call") {
  Random random(7);
  int run = 0;
  for (int round = 0; round < 800; ++round) {
    INFO("round " << round);
    Problem problem = NewProblem(program::LibraryCall::CONVOLUTION);
    do {
      PickTypes(random, problem);
    } while (!MayHavePostOps(problem));
    auto count = [&](int most) { return static_cast<int>(Pick(random, 0, most)); };
    const ConvolutionTensors tensors = TensorsOf(program::LibraryCall::CONVOLUTION);
    program::LibraryCall& call = problem.call;
    AddRole(random, problem, count(2), Without(tensors.filter), call.mutable_batch());
    AddRole(random, problem, count(1), kAll, call.mutable_groups());
    AddRole(random, problem, 1, Without(tensors.input), call.mutable_columns());
    AddRole(random, problem, count(1), Without(tensors.output), call.mutable_inner());
    for (int windows = static_cast<int>(Pick(random, 1, 3)); windows > 0; --windows)
      AddWindow(random, problem);
    if (HoldsNothing(problem.At(LibraryTensor::kResult))) continue;
    AddPostOps(random, problem);
    if (CheckProblem(random, problem) && !call.post_ops().empty()) ++run;
  }
  CHECK(run > 20);
}

TEST_CASE("each of several scales counts") {
  Random random(8);
  for (int round = 0; round < 30; ++round) {
    INFO("round " << round);
    Problem problem = NewProblem(program::LibraryCall::CONVOLUTION);
    const ConvolutionTensors tensors = TensorsOf(program::LibraryCall::CONVOLUTION);
    AddRole(random, problem, 1, Without(tensors.filter), problem.call.mutable_batch());
    AddRole(random, problem, 1, Without(tensors.input), problem.call.mutable_columns());
    AddRole(random, problem, 1, Without(tensors.output), problem.call.mutable_inner());
    AddWindow(random, problem);
    if (HoldsNothing(problem.At(LibraryTensor::kResult))) continue;
    for (const double factor : {2.0, -3.0, 4.0}) {
      program::PostOp& scale = *problem.call.add_post_ops();
      scale.set_kind(program::PostOp::SCALE);
      scale.set_factor(factor);
      if (round % 2 == 0) problem.call.add_post_ops()->set_kind(program::PostOp::RELU);
    }
    CheckProblem(random, problem);  // on the host a library must have it
  }
}

TEST_CASE("convolutions of any geometry and layout are convolutions of the library") {
  CheckConvolutions(program::LibraryCall::CONVOLUTION, 4);
}
TEST_CASE("data gradients of any geometry and layout are data gradients of the library") {
  CheckConvolutions(program::LibraryCall::DATA_GRADIENT, 5);
}
TEST_CASE("weight gradients of any geometry and layout are weight gradients of the library") {
  CheckConvolutions(program::LibraryCall::WEIGHT_GRADIENT, 6);
}

TEST_CASE("a product over nothing is zero and calls no library") {
  Problem problem = NewProblem(program::LibraryCall::CONTRACTION);
  Random random(5);
  AddRole(random, problem, 1, kRows, problem.call.mutable_rows());
  AddRole(random, problem, 1, kColumns, problem.call.mutable_columns());
  AddRole(random, problem, 1, kInner, problem.call.mutable_inner());
  problem.indices[2] = {0, 0};
  std::vector<std::vector<float>> ones;
  for (int t : {0, 1}) ones.emplace_back(Volume(problem.tensors[t].box()), 1.0F);
  const std::vector<float> actual = *RunProblem(problem, ones, 0);
  CHECK(std::count(actual.begin(), actual.end(), 0.0f) >= 1);
}

}  // namespace
}  // namespace yuba::runtime
