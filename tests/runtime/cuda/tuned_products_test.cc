// Products by a tuning on fake GPUs: timed once, kept, taken again, and never an algorithm that a
// run may not have.

#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <random>
#include <sstream>

#include "runtime/cuda/library/cublas_lt_tuner.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

constexpr int kFirst = 70, kBest = 76;  // of the fake's algorithms

const ProductOrder kOrder = {};

// What is written to stderr while it lives.
class Stderr {
 public:
  Stderr() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Stderr() { std::cerr.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* const before_;
};

runtime::RunOptions TunedBy(std::shared_ptr<Tuning> tuning) {
  runtime::RunOptions options = OnCuda();
  options.cuda.tuning = std::move(tuning);
  return options;
}

std::shared_ptr<Tuning> Again(const Tuning& tuning) {
  absl::StatusOr<std::shared_ptr<Tuning>> read = Tuning::Parse(tuning.Format());
  REQUIRE_THAT(read, IsOk());
  return *read;
}

// Sums of these depend on their order.
std::vector<float> Uneven(int64_t count) {
  std::mt19937 random(5);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-32F - 0.5F;
  return values;
}

// The bits of a step of the product. Counts of the fakes are those of the step alone.
std::string Multiplied(std::shared_ptr<Tuning> tuning, const ProductOrder& order = kOrder) {
  auto session = runtime::OpenSession(HalvedProduct(order).Load(), TunedBy(std::move(tuning)));
  Fake().products_by.clear();
  for (const char* name : {"left", "right"}) {
    const std::vector<int64_t> dims =
        ProductDims(name == std::string("left") ? order.left : order.right);
    const TensorData value = runtime::FloatTensor(dims, Uneven(Volume(WholeBox(dims))));
    REQUIRE_THAT(session->Set(name, value), IsOk());
  }
  REQUIRE_THAT(session->Step(), IsOk());
  return session->Get("result")->data;
}

std::shared_ptr<Tuning> Tuned() {
  auto tuning = std::make_shared<Tuning>();
  Multiplied(tuning);
  return Again(*tuning);
}

TEST_CASE("The fastest algorithm that a run may have is timed once, kept, and taken") {
  OnFakes fakes(1);
  const std::string untuned = Multiplied(nullptr);
  CHECK(Fake().products_by == std::map<int, int64_t>{{kFirst, 2}});
  auto tuning = std::make_shared<Tuning>();
  const std::string tuned = Multiplied(tuning);
  CHECK(Fake().products_by == std::map<int, int64_t>{{kBest, 2}});
  CHECK(tuned != untuned);
  REQUIRE(tuning->entries().size() == 1);  // both devices have the same product
  CHECK(tuning->added().size() == 1);
  const auto& [call, entry] = *tuning->entries().begin();
  CHECK(call.gpu == "fake GPU");
  CHECK(call.sm == 80);
  CHECK_THAT(call.library, Catch::StartsWith("cuBLASLt "));
  CHECK_THAT(call.call, Catch::StartsWith("f32 m="));
  CHECK(entry.algorithm.id == kBest);
  CHECK(entry.algorithm.split_k == 2);
  CHECK(entry.microseconds == 7);
  CHECK(entry.heuristics_microseconds == 10);

  const std::shared_ptr<Tuning> kept = Again(*tuning);
  const int64_t before = Fake().products;
  CHECK(Multiplied(kept) == tuned);
  CHECK(Fake().products - before == 2);  // nothing was timed
  CHECK(kept->added().empty());
  CHECK(kept->used().size() == 1);
  CHECK(kept->Format() == tuning->Format());
  CHECK(kept->Choices() == tuning->Choices());
}

TEST_CASE("Products of each layout are timed in memory of their own") {
  for (const ProductOrder& order :
       {ProductOrder{"bmk", "bkn", "bmn"}, ProductOrder{"mkb", "nkb", "mnb"},
        ProductOrder{"bmkj", "bjkn", "bmn"}, ProductOrder{"mbk", "knb", "bnm"}}) {
    OnFakes fakes(1);
    INFO(order.left << " " << order.right << " " << order.result);
    auto tuning = std::make_shared<Tuning>();
    const std::string tuned = Multiplied(tuning, order);
    CHECK(tuning->entries().size() == 1);
    CHECK(Fake().products_by.size() == 1);
    CHECK(Fake().products_by.count(kBest) == 1);
    CHECK(Multiplied(Again(*tuning), order) == tuned);
  }
}

TEST_CASE("Entries of other GPUs and versions stay, and are not taken") {
  OnFakes fakes(1);
  const std::shared_ptr<Tuning> own = Tuned();
  auto others = std::make_shared<Tuning>();
  for (const int change : {0, 1, 2}) {
    TunedCall call = own->entries().begin()->first;
    TunedEntry entry = own->entries().begin()->second;
    if (change == 0) call.gpu = "another GPU";
    if (change == 1) call.sm = 90;
    if (change == 2) call.library += "1";
    entry.algorithm.id = kFirst;
    entry.microseconds = 0.25;
    others->Add(call, entry);
  }
  const std::shared_ptr<Tuning> tuning = Again(*others);
  Multiplied(tuning);
  CHECK(Fake().products_by == std::map<int, int64_t>{{kBest, 2}});
  REQUIRE(tuning->entries().size() == 4);
  CHECK(*tuning->used().begin() == own->entries().begin()->first);
  for (const auto& [call, entry] : others->entries()) {
    CHECK(tuning->Find(call)->algorithm == entry.algorithm);
    CHECK(tuning->Find(call)->microseconds == 0.25);
  }
}

TEST_CASE("An algorithm that the library does not have any more is not taken, with a line") {
  OnFakes fakes(1);
  const std::string untuned = Multiplied(nullptr);
  const std::shared_ptr<Tuning> tuning = Tuned();
  Fake().refused_algorithm = kBest;
  const int64_t before = Fake().products;
  const Stderr notes;
  CHECK(Multiplied(tuning) == untuned);
  CHECK(Fake().products - before == 2);
  CHECK(Fake().products_by == std::map<int, int64_t>{{kFirst, 2}});
  CHECK_THAT(notes.text(),
             Catch::StartsWith("note: the library refuses the tuning's algorithm of f32 m=") &&
                 Catch::Contains("heuristics choose, as without --tune"));
  const std::string text = notes.text();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(tuning->entries().size() == 1);
  CHECK(tuning->Choices().begin()->second == kByHeuristics);
}

TEST_CASE("Where products cannot be timed for lack of memory the heuristics choose, with a line") {
  OnFakes fakes(1);
  const std::string untuned = Multiplied(nullptr);
  Fake().memory = 16 << 20;  // less than the workspace that is allowed
  const Stderr notes;
  auto tuning = std::make_shared<Tuning>();
  CHECK(Multiplied(tuning) == untuned);
  CHECK(tuning->entries().empty());
  CHECK(tuning->skipped().size() == 1);
  CHECK_THAT(notes.text(),
             Catch::StartsWith("note: the tuning cannot have an algorithm of f32 m=") &&
                 Catch::Contains("out of memory"));
}

TEST_CASE("Workspaces of a tuning count before memory is allocated") {
  OnFakes fakes(1);
  const std::shared_ptr<Tuning> tuning = Tuned();
  Fake().most_allocated = 0;
  runtime::ProgramBuilder builder = HalvedProduct(kOrder);
  Fake().memory = 2 * builder.message().arena_size() + 2 * 1000;  // the best takes 1,024
  const auto session = runtime::Session::Open(builder.Load(), TunedBy(tuning));
  CHECK_THAT(session, StatusIs(absl::StatusCode::kResourceExhausted, "for libraries"));
  CHECK(Fake().most_allocated == 0);
}

TEST_CASE("Nothing is timed where it could not be kept") {
  OnFakes fakes(1);
  auto tuning = std::make_shared<Tuning>();
  tuning->SetWritable(absl::InvalidArgumentError("t.json: cannot be written"));
  const auto session = runtime::Session::Open(HalvedProduct(kOrder).Load(), TunedBy(tuning));
  CHECK_THAT(session, StatusIs(absl::StatusCode::kInvalidArgument, "t.json: cannot be written"));
  CHECK(Fake().products == 0);
  const std::shared_ptr<Tuning> complete = Tuned();
  complete->SetWritable(absl::InvalidArgumentError("t.json: cannot be written"));
  CHECK_THAT(runtime::Session::Open(HalvedProduct(kOrder).Load(), TunedBy(complete)), IsOk());
}

TEST_CASE("A GPU that hangs while products are timed ends the run") {
  OnFakes fakes(1);
  fakes.AllowLeaks();
  Fake().hanging_gpu = 0;
  runtime::RunOptions options = TunedBy(std::make_shared<Tuning>());
  options.timeout_seconds = 0.1;
  const auto session = runtime::Session::Open(HalvedProduct(kOrder).Load(), options);
  CHECK_THAT(session, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               "device 0: a product that is timed has not ended for 0.1 s"));
}

TEST_CASE("A library that is missing leaves generated code, and nothing to tune") {
  OnFakes fakes(1);
  Fake().libraries_refuse = true;
  const Stderr warnings;
  auto tuning = std::make_shared<Tuning>();
  CHECK_THAT(runtime::Session::Open(HalvedProduct(kOrder).Load(), TunedBy(tuning)),
             StatusIs(absl::StatusCode::kUnimplemented, "instruction 0"));
  CHECK(tuning->entries().empty());
}

TEST_CASE("The text of a call has all that algorithms are chosen by") {
  LtShape shape;
  shape.m = 512;
  shape.n = 768;
  shape.k = 64;
  shape.a.layout.leading = 64;
  shape.a.alignment = 256;
  shape.b.layout.leading = 70;
  shape.b.layout.transposed = true;
  shape.d.layout.leading = 800;
  shape.d.alignment = 16;
  CHECK(CallText(shape) == "f32 m=512 n=768 k=64 a=64@256 b=70t@1 d=800@16");
  shape.tf32 = true;
  shape.batch = 12;
  shape.a.batch_step = 5;
  shape.bias = LtShape::Bias{9, 8};
  shape.residual = shape.d;
  shape.residual->layout.leading = 900;
  shape.activation = LtEpilogue::kGeluTanh;
  CHECK(CallText(shape) ==
        "f32 tf32 m=512 n=768 k=64 batch=12 a=64+5@256 b=70t+0@1 d=800+0@16 c=900+0@16 bias+9@8 "
        "gelu_tanh");
  shape.type = ElementType::kBF16;
  shape.activation = LtEpilogue::kRelu;
  CHECK_THAT(CallText(shape), Catch::StartsWith("bf16->f32 m=") && Catch::EndsWith(" relu"));
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
