#include "opsemantics/values/tensor_file.h"

#include <catch2/catch.hpp>

#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

TensorData Sample() {
  TensorData tensor{ElementType::kF32, {2, 3}, ""};
  for (float value : {0.0f, 1.5f, -2.0f, 3.25f, 1e30f, -0.0f}) {
    tensor.data.append(reinterpret_cast<const char*>(&value), 4);
  }
  return tensor;
}

void Same(const TensorData& a, const TensorData& b) {
  CHECK(a.type == b.type);
  CHECK(a.dims == b.dims);
  CHECK(a.data == b.data);
}

TEST_CASE("tensors survive .npy and .pb") {
  Same(ParseNpy(FormatNpy(Sample())).value(), Sample());
  Same(ParseTensorProto(FormatTensorProto("x", Sample())).value(), Sample());
  const TensorData scalar{ElementType::kI64, {}, std::string("\x07\0\0\0\0\0\0\0", 8)};
  Same(ParseNpy(FormatNpy(scalar)).value(), scalar);
  Same(ParseTensorProto(FormatTensorProto("", scalar)).value(), scalar);
}

TEST_CASE("bf16 is written to .npy as f32 of the same value") {
  const TensorData half{ElementType::kBF16, {1}, std::string("\xc0\x3f", 2)};  // 1.5
  const TensorData wide = ParseNpy(FormatNpy(half)).value();
  float value = 0;
  memcpy(&value, wide.data.data(), 4);
  CHECK(value == 1.5f);
}

TEST_CASE("safetensors are read by name") {
  const std::string header =
      R"({"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  bytes += header + std::string(8, '\1');
  const auto tensors = ParseSafetensors(bytes).value();
  REQUIRE(tensors.size() == 1);
  CHECK(tensors.at("w").dims == std::vector<int64_t>{2});
  CHECK_THAT(ParseSafetensors(bytes.substr(0, bytes.size() - 1)),
             StatusIs(absl::StatusCode::kInvalidArgument, "w: data_offsets [0, 8) do not fit"));
}

TEST_CASE("damaged tensor files are refused or read, never a crash") {
  const std::string npy = FormatNpy(Sample()), proto = FormatTensorProto("x", Sample());
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    for (const auto& tensor :
         {ParseNpy(MutateBytes(npy, random)), ParseTensorProto(MutateBytes(proto, random))}) {
      if (!tensor.ok()) continue;
      CHECK(ElementsOf(tensor->dims).value() * ByteSize(tensor->type) ==
            static_cast<int64_t>(tensor->data.size()));
    }
  }
}

}  // namespace
}  // namespace yuba
