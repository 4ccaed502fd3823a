// What attention of a program is in the terms of a library routine: extents, strides and first
// elements on each device, masks and biases, and what has no such terms.
#include "runtime/attention_geometry.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "opsemantics/base/box.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

using program::Attention;

// Attention on two devices, each tensor as its dimensions, outermost first: b examples, h heads, i
// queries, j keys, and c and e elements of queries and values; g are heads that share keys. The
// devices share out `cut`.
struct Layouts {
  std::string queries = "bihc", keys = "bjhc", values = "bjhe", scores = "bhij", result = "bihe";
  char cut = 'h';
  std::map<char, int64_t> extents = {{'b', 4},  {'h', 6}, {'g', 2}, {'i', 16},
                                     {'j', 10}, {'c', 8}, {'e', 24}};
};

class Made {
 public:
  explicit Made(const Layouts& layouts) : layouts_(layouts), builder_({2}) {
    for (const auto& [name, dims] :
         {std::make_pair("q", layouts.queries), {"k", layouts.keys}, {"v", layouts.values}}) {
      builder_.AddInput(name, Buffer(name, dims, program::BF16));
    }
    const int scores = Buffer("s", layouts.scores, program::BF16),
              result = Buffer("o", layouts.result, program::BF16);
    Multiply(0, layouts.queries, 1, layouts.keys, scores, layouts.scores, 0);
    Multiply(scores, layouts.scores, 2, layouts.values, result, layouts.result, 1);
    attention().set_forward_end(2);
    attention().set_scale(0.5);
  }

  // A causal mask in which query i sees keys to i + offset.
  void Mask(int64_t offset) {
    attention().set_causal(true);
    attention().set_query_index(ScoreIndex('i'));
    attention().set_key_index(ScoreIndex('j'));
    attention().set_offset(offset);
    attention().set_hidden(-1e30);
  }
  void Bias(const std::string& dims) {
    const int bias = Buffer("bias", dims, program::F32);
    builder_.AddInput("bias", bias);
    attention().set_has_bias(true);
    attention().set_bias(bias);
    for (const char dim : dims) attention().add_bias_indices(ScoreIndex(dim));
  }

  absl::StatusOr<AttentionGeometry> On(int device) const {
    const auto loaded = builder_.Load();
    return GeometryOf(*loaded, loaded->message().attention(0), device);
  }

 private:
  Attention& attention() {
    program::Program& message = builder_.message();
    return message.attention().empty() ? *message.add_attention() : *message.mutable_attention(0);
  }
  std::vector<int64_t> Extents(const std::string& dims) const {
    std::vector<int64_t> extents;
    for (const char dim : dims) extents.push_back(layouts_.extents.at(dim));
    return extents;
  }
  Interval On(char dim, int device) const {
    const int64_t extent = layouts_.extents.at(dim);
    return dim == layouts_.cut ? PartOf(extent, 2, device) : Interval{0, extent};
  }
  int Buffer(const std::string& name, const std::string& dims, program::ElementType type) {
    std::vector<Box> boxes(2);
    for (int device : {0, 1}) {
      for (const char dim : dims) boxes[device].push_back(On(dim, device));
    }
    return builder_.AddBuffer(name, type, Extents(dims), boxes);
  }
  int ScoreIndex(char dim) const {
    const size_t at = score_indices_.find(dim);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }

  // left * right, summed over what the result lacks.
  void Multiply(int left, const std::string& l, int right, const std::string& r, int result,
                const std::string& to, int factor) {
    program::LibraryCall call;
    call.set_right(1);
    const auto dim_in = [](const std::string& dims, char dim) {
      const size_t at = dims.find(dim);
      return at == std::string::npos ? -1 : static_cast<int>(at);
    };
    std::string letters = to;
    for (const char dim : l) {
      if (dim_in(to, dim) < 0) letters += dim;
    }
    if (score_indices_.empty()) score_indices_ = letters;
    program::AttentionProduct& product = *attention().add_products();
    product.set_instruction(builder_.message().instructions_size());
    product.set_factor(factor);
    std::vector<std::vector<Interval>> indices;
    for (const char dim : letters) {
      const int in_left = dim_in(l, dim), in_right = dim_in(r, dim), in_result = dim_in(to, dim);
      program::LibraryIndex& index = *(in_result < 0  ? call.add_inner()
                                       : in_left < 0  ? call.add_columns()
                                       : in_right < 0 ? call.add_rows()
                                                      : call.add_batch());
      index.set_index(static_cast<int>(indices.size()));
      index.set_left_dim(in_left);
      index.set_right_dim(in_right);
      index.set_result_dim(in_result);
      product.add_indices(dim == 'c' || dim == 'e' ? -1 : ScoreIndex(dim));
      indices.push_back({On(dim, 0), On(dim, 1)});
    }
    builder_.AddLibraryKernel(call, indices, {left, right}, result);
  }

  const Layouts layouts_;
  ProgramBuilder builder_;
  std::string score_indices_;
};

using Strides = std::array<int64_t, 4>;

const AttentionPlace& PlaceOf(const AttentionGeometry& geometry, AttentionTensor tensor) {
  return geometry.tensors[static_cast<size_t>(tensor)];
}

TEST_CASE("heads that devices share out, of tensors of any order") {
  Layouts layouts;
  layouts.values = "jbhe";
  for (const int device : {0, 1}) {
    const auto geometry = Made(layouts).On(device);
    REQUIRE_THAT(geometry, IsOk());
    CHECK_FALSE(geometry->nothing);
    CHECK(geometry->type == ElementType::kBF16);
    CHECK(geometry->batch == 4);
    CHECK(geometry->heads == 3);
    CHECK(geometry->key_heads == 3);
    CHECK(geometry->queries == 16);
    CHECK(geometry->keys == 10);
    CHECK(geometry->width == 8);
    CHECK(geometry->value_width == 24);
    CHECK(geometry->scale == 0.5);
    CHECK_FALSE(geometry->causal);
    // Each device has its three heads alone, from the first element of its buffers on.
    const AttentionPlace& query = PlaceOf(*geometry, AttentionTensor::kQuery);
    CHECK(query.buffer == 0);
    CHECK(query.first == 0);
    CHECK(query.strides == Strides{16 * 3 * 8, 8, 3 * 8, 1});
    CHECK(PlaceOf(*geometry, AttentionTensor::kKey).strides == Strides{10 * 3 * 8, 8, 3 * 8, 1});
    const AttentionPlace& value = PlaceOf(*geometry, AttentionTensor::kValue);
    CHECK(value.buffer == 2);
    CHECK(value.strides == Strides{3 * 24, 24, 4 * 3 * 24, 1});
    CHECK(PlaceOf(*geometry, AttentionTensor::kResult).buffer == 4);
    CHECK(PlaceOf(*geometry, AttentionTensor::kResult).strides ==
          Strides{16 * 3 * 24, 24, 3 * 24, 1});
    CHECK(PlaceOf(*geometry, AttentionTensor::kResultGradient).buffer == -1);
  }
}

TEST_CASE("queries that devices share out see keys by their own numbers") {
  Layouts layouts;
  layouts.cut = 'i';
  Made made(layouts);
  made.Mask(-2);
  for (const int device : {0, 1}) {
    const auto geometry = made.On(device);
    REQUIRE_THAT(geometry, IsOk());
    CHECK(geometry->queries == 8);
    CHECK(geometry->causal);
    CHECK(geometry->hidden == -1e30);
    CHECK(geometry->offset == (device == 0 ? -2 : 6));
  }
}

TEST_CASE("heads that share keys are the inner ones") {
  Layouts layouts;
  layouts.queries = "bihgc";
  layouts.scores = "bhgij";
  layouts.result = "bihge";
  Made made(layouts);
  made.Mask(0);
  const auto geometry = made.On(0);
  REQUIRE_THAT(geometry, IsOk());
  CHECK(geometry->heads == 6);
  CHECK(geometry->key_heads == 3);
  CHECK(PlaceOf(*geometry, AttentionTensor::kQuery).strides == Strides{16 * 3 * 2 * 8, 8, 48, 1});
  CHECK(PlaceOf(*geometry, AttentionTensor::kKey).strides == Strides{10 * 3 * 8, 8, 24, 1});
}

TEST_CASE("a bias has strides where it has dimensions") {
  Layouts layouts;
  layouts.cut = 'b';
  Made made(layouts);
  made.Bias("hij");
  const auto geometry = made.On(1);
  REQUIRE_THAT(geometry, IsOk());
  CHECK(geometry->bias.buffer == 5);
  CHECK(geometry->bias_type == ElementType::kF32);
  CHECK(geometry->bias.strides == Strides{0, 16 * 10, 10, 1});
}

TEST_CASE("a device without examples computes nothing of it") {
  Layouts layouts;
  layouts.cut = 'b';
  layouts.extents['b'] = 1;
  const Made made(layouts);
  CHECK(made.On(0)->nothing);
  CHECK_FALSE(made.On(1)->nothing);
}

TEST_CASE("what does not lie one in the other is no attention of a library") {
  const auto lacks = [](const char* part) {
    return StatusIs(absl::StatusCode::kUnimplemented, part);
  };
  Layouts apart;  // heads that share keys lie apart from the others
  apart.queries = "gbihc";
  apart.scores = "bhgij";
  apart.result = "bihge";
  Made made(apart);
  made.Mask(0);
  CHECK_THAT(made.On(0), lacks("heads or positions of attention do not lie one in the other"));
  Layouts turned;
  turned.keys = "bhcj";
  CHECK_THAT(Made(turned).On(0), lacks("elements of a query or value are not neighbours"));
}

}  // namespace
}  // namespace yuba::runtime
