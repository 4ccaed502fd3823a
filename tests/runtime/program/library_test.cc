// Library calls against sums written out: random structures, orders of dimensions, ranges and
// boxes. Values are small integers, so that f32 is exact in any order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

using Random = std::mt19937;

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// One tensor of a call: what each of its dimensions is, and the box that a device has of it.
struct Dimension {
  int64_t extent = 1;
  Interval held;
};

struct Tensor {
  std::vector<Dimension> dims;

  int Add(int64_t extent, Interval held) {
    dims.push_back({extent, held});
    return static_cast<int>(dims.size()) - 1;
  }
  std::vector<int64_t> extents() const {
    std::vector<int64_t> result;
    for (const Dimension& dim : dims) result.push_back(dim.extent);
    return result;
  }
  Box box() const {
    Box result;
    for (const Dimension& dim : dims) result.push_back(dim.held);
    return result;
  }
};

// Dimensions are added in the order of the call's indices; this puts them into a random order.
std::vector<int> Shuffle(Random& random, Tensor& tensor) {
  std::vector<int> order(tensor.dims.size()), position(tensor.dims.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  std::shuffle(order.begin(), order.end(), random);
  Tensor shuffled;
  for (size_t d = 0; d < order.size(); ++d) {
    position[order[d]] = static_cast<int>(d);
    shuffled.dims.push_back(tensor.dims[order[d]]);
  }
  tensor = shuffled;
  return position;
}

// A box a little larger than the range that is used.
Interval Around(Random& random, const Interval& part, int64_t extent) {
  return {Pick(random, 0, part.begin), Pick(random, part.end, extent)};
}

struct Problem {
  Tensor left, right, result;
  program::LibraryCall call;
  std::vector<Interval> indices;
};

int64_t FlatPlace(const Tensor& tensor, const std::vector<int64_t>& point) {
  int64_t place = 0;
  for (size_t d = 0; d < point.size(); ++d) {
    place = place * tensor.dims[d].held.size() + point[d] - tensor.dims[d].held.begin;
  }
  return place;
}

// Runs the problem on one device with buffers of its boxes and returns the result's buffer, whose
// elements outside the written part stay NaN.
std::vector<float> RunProblem(const Problem& problem, const std::vector<float>& left,
                              const std::vector<float>& right, int64_t expected_calls) {
  ProgramBuilder builder({1});
  std::vector<int> buffers;
  for (const Tensor* tensor : {&problem.left, &problem.right, &problem.result}) {
    buffers.push_back(builder.AddBuffer("t" + std::to_string(buffers.size()), program::F32,
                                        tensor->extents(), {tensor->box()}));
  }
  for (int operand : {0, 1}) builder.stage().mutable_buffers(operand)->set_initialized(true);
  std::vector<std::vector<Interval>> indices;
  for (const Interval& part : problem.indices) indices.push_back({part});
  builder.AddLibraryKernel(problem.call, indices, {buffers[0], buffers[1]}, buffers[2]);
  RunOptions options;
  options.poison = options.guards = true;
  auto session = OpenSession(builder.Load(), options);
  const ArenaLayout layout = SpreadLayout(session->program());
  Device& device = *session->fleet().devices[0];
  auto bytes = [](const std::vector<float>& values) {
    return static_cast<int64_t>(values.size() * sizeof(float));
  };
  REQUIRE_THAT(
      device.Write(layout.offsets[0], reinterpret_cast<const char*>(left.data()), bytes(left)),
      IsOk());
  REQUIRE_THAT(
      device.Write(layout.offsets[1], reinterpret_cast<const char*>(right.data()), bytes(right)),
      IsOk());
  const absl::Status status = session->Step();
  REQUIRE_THAT(status, IsOk());
  CHECK(session->statistics().library_calls == expected_calls);
  std::vector<float> result(Volume(problem.result.box()));
  REQUIRE_THAT(
      device.Read(layout.offsets[2], reinterpret_cast<char*>(result.data()), bytes(result)),
      IsOk());
  return result;
}

std::vector<float> SmallIntegers(Random& random, int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(Pick(random, -4, 4)));
  return values;
}

// Adds indices of one role to a call; runs them along new dimensions of the tensors named.
void AddRole(Random& random, Problem& problem, int count, bool left, bool right, bool result,
             google::protobuf::RepeatedPtrField<program::LibraryIndex>* role) {
  for (int i = 0; i < count; ++i) {
    const int64_t extent = Pick(random, 1, 4);
    const int64_t begin = Pick(random, 0, extent - 1);
    const Interval part = {begin, Pick(random, begin + 1, extent)};
    program::LibraryIndex* index = role->Add();
    index->set_index(static_cast<int>(problem.indices.size()));
    index->set_left_dim(left ? problem.left.Add(extent, Around(random, part, extent)) : -1);
    index->set_right_dim(right ? problem.right.Add(extent, Around(random, part, extent)) : -1);
    index->set_result_dim(result ? problem.result.Add(extent, Around(random, part, extent)) : -1);
    problem.indices.push_back(part);
  }
}

void ShuffleDimensions(Random& random, Problem& problem) {
  const std::vector<int> left = Shuffle(random, problem.left);
  const std::vector<int> right = Shuffle(random, problem.right);
  const std::vector<int> result = Shuffle(random, problem.result);
  program::LibraryCall& call = problem.call;
  for (auto* role : {call.mutable_batch(), call.mutable_groups(), call.mutable_rows(),
                     call.mutable_columns(), call.mutable_inner()}) {
    for (program::LibraryIndex& index : *role) {
      if (index.left_dim() >= 0) index.set_left_dim(left[index.left_dim()]);
      if (index.right_dim() >= 0) index.set_right_dim(right[index.right_dim()]);
      if (index.result_dim() >= 0) index.set_result_dim(result[index.result_dim()]);
    }
  }
  for (program::LibraryWindow& window : *call.mutable_windows()) {
    window.set_input_dim(left[window.input_dim()]);
    window.set_filter_dim(right[window.filter_dim()]);
    window.set_result_dim(result[window.result_dim()]);
  }
}

// What the call should give, as a sum written out in the terms of the call.
std::vector<float> Expected(const Problem& problem, const std::vector<float>& left,
                            const std::vector<float>& right, const std::vector<float>& actual) {
  std::vector<float> sums(Volume(problem.result.box()), 0);
  std::vector<bool> written(sums.size());
  ForEachPoint(problem.indices, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> l(problem.left.dims.size()), r(problem.right.dims.size());
    std::vector<int64_t> y(problem.result.dims.size());
    const program::LibraryCall& call = problem.call;
    for (const auto* role :
         {&call.batch(), &call.groups(), &call.rows(), &call.columns(), &call.inner()}) {
      for (const program::LibraryIndex& index : *role) {
        if (index.left_dim() >= 0) l[index.left_dim()] = at[index.index()];
        if (index.right_dim() >= 0) r[index.right_dim()] = at[index.index()];
        if (index.result_dim() >= 0) y[index.result_dim()] = at[index.index()];
      }
    }
    bool padding = false;
    for (const program::LibraryWindow& window : call.windows()) {
      const int64_t position = at[window.output()] * window.stride() +
                               at[window.kernel()] * window.dilation() - window.low();
      padding |= position < 0 || position >= problem.left.dims[window.input_dim()].extent;
      l[window.input_dim()] = position;
      r[window.filter_dim()] = at[window.kernel()];
      y[window.result_dim()] = at[window.output()];
    }
    const int64_t place = FlatPlace(problem.result, y);
    written[place] = true;
    if (!padding)
      sums[place] += left[FlatPlace(problem.left, l)] * right[FlatPlace(problem.right, r)];
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!written[i]) sums[i] = actual[i];  // compared below: NaN, as nothing was written
  }
  return sums;
}

void CheckProblem(Random& random, const Problem& problem) {
  const std::vector<float> left = SmallIntegers(random, Volume(problem.left.box()));
  const std::vector<float> right = SmallIntegers(random, Volume(problem.right.box()));
  const std::vector<float> actual = RunProblem(problem, left, right, 1);
  const std::vector<float> expected = Expected(problem, left, right, actual);
  int64_t results = 1, touched = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i])) continue;
    ++touched;
    REQUIRE(actual[i] == expected[i]);
  }
  for (const auto* role : {&problem.call.batch(), &problem.call.groups(), &problem.call.rows(),
                           &problem.call.columns()}) {
    for (const program::LibraryIndex& index : *role) {
      results *= problem.indices[index.index()].size();
    }
  }
  for (const program::LibraryWindow& window : problem.call.windows()) {
    results *= problem.indices[window.output()].size();
  }
  REQUIRE(touched == results);
}

TEST_CASE("contractions of any structure and layout are products of the library") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    problem.call.set_left(0);
    problem.call.set_right(1);
    auto count = [&] { return static_cast<int>(Pick(random, 0, 2)); };
    AddRole(random, problem, count(), true, true, true, problem.call.mutable_batch());
    AddRole(random, problem, count(), true, false, true, problem.call.mutable_rows());
    AddRole(random, problem, count(), false, true, true, problem.call.mutable_columns());
    AddRole(random, problem, count(), true, true, false, problem.call.mutable_inner());
    if (Pick(random, 0, 3) == 0) problem.left.Add(1, {0, 1});  // a dimension of one element
    ShuffleDimensions(random, problem);
    CheckProblem(random, problem);
  }
}

void AddWindow(Random& random, Problem& problem) {
  program::LibraryWindow* window = problem.call.add_windows();
  const int64_t taps = Pick(random, 1, 3), outputs = Pick(random, 1, 6);
  window->set_stride(Pick(random, 1, 3));
  window->set_dilation(Pick(random, 1, 2));
  window->set_low(Pick(random, -1, 2));
  const int64_t tap_begin = Pick(random, 0, taps - 1), output_begin = Pick(random, 0, outputs - 1);
  const Interval kernel = {tap_begin, Pick(random, tap_begin + 1, taps)};
  const Interval output = {output_begin, Pick(random, output_begin + 1, outputs)};
  const int64_t extent = Pick(random, 1, 9);
  const Interval reach = {
      output.begin * window->stride() + kernel.begin * window->dilation() - window->low(),
      (output.end - 1) * window->stride() + (kernel.end - 1) * window->dilation() - window->low() +
          1};
  Interval need = Intersect(reach, {0, extent});
  if (need.empty()) need = {0, 0};
  window->set_output(static_cast<int>(problem.indices.size()));
  window->set_kernel(static_cast<int>(problem.indices.size()) + 1);
  problem.indices.push_back(output);
  problem.indices.push_back(kernel);
  window->set_input_dim(problem.left.Add(extent, Around(random, need, extent)));
  window->set_filter_dim(problem.right.Add(taps, Around(random, kernel, taps)));
  window->set_result_dim(problem.result.Add(outputs, Around(random, output, outputs)));
}

bool ReadsOnlyPadding(const Problem& problem) {
  return std::any_of(problem.left.dims.begin(), problem.left.dims.end(),
                     [](const Dimension& dim) { return dim.held.empty(); });
}

TEST_CASE("convolutions of any geometry and layout are convolutions of the library") {
  Random random(4);
  for (int round = 0; round < 150; ++round) {
    Problem problem;
    problem.call.set_left(0);
    problem.call.set_right(1);
    auto count = [&](int most) { return static_cast<int>(Pick(random, 0, most)); };
    AddRole(random, problem, count(2), true, false, true, problem.call.mutable_batch());
    AddRole(random, problem, count(1), true, true, true, problem.call.mutable_groups());
    AddRole(random, problem, count(2), false, true, true, problem.call.mutable_columns());
    AddRole(random, problem, count(2), true, true, false, problem.call.mutable_inner());
    for (int windows = static_cast<int>(Pick(random, 1, 3)); windows > 0; --windows) {
      AddWindow(random, problem);
    }
    if (ReadsOnlyPadding(problem) && Pick(random, 0, 1) == 1) {
      for (Dimension& dim : problem.left.dims) dim.held = {0, 0};  // what the compiler gives then
    }
    if (Pick(random, 0, 1) == 1) ShuffleDimensions(random, problem);
    CheckProblem(random, problem);
  }
}

TEST_CASE("a product over nothing is zero and calls no library") {
  Problem problem;
  Random random(5);
  problem.call.set_left(0);
  problem.call.set_right(1);
  AddRole(random, problem, 1, true, false, true, problem.call.mutable_rows());
  AddRole(random, problem, 1, false, true, true, problem.call.mutable_columns());
  AddRole(random, problem, 1, true, true, false, problem.call.mutable_inner());
  problem.indices[2] = {0, 0};
  const std::vector<float> left(Volume(problem.left.box()), 1),
      right(Volume(problem.right.box()), 1);
  const std::vector<float> actual = RunProblem(problem, left, right, 0);
  CHECK(std::count(actual.begin(), actual.end(), 0.0f) >= 1);
}

}  // namespace
}  // namespace yuba::runtime
