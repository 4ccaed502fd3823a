#include "tests/runtime/program/library_problem.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "absl/types/optional.h"
#include "opsemantics/base/half.h"
#include "runtime/program/enums.h"
#include "runtime/program/post_ops.h"
#include "tests/runtime/program/library_backend.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

std::vector<int64_t> Extents(const ProblemTensor& tensor) {
  std::vector<int64_t> extents;
  for (const Dimension& dim : tensor.dims) extents.push_back(dim.extent);
  return extents;
}

// [dimension]: where it is in a random order of the tensor's dimensions.
std::vector<int> Shuffle(Random& random, ProblemTensor& tensor) {
  std::vector<int> order(tensor.dims.size()), position(tensor.dims.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  std::shuffle(order.begin(), order.end(), random);
  ProblemTensor shuffled;
  for (size_t d = 0; d < order.size(); ++d) {
    position[order[d]] = static_cast<int>(d);
    shuffled.dims.push_back(tensor.dims[order[d]]);
  }
  tensor = shuffled;
  return position;
}

int64_t FlatPlace(const ProblemTensor& tensor, const std::vector<int64_t>& point) {
  int64_t place = 0;
  for (size_t d = 0; d < point.size(); ++d) {
    place = place * tensor.dims[d].held.size() + point[d] - tensor.dims[d].held.begin;
  }
  return place;
}

bool IsHeld(const ProblemTensor& tensor, const std::vector<int64_t>& point) {
  for (size_t d = 0; d < point.size(); ++d) {
    if (!tensor.dims[d].held.Contains({point[d], point[d] + 1})) return false;
  }
  return true;
}

std::string Encoded(ElementType type, const std::vector<float>& values) {
  std::string bytes(values.size() * ByteSize(type), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = type == ElementType::kF16 ? ToF16(values[i]) : ToBF16(values[i]);
    const void* const element =
        type == ElementType::kF32 ? static_cast<const void*>(&values[i]) : &half;
    std::memcpy(&bytes[i * ByteSize(type)], element, ByteSize(type));
  }
  return bytes;
}

std::vector<float> Decoded(ElementType type, const std::string& bytes) {
  std::vector<float> values(bytes.size() / ByteSize(type));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    void* const element = type == ElementType::kF32 ? static_cast<void*>(&values[i]) : &half;
    std::memcpy(element, &bytes[i * ByteSize(type)], ByteSize(type));
    if (type == ElementType::kF16) values[i] = FromF16(half);
    if (type == ElementType::kBF16) values[i] = FromBF16(half);
  }
  return values;
}

std::vector<float> SmallIntegers(Random& random, int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(Pick(random, -4, 4)));
  return values;
}

// The numbers p, u and q of a window at a point of the indices, one without an index found from the
// two others; nullopt where they do not meet.
absl::optional<std::array<int64_t, 3>> NumbersAt(const Problem& problem,
                                                 const program::LibraryWindow& window,
                                                 const std::vector<int64_t>& at) {
  const ConvolutionTensors tensors = TensorsOf(problem.call.kind());
  const LibraryTensor places[] = {tensors.output, tensors.filter, tensors.input};
  const int indices[] = {window.output(), window.kernel(), window.input()};
  const int dims[] = {window.output_dim(), window.filter_dim(), window.input_dim()};
  const int64_t factors[] = {window.stride(), window.dilation(), -1};
  std::array<int64_t, 3> numbers = {0, 0, 0};
  int64_t sum = -window.low();
  int derived = -1;
  for (int k = 0; k < 3; ++k) {
    if (indices[k] >= 0) numbers[k] = at[indices[k]];
    if (indices[k] < 0 && dims[k] >= 0) derived = k;
    sum += numbers[k] * factors[k];
  }
  if (derived >= 0) {
    if (sum % factors[derived] != 0) return absl::nullopt;
    numbers[derived] = -sum / factors[derived];
    const int64_t extent = problem.At(places[derived]).dims[dims[derived]].extent;
    if (numbers[derived] < 0 || numbers[derived] >= extent) return absl::nullopt;
  } else if (sum != 0) {
    return absl::nullopt;
  }
  return numbers;
}

// Calls visit(points, has_term) with the point of each tensor, [LibraryTensor], that belongs to a
// point of the indices. Where there is no term only the result's is meant.
template <typename Visit>
void ForEachTerm(const Problem& problem, const Visit& visit) {
  const program::LibraryCall& call = problem.call;
  ForEachPoint(problem.indices, [&](const std::vector<int64_t>& at) {
    std::array<std::vector<int64_t>, 3> points;
    for (int t = 0; t < 3; ++t) points[t].resize(problem.tensors[t].dims.size());
    for (const auto* role :
         {&call.batch(), &call.groups(), &call.rows(), &call.columns(), &call.inner()}) {
      for (const program::LibraryIndex& index : *role) {
        const int dims[] = {index.left_dim(), index.right_dim(), index.result_dim()};
        for (int t = 0; t < 3; ++t) {
          if (dims[t] >= 0) points[t][dims[t]] = at[index.index()];
        }
      }
    }
    bool has_term = true;
    for (const program::LibraryWindow& window : call.windows()) {
      const ConvolutionTensors tensors = TensorsOf(call.kind());
      const LibraryTensor places[] = {tensors.output, tensors.filter, tensors.input};
      const int indices[] = {window.output(), window.kernel(), window.input()};
      const int dims[] = {window.output_dim(), window.filter_dim(), window.input_dim()};
      const auto numbers = NumbersAt(problem, window, at);
      has_term &= numbers.has_value();
      for (int k = 0; k < 3; ++k) {
        if (dims[k] < 0) continue;
        const int64_t number = numbers.has_value() ? (*numbers)[k]
                               : indices[k] >= 0   ? at[indices[k]]
                                                   : 0;
        points[static_cast<size_t>(places[k])][dims[k]] = number;
      }
    }
    visit(points, has_term);
  });
}

// What the post-ops make of `v` at a point of the result.
float AfterPostOps(const Problem& problem, const std::vector<std::vector<float>>& values,
                   const std::vector<int64_t>& point, float v) {
  const std::vector<int> dims = ResultDims(problem.call, static_cast<int>(problem.indices.size()));
  for (const program::PostOp& step : problem.call.post_ops()) {
    float e = 0;
    if (HasOperand(step)) {
      std::vector<int64_t> at;
      for (const int index : step.indices()) at.push_back(index < 0 ? 0 : point[dims[index]]);
      e = values[step.operand()][FlatPlace(problem.post[step.operand() - 2], at)];
    }
    switch (step.kind()) {
      case program::PostOp::ADD: v += e; break;
      case program::PostOp::SUBTRACT: v -= e; break;
      case program::PostOp::MULTIPLY: v *= e; break;
      case program::PostOp::SCALE: v *= static_cast<float>(step.factor()); break;
      case program::PostOp::RELU: v = std::max(v, 0.0F); break;
      default: FAIL("a step that does not keep integers");
    }
  }
  return v;
}

}  // namespace

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

int ProblemTensor::Add(int64_t extent, Interval held) {
  dims.push_back({extent, held});
  return static_cast<int>(dims.size()) - 1;
}

Box ProblemTensor::box() const {
  Box result;
  for (const Dimension& dim : dims) result.push_back(dim.held);
  return result;
}

Problem NewProblem(program::LibraryCall::Kind kind) {
  Problem problem;
  problem.call.set_kind(kind);
  problem.call.set_left(0);
  problem.call.set_right(1);
  return problem;
}

void PickTypes(Random& random, Problem& problem) {
  constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  problem.type = kTypes[Pick(random, 0, 2)];
  problem.result_type = Pick(random, 0, 1) == 0 ? problem.type : ElementType::kF32;
}

Interval Around(Random& random, const Interval& part, int64_t extent) {
  return {Pick(random, 0, part.begin), Pick(random, part.end, extent)};
}

void AddRole(Random& random, Problem& problem, int count, const std::array<bool, 3>& in,
             google::protobuf::RepeatedPtrField<program::LibraryIndex>* role) {
  for (int i = 0; i < count; ++i) {
    const int64_t extent = Pick(random, 1, 4);
    const int64_t begin = Pick(random, 0, extent - 1);
    const Interval part = {begin, Pick(random, begin + 1, extent)};
    int dims[3];
    for (int t = 0; t < 3; ++t)
      dims[t] = in[t] ? problem.tensors[t].Add(extent, Around(random, part, extent)) : -1;
    program::LibraryIndex* index = role->Add();
    index->set_index(static_cast<int>(problem.indices.size()));
    index->set_left_dim(dims[0]);
    index->set_right_dim(dims[1]);
    index->set_result_dim(dims[2]);
    problem.indices.push_back(part);
  }
}

void ShuffleDimensions(Random& random, Problem& problem) {
  std::array<std::vector<int>, 3> moved;
  for (int t = 0; t < 3; ++t) moved[t] = Shuffle(random, problem.tensors[t]);
  program::LibraryCall& call = problem.call;
  for (auto* role : {call.mutable_batch(), call.mutable_groups(), call.mutable_rows(),
                     call.mutable_columns(), call.mutable_inner()}) {
    for (program::LibraryIndex& index : *role) {
      if (index.left_dim() >= 0) index.set_left_dim(moved[0][index.left_dim()]);
      if (index.right_dim() >= 0) index.set_right_dim(moved[1][index.right_dim()]);
      if (index.result_dim() >= 0) index.set_result_dim(moved[2][index.result_dim()]);
    }
  }
  if (call.kind() == program::LibraryCall::CONTRACTION) return;
  const ConvolutionTensors tensors = TensorsOf(call.kind());
  const auto place = [&](LibraryTensor tensor, int dim) {
    return dim < 0 ? -1 : moved[static_cast<size_t>(tensor)][dim];
  };
  for (program::LibraryWindow& window : *call.mutable_windows()) {
    window.set_output_dim(place(tensors.output, window.output_dim()));
    window.set_filter_dim(place(tensors.filter, window.filter_dim()));
    window.set_input_dim(place(tensors.input, window.input_dim()));
  }
}

namespace {

// Adds a step with an operand that has the dimensions of the result for which has(d, index) holds,
// index being the one that runs along it, or -1; of a box as large as `box` says.
template <typename Has, typename BoxOf>
void AddOperandStep(Problem& problem, program::PostOp::Kind kind, const Has& has,
                    const BoxOf& box) {
  const ProblemTensor& result = problem.At(LibraryTensor::kResult);
  const std::vector<int> dims = ResultDims(problem.call, static_cast<int>(problem.indices.size()));
  std::vector<int> of_dims(result.dims.size(), -1);  // [dimension of the result]: its index
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) of_dims[dims[i]] = static_cast<int>(i);
  }
  program::PostOp& step = *problem.call.add_post_ops();
  step.set_kind(kind);
  step.set_operand(2 + static_cast<int>(problem.post.size()));
  ProblemTensor& operand = problem.post.emplace_back();
  for (size_t d = 0; d < result.dims.size(); ++d) {
    if (!has(static_cast<int64_t>(d), of_dims[d])) continue;
    operand.dims.push_back(box(result.dims[d]));
    if (of_dims[d] < 0) operand.dims.back() = {1, {0, 1}};
    step.add_indices(of_dims[d]);
  }
}

// A residual and a bias in any order, then ReLU: each of them or not.
void AddChain(Random& random, Problem& problem) {
  using program::PostOp;
  const program::LibraryCall& call = problem.call;
  const bool of_rows = call.kind() == program::LibraryCall::CONTRACTION && Pick(random, 0, 1) == 0;
  const auto is_channel = [&](int64_t, int index) {
    const auto has = [&](const auto& role) {
      return std::any_of(role.begin(), role.end(),
                         [&](const program::LibraryIndex& of) { return of.index() == index; });
    };
    return index >= 0 && (of_rows ? has(call.rows()) : has(call.columns()) || has(call.groups()));
  };
  const auto around = [&](const Dimension& dim) {
    return Dimension{dim.extent, Around(random, dim.held, dim.extent)};
  };
  const auto as_it_is = [](const Dimension& dim) { return dim; };
  const auto any = [](int64_t, int) { return true; };
  const bool bias_first = Pick(random, 0, 1) == 0;
  for (const bool bias : {bias_first, !bias_first}) {
    if (Pick(random, 0, 2) == 0) continue;
    if (bias)
      AddOperandStep(problem, PostOp::ADD, is_channel, as_it_is);
    else
      AddOperandStep(problem, PostOp::ADD, any, around);
  }
  if (Pick(random, 0, 1) == 0) problem.call.add_post_ops()->set_kind(PostOp::RELU);
}

}  // namespace

void AddPostOps(Random& random, Problem& problem) {
  using program::PostOp;
  if (Pick(random, 0, 1) == 0) return AddChain(random, problem);
  for (int64_t steps = Pick(random, 1, 3); steps > 0; --steps) {
    const auto kind = static_cast<PostOp::Kind>(Pick(random, PostOp::ADD, PostOp::RELU));
    if (kind <= PostOp::MULTIPLY) {
      const bool like_result = Pick(random, 0, 1) == 0;
      const int64_t alone = Pick(random, 0, 3);  // the one dimension that it has, often
      AddOperandStep(
          problem, kind,
          [&](int64_t d, int index) { return like_result || (index >= 0 && d == alone); },
          [](const Dimension& dim) { return dim; });
      continue;
    }
    PostOp& step = *problem.call.add_post_ops();
    step.set_kind(kind);
    if (kind == PostOp::SCALE) step.set_factor(static_cast<double>(Pick(random, -2, 2)));
  }
}

absl::optional<std::vector<float>> RunProblem(const Problem& problem,
                                              const std::vector<std::vector<float>>& values,
                                              int64_t expected_calls) {
  ProgramBuilder builder({1});
  std::vector<int> buffers;
  for (const ProblemTensor& tensor : problem.tensors) {
    const bool is_result = buffers.size() == 2;
    buffers.push_back(builder.AddBuffer("t" + std::to_string(buffers.size()),
                                        ToProto(is_result ? problem.result_type : problem.type),
                                        Extents(tensor), {tensor.box()}));
  }
  const int result = buffers.back();
  buffers.pop_back();
  for (const ProblemTensor& operand : problem.post) {
    buffers.push_back(builder.AddBuffer("p" + std::to_string(buffers.size()), ToProto(problem.type),
                                        Extents(operand), {operand.box()}));
  }
  for (const int operand : buffers)
    builder.message().mutable_buffers(operand)->set_initialized(true);
  std::vector<std::vector<Interval>> indices;
  for (const Interval& part : problem.indices) indices.push_back({part});
  builder.AddLibraryKernel(problem.call, indices, buffers, result);
  RunOptions options = LibraryOptions();
  options.poison = options.guards = true;
  absl::StatusOr<std::unique_ptr<Session>> opened = Session::Open(builder.Load(), options);
  if (!HasAllCalls() && absl::IsUnimplemented(opened.status())) return absl::nullopt;
  REQUIRE_THAT(opened, IsOk());
  const std::unique_ptr<Session> session = *std::move(opened);
  const ArenaLayout layout = SpreadLayout(session->program());
  Device& device = *session->fleet().devices[0];
  for (size_t t = 0; t < buffers.size(); ++t) {
    const std::string bytes = Encoded(problem.type, values[t]);
    const absl::Status written =
        device.Write(layout.offsets[buffers[t]], bytes.data(), static_cast<int64_t>(bytes.size()));
    REQUIRE_THAT(written, IsOk());
  }
  const absl::Status status = session->Step();
  REQUIRE_THAT(status, IsOk());
  CHECK(session->statistics().library_calls == expected_calls);
  std::string bytes(
      Volume(problem.At(LibraryTensor::kResult).box()) * ByteSize(problem.result_type), 0);
  const absl::Status read =
      device.Read(layout.offsets[result], bytes.data(), static_cast<int64_t>(bytes.size()));
  REQUIRE_THAT(read, IsOk());
  return Decoded(problem.result_type, bytes);
}

bool CheckProblem(Random& random, const Problem& problem) {
  std::vector<std::vector<float>> values;
  for (int t : {0, 1}) values.push_back(SmallIntegers(random, Volume(problem.tensors[t].box())));
  for (const ProblemTensor& operand : problem.post)
    values.push_back(SmallIntegers(random, Volume(operand.box())));
  const absl::optional<std::vector<float>> found = RunProblem(problem, values, 1);
  if (!found.has_value()) return false;
  const std::vector<float>& actual = *found;
  std::vector<float> sums(actual.size(), 0);
  std::vector<bool> written(actual.size());
  std::map<int64_t, std::vector<int64_t>> points_of_places;
  const ProblemTensor& result = problem.At(LibraryTensor::kResult);
  ForEachTerm(problem, [&](const std::array<std::vector<int64_t>, 3>& points, bool has_term) {
    const bool held = IsHeld(result, points[2]);
    REQUIRE((held || !has_term));
    if (!held) return;
    const int64_t place = FlatPlace(result, points[2]);
    written[place] = true;
    points_of_places[place] = points[2];
    if (!has_term) return;
    sums[place] += values[0][FlatPlace(problem.tensors[0], points[0])] *
                   values[1][FlatPlace(problem.tensors[1], points[1])];
  });
  for (const auto& [place, point] : points_of_places) {
    sums[place] = AfterPostOps(problem, values, point, sums[place]);
  }
  sums = Decoded(problem.result_type, Encoded(problem.result_type, sums));  // rounded
  for (size_t i = 0; i < actual.size(); ++i) {
    REQUIRE(std::isnan(actual[i]) == !written[i]);
    if (written[i]) REQUIRE(actual[i] == sums[i]);
  }
  return true;
}

}  // namespace yuba::runtime
