// Joint calls of products on fake GPUs: of random structures, the call's two results are what the
// two kernels would compute, and what the library does not have is left to these.
#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "opsemantics/base/half.h"
#include "runtime/program/enums.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

using program::ElementType;

// A product of x and y and the sums of one of them, each letter an index: c, d run along x and the
// result, a, b along y and the result, s, t along x and y.
struct Joint {
  std::string x, y, result, sums;
  bool of_x = false;
  ElementType type = program::F32, made = program::F32;
  std::map<char, int64_t> extents;

  std::vector<int64_t> Dims(const std::string& letters) const {
    std::vector<int64_t> dims;
    for (const char letter : letters) dims.push_back(extents.at(letter));
    return dims;
  }
};

int Place(const std::string& letters, char letter) {
  const size_t found = letters.find(letter);
  return found == std::string::npos ? -1 : static_cast<int>(found);
}

const std::string kIndices = "cdabst";

// The sums are a kernel without any code: nobody can run it.
runtime::ProgramBuilder ProgramOf(const Joint& joint) {
  runtime::ProgramBuilder builder({1});
  const auto add = [&](const std::string& name, ElementType type, const std::string& letters) {
    const std::vector<int64_t> dims = joint.Dims(letters);
    return builder.AddBuffer(name, type, dims, {WholeBox(dims)});
  };
  const int x = add("x", joint.type, joint.x), y = add("y", joint.type, joint.y);
  const int result = add("result", joint.made, joint.result);
  const int sums = add("sums", joint.made, joint.sums);
  program::LibraryCall call;
  call.set_right(1);
  std::vector<std::vector<Interval>> parts;
  for (const char letter : kIndices) {
    if (joint.extents.count(letter) == 0) continue;
    const int left = Place(joint.x, letter), right = Place(joint.y, letter);
    auto* const role = left < 0    ? call.mutable_columns()
                       : right < 0 ? call.mutable_rows()
                                   : call.mutable_inner();
    program::LibraryIndex* index = role->Add();
    index->set_index(static_cast<int>(parts.size()));
    index->set_left_dim(left);
    index->set_right_dim(right);
    index->set_result_dim(Place(joint.result, letter));
    parts.push_back({{0, joint.extents.at(letter)}});
  }
  const program::Kernel* product = builder.AddLibraryKernel(call, parts, {x, y}, result);
  program::JointCall& message = *builder.message().add_joint_calls();
  message.set_other(1);
  message.set_operand(joint.of_x ? 0 : 1);
  std::string indices;  // letters, as the product numbers them
  for (const char letter : kIndices)
    if (joint.extents.count(letter) > 0) indices += letter;
  for (const char letter : joint.sums) message.add_indices(Place(indices, letter));

  program::Function* function = builder.message().add_functions();
  function->set_symbol("nobody");
  program::Kernel kernel;
  kernel.set_function(builder.message().functions_size() - 1);
  kernel.add_node("sums");
  kernel.add_from("");
  for (const char letter : joint.sums) {
    function->add_indices();
    *kernel.add_indices() = product->indices(Place(indices, letter));
  }
  *kernel.add_operands() = product->operands(message.operand());
  program::Access* written = kernel.add_results();
  written->set_buffer(sums);
  *written->mutable_box() = builder.message().buffers(sums).box();
  runtime::ProgramBuilder::AddDefinition(function, 1);
  function->mutable_definitions(0)->set_reducer(program::SUM);
  *builder.message().add_instructions()->mutable_kernel() = kernel;
  builder.AddInput("x", x);
  builder.AddInput("y", y);
  builder.AddOutput("result", result);
  builder.AddOutput("sums", sums);
  return builder;
}

std::string BytesOf(ElementType type, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const uint16_t half = type == program::BF16 ? ToBF16(value) : ToF16(value);
    if (type == program::F32)
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return bytes;
}

// Small whole numbers: sums of few of them are exact in each type.
std::vector<float> Numbers(const std::vector<int64_t>& dims, std::mt19937& random) {
  std::vector<float> values(Volume(WholeBox(dims)));
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 5) - 2);
  return values;
}

// The sum of products, or of the elements of one of the two, at each element of `result`.
std::vector<float> SumsOf(const Joint& joint, const std::string& result,
                          const std::vector<float>* x, const std::vector<float>* y) {
  std::string letters;
  for (const auto& [letter, extent] : joint.extents) {
    const bool needed = Place(result, letter) >= 0 ||
                        (x != nullptr && Place(joint.x, letter) >= 0) ||
                        (y != nullptr && Place(joint.y, letter) >= 0);
    if (needed) letters += letter;
  }
  std::vector<float> sums(Volume(WholeBox(joint.Dims(result))));
  std::map<char, int64_t> at;
  const auto offset = [&](const std::string& tensor) {
    int64_t position = 0;
    for (const char letter : tensor) position = position * joint.extents.at(letter) + at[letter];
    return position;
  };
  const int64_t points = Volume(WholeBox(joint.Dims(letters)));
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (const char letter : letters) {
      at[letter] = rest % joint.extents.at(letter);
      rest /= joint.extents.at(letter);
    }
    float term = 1;
    if (x != nullptr) term *= (*x)[offset(joint.x)];
    if (y != nullptr) term *= (*y)[offset(joint.y)];
    sums[offset(result)] += term;
  }
  return sums;
}

// Whether the library had the call; then both results are right.
bool IsOneCall(const Joint& joint, std::mt19937& random) {
  INFO(joint.x << " " << joint.y << " -> " << joint.result << ", " << joint.sums << " of "
               << (joint.of_x ? "x" : "y") << " type " << joint.type << " -> " << joint.made);
  OnFakes fakes(1);
  runtime::RunOptions options = OnCuda();
  if (random() % 4 == 0) options.cuda.tuning = std::make_shared<Tuning>();
  const auto program = ProgramOf(joint).Load();
  auto opened = runtime::Session::Open(program, options);
  if (!opened.ok()) {
    CHECK_THAT(opened, StatusIs(absl::StatusCode::kInvalidArgument, "kernel sums"));
    return false;
  }
  runtime::Session& session = **opened;
  const std::vector<float> x = Numbers(joint.Dims(joint.x), random);
  const std::vector<float> y = Numbers(joint.Dims(joint.y), random);
  REQUIRE_THAT(
      session.Set("x", {FromProto(joint.type), joint.Dims(joint.x), BytesOf(joint.type, x)}),
      IsOk());
  REQUIRE_THAT(
      session.Set("y", {FromProto(joint.type), joint.Dims(joint.y), BytesOf(joint.type, y)}),
      IsOk());
  const int64_t before = Fake().products;
  REQUIRE_THAT(session.Step(), IsOk());
  CHECK(Fake().products == before + 1);
  CHECK(session.statistics().library_calls == 1);
  CHECK(session.Get("result")->data == BytesOf(joint.made, SumsOf(joint, joint.result, &x, &y)));
  CHECK(session.Get("sums")->data ==
        BytesOf(joint.made,
                SumsOf(joint, joint.sums, joint.of_x ? &x : nullptr, joint.of_x ? nullptr : &y)));
  return true;
}

TEST_CASE("a product and the sums of an operand are one call, whichever side is summed") {
  std::mt19937 random(1);
  const std::map<char, int64_t> extents = {{'c', 3}, {'a', 5}, {'t', 7}};
  for (const std::string x : {"tc", "ct"}) {
    for (const std::string y : {"ta", "at"}) {
      for (const std::string result : {"ca", "ac"}) {
        for (const bool of_x : {false, true}) {
          Joint joint = {x, y, result, of_x ? "c" : "a", of_x};
          joint.extents = extents;
          CHECK(IsOneCall(joint, random));
        }
      }
    }
  }
}

// Indices next to each other in all tensors are one; others are several calls, and no joint one.
TEST_CASE("joint calls of random structure are right") {
  std::mt19937 random(2);
  int calls = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const auto some = [&](const std::string& letters) {
      return letters.substr(0, 1 + random() % letters.size());
    };
    const std::string rows = some("cd"), columns = some("ab"), inner = some("st");
    Joint joint;
    for (const char letter : rows + columns + inner) joint.extents[letter] = 1 + random() % 4;
    const auto arranged = [&](const std::string& first, const std::string& second) {
      std::string letters = random() % 2 == 0 ? first + second : second + first;
      if (random() % 4 == 0) std::shuffle(letters.begin(), letters.end(), random);
      return letters;
    };
    joint.x = arranged(rows, inner);
    joint.y = arranged(columns, inner);
    joint.result = arranged(rows, columns);
    joint.of_x = random() % 2 == 0;
    joint.sums = arranged(joint.of_x ? rows : columns, "");
    const ElementType types[] = {program::F32, program::F16, program::BF16};
    joint.type = types[random() % 3];
    joint.made = random() % 3 == 0 ? program::F32 : joint.type;
    calls += IsOneCall(joint, random) ? 1 : 0;
  }
  INFO(calls);
  CHECK(calls > kRounds / 3);
  CHECK(calls < kRounds);
}

// g = gelu(e) with e = x w + b, and z = (x w) * slope(e).
struct Gelu {
  int64_t rows = 3, columns = 8, batch = 2;
  bool bias = true;
};

// Buffers x [batch, rows, 4], w [batch, 4, columns], b [columns], and e, g, d and z like the
// results: e is the product with its bias and g GELU of it, d the product alone and z its slope
// times.
runtime::ProgramBuilder GeluProgram(const Gelu& gelu) {
  runtime::ProgramBuilder builder({1});
  const auto add = [&](const std::string& name, const std::vector<int64_t>& dims) {
    return builder.AddBuffer(name, program::F32, dims, {WholeBox(dims)});
  };
  const std::vector<int64_t> dims = {gelu.batch, gelu.rows, gelu.columns};
  const int x = add("x", {gelu.batch, gelu.rows, 4}), w = add("w", {gelu.batch, 4, gelu.columns});
  const int b = add("b", {gelu.columns});
  const int e = add("e", dims), g = add("g", dims), z = add("z", dims), d = add("d", dims);
  program::LibraryCall call;
  call.set_right(1);
  const auto index = [&](program::LibraryIndex* added, int number, int left, int right,
                         int result) {
    added->set_index(number);
    added->set_left_dim(left);
    added->set_right_dim(right);
    added->set_result_dim(result);
  };
  index(call.add_batch(), 0, 0, 0, 0);
  index(call.add_rows(), 1, 1, -1, 1);
  index(call.add_columns(), 2, -1, 2, 2);
  index(call.add_inner(), 3, 2, 1, -1);
  const std::vector<std::vector<Interval>> parts = {
      {{0, gelu.batch}}, {{0, gelu.rows}}, {{0, gelu.columns}}, {{0, 4}}};
  program::LibraryCall with_bias = call;
  std::vector<int> operands = {x, w};
  if (gelu.bias) {
    program::PostOp& step = *with_bias.add_post_ops();
    step.set_operand(2);
    step.add_indices(2);
    operands.push_back(b);
  }
  builder.AddLibraryKernel(with_bias, parts, operands, e);
  // A kernel without code behind the product, which makes `result` of these buffers.
  const auto add_joint = [&](program::JointCall::Kind kind, const std::string& name,
                             const std::vector<int>& read, int result) {
    const int before = builder.message().instructions_size() - 1;
    program::Function* function = builder.message().add_functions();
    function->set_symbol("nobody_" + name);
    program::Kernel kernel;
    kernel.set_function(builder.message().functions_size() - 1);
    kernel.add_node(name);
    kernel.add_from("");
    for (int i = 0; i < 3; ++i) {
      function->add_indices();
      *kernel.add_indices() = builder.message().instructions(before).kernel().indices(i);
    }
    for (const int buffer : read) {
      program::Access* operand = kernel.add_operands();
      operand->set_buffer(buffer);
      *operand->mutable_box() = builder.message().buffers(buffer).box();
    }
    program::Access* written = kernel.add_results();
    written->set_buffer(result);
    *written->mutable_box() = builder.message().buffers(result).box();
    runtime::ProgramBuilder::AddDefinition(function, static_cast<int>(read.size()));
    *builder.message().add_instructions()->mutable_kernel() = kernel;
    program::JointCall& joint = *builder.message().add_joint_calls();
    joint.set_kind(kind);
    joint.set_product(before);
    joint.set_other(before + 1);
    for (int i = 0; i < 3; ++i) joint.add_indices(i);
  };
  add_joint(program::JointCall::ACTIVATION, "g", {e}, g);
  builder.AddLibraryKernel(call, parts, {x, w}, d);
  add_joint(program::JointCall::SLOPE, "z", {e, d}, z);
  builder.AddInput("x", x);
  builder.AddInput("w", w);
  builder.AddInput("b", b);
  for (const auto& [name, buffer] : {std::pair("e", e), std::pair("g", g), std::pair("z", z)})
    builder.AddOutput(name, buffer);
  return builder;
}

// The slope as a difference of quotients, so that nothing is taken from where it is tested.
double GeluAt(double v) {
  return v / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
}
double SlopeAt(double v) { return (GeluAt(v + 1e-5) - GeluAt(v - 1e-5)) / 2e-5; }

TEST_CASE("a call stores what GELU is of, and one multiplies with the slope there") {
  std::mt19937 random(4);
  for (const Gelu& gelu : {Gelu{3, 8, 2, true}, Gelu{5, 16, 1, false}, Gelu{1, 24, 3, true}}) {
    OnFakes fakes(1);
    auto session = runtime::OpenSession(GeluProgram(gelu).Load(), OnCuda());
    std::map<std::string, std::vector<float>> values;
    const std::vector<std::pair<std::string, std::vector<int64_t>>> inputs = {
        {"x", {gelu.batch, gelu.rows, 4}},
        {"w", {gelu.batch, 4, gelu.columns}},
        {"b", {gelu.columns}}};
    for (const auto& [name, dims] : inputs) {
      values[name] = Numbers(dims, random);
      for (float& value : values[name]) value /= 4;
      REQUIRE_THAT(session->Set(name, runtime::FloatTensor(dims, values[name])), IsOk());
    }
    REQUIRE_THAT(session->Step(), IsOk());
    CHECK(Fake().products == 2);
    CHECK(Fake().products_with_gradients == 2);
    CHECK(session->statistics().library_calls == 2);
    const std::vector<float> e = runtime::FloatsOf(*session->Get("e")),
                             g = runtime::FloatsOf(*session->Get("g")),
                             z = runtime::FloatsOf(*session->Get("z"));
    for (int64_t at = 0; at < static_cast<int64_t>(e.size()); ++at) {
      const int64_t column = at % gelu.columns, row = at / gelu.columns;
      const int64_t batch = row / gelu.rows;
      float sum = 0;
      for (int64_t k = 0; k < 4; ++k)
        sum += values["x"][row * 4 + k] * values["w"][(batch * 4 + k) * gelu.columns + column];
      const float argument = sum + (gelu.bias ? values["b"][column] : 0);
      CHECK(e[at] == argument);
      CHECK(g[at] == Approx(GeluAt(argument)).margin(1e-6));
      CHECK(z[at] == Approx(sum * SlopeAt(argument)).margin(1e-5));
    }
  }
}

TEST_CASE("cuBLASLt wants what GELU is of in rows of multiples of 8 elements") {
  OnFakes fakes(1);
  CHECK_THAT(runtime::Session::Open(GeluProgram({3, 12, 1, true}).Load(), OnCuda()),
             StatusIs(absl::StatusCode::kInvalidArgument, "kernel g"));
}

TEST_CASE("a slope of a product that others read, or at what is not there, is refused") {
  using Change = void (*)(program::Program&);
  const std::pair<Change, const char*> cases[] = {
      {[](auto& p) { p.add_outputs()->set_buffer(6); }, "whose result is used elsewhere"},
      {[](auto& p) { p.mutable_joint_calls(1)->set_operand(2); }, "has the slope at operand 2"},
      {[](auto& p) { p.mutable_joint_calls(1)->set_operand(1); },
       "reads something else than the result"}};
  for (const auto& [change, cause] : cases) {
    program::Program changed = GeluProgram({}).message();
    REQUIRE_THAT(runtime::LoadedProgram::FromMessage(changed), IsOk());
    change(changed);
    CHECK_THAT(runtime::LoadedProgram::FromMessage(changed),
               StatusIs(absl::StatusCode::kInvalidArgument, cause));
  }
}

TEST_CASE("what the library does not have of a joint call runs as its two kernels") {
  std::mt19937 random(3);
  Joint joint = {"tc", "ta", "ca", "a"};
  joint.extents = {{'c', 3}, {'a', 5}, {'t', 7}};
  OnFakes fakes(1);
  Fake().refuses_gradients = true;
  CHECK_THAT(runtime::Session::Open(ProgramOf(joint).Load(), OnCuda()),
             StatusIs(absl::StatusCode::kInvalidArgument, "kernel sums"));
}

// A sound joint call, changed in one place each time.
TEST_CASE("a joint call of kernels that are none is refused, with its place and the cause") {
  Joint joint = {"tc", "ta", "ca", "a"};
  joint.extents = {{'c', 3}, {'a', 5}, {'t', 7}};
  const program::Program sound = ProgramOf(joint).message();
  REQUIRE_THAT(runtime::LoadedProgram::FromMessage(sound), IsOk());
  using Change = void (*)(program::Program&);
  static const auto kCall = [](program::Program& program) {
    return program.mutable_joint_calls(0);
  };
  const std::pair<Change, const char*> cases[] = {
      {[](auto& p) { kCall(p)->set_other(2); }, "names instruction 2, which is no kernel"},
      {[](auto& p) { kCall(p)->set_product(1); }, "do not follow each other"},
      {[](auto& p) { *p.add_joint_calls() = p.joint_calls(0); },
       "joint call 1: names instruction 0, for which a call stands already"},
      {[](auto& p) { kCall(p)->set_operand(2); }, "sums operand 2, which is not there"},
      {[](auto& p) { kCall(p)->set_operand(0); }, "reads something else than the operand"},
      {[](auto& p) { kCall(p)->set_kind(program::JointCall::ACTIVATION); },
       "reads something else than the result"},
      {[](auto& p) {
         const int sums = p.instructions(1).kernel().function();
         p.mutable_functions(sums)->mutable_definitions(0)->set_reducer(program::MAX);
       },
       "has a second kernel that reduces otherwise than the call"},
      {[](auto& p) { kCall(p)->add_indices(0); }, "names 2 indices for 1 dimensions"},
      {[](auto& p) { kCall(p)->set_indices(0, 0); }, "runs over another part of index 0"},
      {[](auto& p) { kCall(p)->set_indices(0, 7); }, "names index 7, which is none"},
      {[](auto& p) { p.mutable_buffers(3)->set_type(program::F64); }, "results of different types"},
      {[](auto& p) {
         p.add_entries()->set_name("a");
         p.mutable_entries(0)->set_begin(0);
         p.add_entries()->set_name("b");
         p.mutable_entries(1)->set_begin(1);
       },
       "joins instructions of two entries"}};
  for (const auto& [change, cause] : cases) {
    program::Program changed = sound;
    change(changed);
    CHECK_THAT(runtime::LoadedProgram::FromMessage(changed),
               StatusIs(absl::StatusCode::kInvalidArgument, cause));
    CHECK_THAT(runtime::LoadedProgram::FromMessage(changed),
               StatusIs(absl::StatusCode::kInvalidArgument, "joint call "));
  }
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
