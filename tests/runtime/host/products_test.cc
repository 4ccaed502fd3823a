// Library products that are large enough for tiles and threads, in every element type, as they lie
// and transposed, against sums written out. Values are small integers, so that f32 is exact in any
// order, and a small float is the rounded sum.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <vector>

#include "opsemantics/base/half.h"
#include "runtime/program/enums.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

std::string Encoded(program::ElementType type, const std::vector<float>& values) {
  std::string bytes;
  for (float value : values) {
    const uint16_t half = type == program::BF16 ? ToBF16(value) : ToF16(value);
    if (type == program::F32)
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return bytes;
}

// y[b, m, n] = sum(k) l[b, m, k] r[b, k, n]; each tensor's dimensions in the order of its letters.
struct Product {
  int64_t b, m, n, k;
  std::string left, right, result;  // "bmk", "mbk", ...
  program::ElementType type, result_type;

  int64_t Extent(char letter) const {
    return letter == 'b' ? b : letter == 'm' ? m : letter == 'n' ? n : k;
  }
  std::vector<int64_t> Dims(const std::string& letters) const {
    std::vector<int64_t> dims;
    for (char letter : letters) dims.push_back(Extent(letter));
    return dims;
  }
  int64_t Step(const std::string& letters, char letter) const {
    int64_t step = 1;
    for (size_t d = letters.size(); d-- > 0;) {
      if (letters[d] == letter) return step;
      step *= Extent(letters[d]);
    }
    return 0;
  }
  int64_t Size(const std::string& letters) const { return CheckedVolume(Dims(letters)); }
  static int64_t CheckedVolume(const std::vector<int64_t>& dims) {
    int64_t volume = 1;
    for (int64_t dim : dims) volume *= dim;
    return volume;
  }
};

std::vector<float> Expected(const Product& p, const std::vector<float>& left,
                            const std::vector<float>& right) {
  std::vector<float> result(p.Size(p.result));
  for (int64_t b = 0; b < p.b; ++b) {
    for (int64_t m = 0; m < p.m; ++m) {
      for (int64_t n = 0; n < p.n; ++n) {
        const float* l = &left[b * p.Step(p.left, 'b') + m * p.Step(p.left, 'm')];
        const float* r = &right[b * p.Step(p.right, 'b') + n * p.Step(p.right, 'n')];
        float sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          sum += l[k * p.Step(p.left, 'k')] * r[k * p.Step(p.right, 'k')];
        }
        result[b * p.Step(p.result, 'b') + m * p.Step(p.result, 'm') + n * p.Step(p.result, 'n')] =
            sum;
      }
    }
  }
  return result;
}

std::string Run(const Product& p, const std::string& left, const std::string& right, int threads) {
  ProgramBuilder builder({1});
  std::vector<int> buffers;
  const auto add = [&](const std::string& letters, program::ElementType type) {
    buffers.push_back(
        builder.AddBuffer(letters, type, p.Dims(letters), {WholeBox(p.Dims(letters))}));
  };
  add(p.left, p.type);
  add(p.right, p.type);
  add(p.result, p.result_type);
  for (int operand : {0, 1}) builder.message().mutable_buffers(operand)->set_initialized(true);
  program::LibraryCall call;
  call.set_right(1);
  std::vector<std::vector<Interval>> indices;
  const auto position = [](const std::string& letters, char letter) {
    const size_t found = letters.find(letter);
    return found == std::string::npos ? -1 : static_cast<int>(found);
  };
  const std::vector<std::pair<char, google::protobuf::RepeatedPtrField<program::LibraryIndex>*>>
      roles = {{'b', call.mutable_batch()},
               {'m', call.mutable_rows()},
               {'n', call.mutable_columns()},
               {'k', call.mutable_inner()}};
  for (const auto& [letter, role] : roles) {
    program::LibraryIndex* index = role->Add();
    index->set_index(static_cast<int>(indices.size()));
    index->set_left_dim(position(p.left, letter));
    index->set_right_dim(position(p.right, letter));
    index->set_result_dim(position(p.result, letter));
    indices.push_back({{0, p.Extent(letter)}});
  }
  builder.AddLibraryKernel(call, indices, {buffers[0], buffers[1]}, buffers[2]);
  RunOptions options;
  options.threads_per_device = threads;
  options.guards = true;
  auto session = OpenSession(builder.Load(), options);
  const ArenaLayout layout = SpreadLayout(session->program());
  Device& device = *session->fleet().devices[0];
  REQUIRE_THAT(device.Write(layout.offsets[0], left.data(), left.size()), IsOk());
  REQUIRE_THAT(device.Write(layout.offsets[1], right.data(), right.size()), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(session->statistics().library_calls == 1);
  CHECK(session->statistics().threads_per_device == threads);
  std::string result(p.Size(p.result) * ByteSize(FromProto(p.result_type)), 0);
  REQUIRE_THAT(device.Read(layout.offsets[2], &result[0], result.size()), IsOk());
  return result;
}

void Check(const Product& p) {
  INFO(p.left << " " << p.right << " " << p.result << ", " << p.b << " " << p.m << " " << p.n << " "
              << p.k << ", type " << p.type << " into " << p.result_type);
  std::mt19937 random(7);
  const auto values = [&](const std::string& letters) {
    std::vector<float> made(p.Size(letters));
    for (float& value : made) value = static_cast<float>(static_cast<int>(random() % 7) - 3);
    return made;
  };
  const std::vector<float> left = values(p.left), right = values(p.right);
  const std::string expected = Encoded(p.result_type, Expected(p, left, right));
  // Sanitizers do not know the library's own threads: they set one (.bazelrc).
  const char* const set = std::getenv("OMP_NUM_THREADS");
  const int most = set != nullptr && std::string(set) == "1" ? 1 : 3;
  for (int threads = 1; threads <= most; ++threads) {
    CHECK(Run(p, Encoded(p.type, left), Encoded(p.type, right), threads) == expected);
  }
}

TEST_CASE("products of every type, as they lie and transposed, on any number of threads") {
  const std::vector<std::pair<program::ElementType, program::ElementType>> types = {
      {program::F32, program::F32},
      {program::BF16, program::BF16},
      {program::BF16, program::F32},
      {program::F16, program::F16},
      {program::F16, program::F32}};
  for (const auto& [type, result_type] : types) {
    Check({3, 130, 300, 40, "bmk", "bkn", "bmn", type, result_type});
    Check({3, 130, 300, 40, "kbm", "nbk", "nmb", type, result_type});
    Check({1, 1, 2000, 700, "bmk", "bnk", "bmn", type, result_type});
    Check({2, 7, 5, 3, "mbk", "kbn", "mbn", type, result_type});
  }
}

TEST_CASE("products of several blocks of rows and panels of columns") {
  // 3,000 long sums leave blocks of 349 rows and panels of 80 columns.
  Check({1, 400, 150, 3000, "bmk", "bkn", "bmn", program::BF16, program::BF16});
  Check({1, 400, 150, 3000, "bkm", "bnk", "bmn", program::F16, program::F16});
}

}  // namespace
}  // namespace yuba::runtime
