// DLRM (Naumov et al. 2019): numbers through an MLP, categories through tables, products of all
// pairs, an MLP over them. Its output is a probability. Tables have as many rows as those of the
// Criteo terabyte data, but at most --rows.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kNumbers = 13;  // of a sample, beside its categories
// Categories of each column of the data.
constexpr int64_t kRows[] = {39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
                             38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
                             14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};
constexpr int64_t kColumns = sizeof(kRows) / sizeof(kRows[0]);

Value DenseLayer(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width) {
  const double in = static_cast<double>(x.dims[1]), out = static_cast<double>(width);
  return Linear(builder, name, x,
                {width, Normal(std::sqrt(2 / (in + out))), Normal(std::sqrt(1 / out))});
}

Value Mlp(GraphBuilder& builder, const std::string& name, Value x, const Dims& widths) {
  const Scope scope(builder, name);
  for (size_t layer = 0; layer < widths.size(); ++layer)
    x = Unary(builder, "Relu", DenseLayer(builder, absl::StrCat(layer), x, widths[layer]));
  return x;
}

// The row of each table that the sample names.
std::vector<Value> Rows(GraphBuilder& builder, const Value& categories, int64_t most,
                        int64_t width) {
  std::vector<Value> rows;
  for (int64_t column = 0; column < categories.dims[1]; ++column) {
    const Value ids = builder.Apply("Gather", {categories, builder.Integer(column)},
                                    {categories.dims[0]}, {{"axis", 1}});
    const int64_t count = std::min(most, kRows[column % kColumns]);
    const Draw draw = Uniform(1 / std::sqrt(static_cast<double>(count)));
    rows.push_back(Embedding(builder, absl::StrCat("tables.", column), ids, count, width, draw));
  }
  return rows;
}

// The products of all pairs of vectors, [batch, pairs].
Value Products(GraphBuilder& builder, const std::vector<Value>& vectors) {
  const int64_t batch = vectors[0].dims[0], width = vectors[0].dims[1],
                count = static_cast<int64_t>(vectors.size());
  const Value joined = builder.Apply("Concat", vectors, {batch, count * width}, {{"axis", 1}});
  const Value rows = Reshape(builder, joined, {batch, count, width});
  const Value all =
      builder.Apply("MatMul", {rows, Transpose(builder, rows, {0, 2, 1})}, {batch, count, count});
  Dims pairs;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < i; ++j) pairs.push_back(i * count + j);
  }
  return builder.Apply("Gather",
                       {Reshape(builder, all, {batch, count * count}), builder.Integers(pairs)},
                       {batch, static_cast<int64_t>(pairs.size())}, {{"axis", 1}});
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const int64_t batch = sizes.at("batch"), width = sizes.at("width");
  const Value numbers = builder.Input("numbers", ElementType::kF32, {batch, kNumbers});
  const Value categories =
      builder.Input("categories", ElementType::kI64, {batch, sizes.at("tables")});
  const Value bottom = Mlp(builder, "bottom", numbers, {512, 256, width});
  std::vector<Value> vectors = Rows(builder, categories, sizes.at("rows"), width);
  vectors.insert(vectors.begin(), bottom);
  const Value products = Products(builder, vectors);
  const Value both =
      builder.Apply("Concat", {bottom, products}, {batch, width + products.dims[1]}, {{"axis", 1}});
  const Value top = Mlp(builder, "top", both, {1024, 1024, 512, 256});
  builder.Output("y", Unary(builder, "Sigmoid", DenseLayer(builder, "head", top, 1)));
  return absl::OkStatus();
}

}  // namespace

Family Dlrm() {
  return {"dlrm",
          "recommendation model: tables of categories and MLPs",
          "mse",
          {{"batch", 2048}, {"rows", 1000000}, {"tables", 26}, {"width", 128}},
          Build};
}

}  // namespace yuba::zoo
