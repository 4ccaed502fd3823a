// The back end without a GPU, and with one: a kernel in PTX, exchanges and matrix products on
// virtual devices. The same cases run on the fake GPUs of fake_cuda.h.
#include <catch2/catch.hpp>
#include <map>

#include "absl/strings/match.h"
#include "opsemantics/base/half.h"
#include "runtime/cuda/facts.h"
#include "runtime/program/enums.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

runtime::RunOptions OnGpus(bool interleave = false) {
  runtime::RunOptions options;
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
  const auto session = runtime::Session::Open(TwicePlusOne(2).Load(), OnGpus());
  CHECK_THAT(session, StatusIs(absl::StatusCode::kUnavailable, "no GPU: "));
}

TEST_CASE("Kernels and gathers on virtual devices of a GPU") {
  if (NoGpu()) return;
  for (int devices : {1, 2, 3}) {
    for (bool interleave : {false, true}) {
      INFO(devices << " devices, interleaved " << interleave);
      auto session = runtime::OpenSession(TwicePlusOne(devices).Load(), OnGpus(interleave));
      const std::vector<float> x = WholeNumbers(kVectorLength);
      REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
      for (int step = 0; step < 3; ++step) REQUIRE_THAT(session->Step(), IsOk());
      std::vector<float> y, z;
      for (float value : x) y.push_back(2 * value + 1);
      for (float value : y) z.push_back(2 * value + 1);
      CHECK(runtime::FloatsOf(*session->Get("y")) == y);
      CHECK(runtime::FloatsOf(*session->Get("z")) == z);
      CHECK(session->statistics().bytes == 3 * 2 * (devices - 1) * kVectorLength * 4);
    }
  }
}

TEST_CASE("Exchanges on a GPU equal those on the host") {
  for (program::Reducer reducer : {program::SUM, program::MAX, program::PROD}) {
    const auto loaded = Turns(reducer).Load();
    std::vector<std::vector<float>> found;
    for (const std::string& backend : Backends()) {
      runtime::RunOptions options;
      options.backend = backend;
      options.poison = true;
      auto session = runtime::OpenSession(loaded, options);
      REQUIRE_THAT(
          session->Set("x", runtime::FloatTensor(kTurnedDims, WholeNumbers(kTurnedElements))),
          IsOk());
      REQUIRE_THAT(session->Step(), IsOk());
      for (const char* output : {"copy", "combined"})
        found.push_back(runtime::FloatsOf(*session->Get(output)));
    }
    CHECK(found[0] == WholeNumbers(kTurnedElements));
    for (size_t i = 2; i < found.size(); ++i) CHECK(found[i] == found[i - 2]);
  }
  NoGpu();
}

// The tensor's elements by the position of each letter.
float At(const std::vector<float>& values, const std::string& letters,
         const std::map<char, int64_t>& positions) {
  const std::vector<int64_t> dims = ProductDims(letters);
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset = offset * dims[d] + positions.at(letters[d]);
  return values[offset];
}

// In the orders of memory that follow, operands are plain, transposed, and of no unit stride.
TEST_CASE("Matrix products through cuBLAS are the sums, as on the host") {
  const std::vector<ProductOrder> orders = {
      {"bmk", "bkn", "bmn"}, {"bkm", "bnk", "bmn"}, {"bmk", "bkn", "bnm"}, {"mkb", "bkn", "bmn"},
      {"bmk", "knb", "bmn"}, {"mkb", "nkb", "mnb"}, {"mbk", "kbn", "mbn"}};
  for (const ProductOrder& order : orders) {
    INFO(order.left << " " << order.right << " " << order.result);
    const Box points = WholeBox(ProductDims(order.result));
    const int64_t depth = ProductDims("k")[0];
    const std::vector<float> left = WholeNumbers(Volume(WholeBox(ProductDims(order.left))));
    const std::vector<float> right = WholeNumbers(Volume(WholeBox(ProductDims(order.right))));
    std::vector<float> expected;
    ForEachPoint(points, [&](const std::vector<int64_t>& point) {
      std::map<char, int64_t> positions;
      for (int d = 0; d < 3; ++d) positions[order.result[d]] = point[d];
      float sum = 0;  // exact, in any order
      for (positions['k'] = 0; positions['k'] < depth; ++positions['k']) {
        sum += At(left, order.left, positions) * At(right, order.right, positions);
      }
      expected.push_back(sum);
    });
    for (const std::string& backend : Backends()) {
      runtime::RunOptions options;
      options.backend = backend;
      auto session = runtime::OpenSession(HalvedProduct(order).Load(), options);
      REQUIRE_THAT(session->Set("left", runtime::FloatTensor(ProductDims(order.left), left)),
                   IsOk());
      REQUIRE_THAT(session->Set("right", runtime::FloatTensor(ProductDims(order.right), right)),
                   IsOk());
      REQUIRE_THAT(session->Step(), IsOk());
      CHECK(runtime::FloatsOf(*session->Get("result")) == expected);
      CHECK(session->statistics().library_calls == 2);
    }
  }
  NoGpu();
}

std::string Encoded(program::ElementType type, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const uint16_t half = type == program::BF16 ? ToBF16(value) : ToF16(value);
    bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return bytes;
}

// What is made of each half of k is kept in f32 or rounded; a second inner index, which is added up
// by one call after the other, is not rounded in between.
TEST_CASE("Matrix products of small floats through cuBLAS are the host's") {
  for (const program::ElementType type : {program::BF16, program::F16}) {
    for (const program::ElementType made : {program::F32, type}) {
      for (const ProductOrder& order : {ProductOrder{"bmk", "bkn", "bmn", type, made},
                                        ProductOrder{"bkm", "bnk", "bnm", type, made},
                                        ProductOrder{"mkb", "knb", "mnb", type, made},
                                        ProductOrder{"bmkj", "bjkn", "bmn", type, made}}) {
        INFO(order.left << " " << order.right << " " << order.result << " " << type << " " << made);
        std::vector<std::string> found;
        for (const std::string& backend : Backends()) {
          runtime::RunOptions options;
          options.backend = backend;
          auto session = runtime::OpenSession(HalvedProduct(order).Load(), options);
          for (const char* name : {"left", "right"}) {
            const std::vector<int64_t> dims =
                ProductDims(name == std::string("left") ? order.left : order.right);
            std::vector<float> values = WholeNumbers(Volume(WholeBox(dims)));
            for (float& value : values) value += 0.125f;  // so that sums are rounded
            REQUIRE_THAT(session->Set(name, {FromProto(type), dims, Encoded(type, values)}),
                         IsOk());
          }
          REQUIRE_THAT(session->Step(), IsOk());
          found.push_back(session->Get("result")->data);
          CHECK(session->statistics().library_calls == 2);
        }
        for (const std::string& other : found) CHECK(other == found[0]);
      }
    }
  }
  NoGpu();
}

}  // namespace
}  // namespace yuba::cuda
