// The back end without a GPU, and with one: a kernel in PTX and exchanges on virtual devices.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "runtime/cuda/facts.h"
#include "tests/runtime/program_builder.h"

namespace yuba::test {
namespace {

// y = 2 x + 1 of a vector, by the calling convention of kernel_abi.h. The arguments are the index's
// part, then origin and extent of x and of y.
const char kTwicePlusOne[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry twice_plus_one(.param .u64 buffers, .param .u64 arguments) {
  .reg .b64 %r<20>; .reg .b32 %t<4>; .reg .f32 %f<2>; .reg .pred %p;
  ld.param.u64 %r0, [buffers];    cvta.to.global.u64 %r0, %r0;
  ld.param.u64 %r1, [arguments];  cvta.to.global.u64 %r1, %r1;
  ld.global.u64 %r2, [%r0];       cvta.to.global.u64 %r2, %r2;
  ld.global.u64 %r3, [%r0+8];     cvta.to.global.u64 %r3, %r3;
  ld.global.u64 %r4, [%r1];
  ld.global.u64 %r5, [%r1+8];
  ld.global.u64 %r6, [%r1+16];
  ld.global.u64 %r7, [%r1+32];
  mov.u32 %t0, %ntid.x;  mov.u32 %t1, %ctaid.x;  mov.u32 %t2, %tid.x;  mov.u32 %t3, %nctaid.x;
  mul.wide.u32 %r8, %t1, %t0;  cvt.u64.u32 %r9, %t2;  add.s64 %r8, %r8, %r9;  add.s64 %r8, %r8, %r4;
  mul.wide.u32 %r10, %t3, %t0;
loop:
  setp.ge.s64 %p, %r8, %r5;
  @%p bra done;
  sub.s64 %r11, %r8, %r6;  shl.b64 %r11, %r11, 2;  add.s64 %r11, %r11, %r2;
  sub.s64 %r12, %r8, %r7;  shl.b64 %r12, %r12, 2;  add.s64 %r12, %r12, %r3;
  ld.global.f32 %f0, [%r11];
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  st.global.f32 [%r12], %f0;
  add.s64 %r8, %r8, %r10;
  bra loop;
done:
  ret;
}
)";

constexpr int64_t kLength = 1001;
constexpr int kColumns = 7;

// Each device makes its part of y from its part of x and gathers the whole.
ProgramBuilder TwicePlusOne(int devices) {
  ProgramBuilder builder({devices});
  const std::vector<Box> parts = CutAlong({kLength}, 0, devices);
  const std::vector<Box> whole(devices, WholeBox({kLength}));
  const int x = builder.AddBuffer("x", program::F32, {kLength}, parts);
  const int y = builder.AddBuffer("y", program::F32, {kLength}, parts);
  const int all = builder.AddBuffer("all", program::F32, {kLength}, whole);
  builder.AddInput("x", x);
  builder.AddOutput("y", all);
  program::Kernel* kernel = builder.stage().add_instructions()->mutable_kernel();
  kernel->set_node("y");
  *kernel->add_indices() = builder.BoxTable(parts).dims(0);
  program::Access* access = kernel->add_operands();
  access->set_buffer(x);
  *access->mutable_box() = builder.BoxTable(parts);
  kernel->mutable_result()->set_buffer(y);
  *kernel->mutable_result()->mutable_box() = builder.BoxTable(parts);
  builder.message().add_functions()->set_symbol("twice_plus_one");
  builder.message().set_target("sm_75");
  builder.message().set_ptx(kTwicePlusOne);
  builder.AddExchange(y, all);
  return builder;
}

std::vector<float> Numbers(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) - 40;
  return values;
}

RunOptions OnGpus(bool interleave = false) {
  RunOptions options;
  options.backend = "cuda";
  options.interleave = interleave;
  return options;
}

bool NoGpu() {
  if (FindGpus().ok()) return false;
  WARN("SKIP: " << FindGpus().status().message());
  return true;
}

// What can run here, the host first.
std::vector<std::string> Backends() {
  if (!FindGpus().ok()) return {"host"};
  return {"host", "cuda"};
}

TEST_CASE("Without a GPU the back end says so, and what was found") {
  if (FindGpus().ok()) {
    WARN("SKIP: there is a GPU");
    return;
  }
  const auto session = Session::Open(TwicePlusOne(2).Load(), OnGpus());
  REQUIRE_FALSE(session.ok());
  CHECK(absl::IsUnavailable(session.status()));
  INFO(session.status().message());
  CHECK(absl::StrContains(session.status().message(), "no GPU: "));
}

TEST_CASE("A kernel and a gather on virtual devices of a GPU") {
  if (NoGpu()) return;
  for (int devices : {1, 2, 3}) {
    for (bool interleave : {false, true}) {
      INFO(devices << " devices, interleaved " << interleave);
      auto session = OpenSession(TwicePlusOne(devices).Load(), OnGpus(interleave));
      const std::vector<float> x = Numbers(kLength);
      REQUIRE(session->Set("x", FloatTensor({kLength}, x)).ok());
      for (int step = 0; step < 3; ++step) REQUIRE(session->Step().ok());
      const auto y = session->Get("y");
      REQUIRE(y.ok());
      std::vector<float> expected;
      for (float value : x) expected.push_back(2 * value + 1);
      CHECK(FloatsOf(*y) == expected);
      CHECK(session->statistics().bytes == 3 * (devices - 1) * kLength * 4);
    }
  }
}

// Cut by rows, then by columns, then summed: copies that are rows and that are not, and deliveries.
TEST_CASE("Exchanges on a GPU equal those on the host") {
  const std::vector<int64_t> dims = {6, kColumns, 5};
  for (program::Reducer reducer : {program::SUM, program::MAX, program::PROD}) {
    ProgramBuilder builder({3});
    const std::vector<Box> whole(3, WholeBox(dims));
    const int x = builder.AddBuffer("x", program::F32, dims, CutAlong(dims, 0, 3));
    const int turned = builder.AddBuffer("turned", program::F32, dims, CutAlong(dims, 1, 3));
    const int last = builder.AddBuffer("last", program::F32, dims, CutAlong(dims, 2, 3));
    const int copy = builder.AddBuffer("copy", program::F32, dims, whole);
    const int sum = builder.AddBuffer("sum", program::F32, dims, CutAlong(dims, 1, 3));
    builder.AddInput("x", x);
    builder.AddOutput("copy", copy);
    builder.AddOutput("sum", sum);
    builder.AddExchange(x, turned);
    builder.AddExchange(turned, last);
    builder.AddExchange(last, copy);
    builder.AddDelivery(copy, sum, reducer, 3, {2, 0, 1});
    std::vector<std::vector<float>> found;
    for (const std::string& backend : Backends()) {
      RunOptions options;
      options.backend = backend;
      options.poison = true;
      auto session = OpenSession(builder.Load(), options);
      REQUIRE(session->Set("x", FloatTensor(dims, Numbers(6 * kColumns * 5))).ok());
      REQUIRE(session->Step().ok());
      for (const char* output : {"copy", "sum"}) found.push_back(FloatsOf(*session->Get(output)));
    }
    CHECK(found[0] == Numbers(6 * kColumns * 5));
    for (size_t i = 2; i < found.size(); ++i) CHECK(found[i] == found[i - 2]);
  }
  NoGpu();
}

// result[b, m, n] = sum over k of left[b, m, k] right[b, k, n], cut by k on two devices and summed.
TEST_CASE("Matrix products through cuBLAS equal those of the host") {
  const int64_t batch = 3, m = 5, k = 8, n = 4;
  ProgramBuilder builder({2});
  const std::vector<Box> left_parts = CutAlong({batch, m, k}, 2, 2);
  const std::vector<Box> right_parts = CutAlong({batch, k, n}, 1, 2);
  const std::vector<Box> whole(2, WholeBox({batch, m, n}));
  const int left = builder.AddBuffer("left", program::F32, {batch, m, k}, left_parts);
  const int right = builder.AddBuffer("right", program::F32, {batch, k, n}, right_parts);
  const int made = builder.AddBuffer("made", program::F32, {batch, m, n}, whole);
  const int result = builder.AddBuffer("result", program::F32, {batch, m, n}, whole);
  program::LibraryCall call;
  call.set_left(0);
  call.set_right(1);
  auto add = [](google::protobuf::RepeatedPtrField<program::LibraryIndex>* role, int index,
                int left_dim, int right_dim, int result_dim) {
    program::LibraryIndex* added = role->Add();
    added->set_index(index);
    added->set_left_dim(left_dim);
    added->set_right_dim(right_dim);
    added->set_result_dim(result_dim);
  };
  add(call.mutable_batch(), 0, 0, 0, 0);
  add(call.mutable_rows(), 1, 1, -1, 1);
  add(call.mutable_columns(), 2, -1, 2, 2);
  add(call.mutable_inner(), 3, 2, 1, -1);
  const std::vector<Interval> all_k = {PartOf(k, 2, 0), PartOf(k, 2, 1)};
  builder.AddLibraryKernel(call, {{{0, batch}, {0, batch}}, {{0, m}, {0, m}}, {{0, n}, {0, n}}, all_k},
                           {left, right}, made);
  builder.AddDelivery(made, result, program::SUM, 2, {0, 1});
  builder.AddExchange(result, result)->set_from_first_only(true);
  builder.AddInput("left", left);
  builder.AddInput("right", right);
  builder.AddOutput("result", result);
  auto expected = [&](int64_t b, int64_t row, int64_t column) {
    float sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      sum += Numbers(batch * m * k)[(b * m + row) * k + i] *
             Numbers(batch * k * n)[(b * k + i) * n + column];
    }
    return sum;
  };
  std::vector<std::vector<float>> found;
  for (const std::string& backend : Backends()) {
    RunOptions options;
    options.backend = backend;
    auto session = OpenSession(builder.Load(), options);
    REQUIRE(session->Set("left", FloatTensor({batch, m, k}, Numbers(batch * m * k))).ok());
    REQUIRE(session->Set("right", FloatTensor({batch, k, n}, Numbers(batch * k * n))).ok());
    REQUIRE(session->Step().ok());
    found.push_back(FloatsOf(*session->Get("result")));
    CHECK(session->statistics().library_calls == 2);
  }
  CHECK(found[0][1] == expected(0, 0, 1));
  CHECK(found[0].back() == expected(batch - 1, m - 1, n - 1));
  CHECK(found.back() == found[0]);  // small whole numbers: sums are exact in any order
  NoGpu();
}

}  // namespace
}  // namespace yuba::test
