// The RNNs of the Tofu paper (EuroSys 2019, section 7): layers of LSTM cells, unrolled. A layer has
// one weight for all four gates, over what it reads and its own last result, and no bias; inputs
// and classes are 512 (Jozefowicz et al. 2016).
#include <cmath>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kMostCells = 100000;

struct State {
  Value hidden, cell;
};

Value Tanh(GraphBuilder& builder, const Value& x) { return Unary(builder, "Tanh", x); }
Value Sigmoid(GraphBuilder& builder, const Value& x) { return Unary(builder, "Sigmoid", x); }

State Cell(GraphBuilder& builder, const Value& x, const State& last, const Value& weight) {
  const int64_t batch = x.dims[0], width = last.hidden.dims[1];
  const Value both =
      builder.Apply("Concat", {x, last.hidden}, {batch, x.dims[1] + width}, {{"axis", 1}});
  const Value all = builder.Apply("MatMul", {both, weight}, {batch, 4 * width});
  const std::vector<Value> gates = Split(builder, all, 1, {width, width, width, width});
  const Value written = Binary(builder, "Mul", Sigmoid(builder, gates[0]), Tanh(builder, gates[2]));
  const Value kept = Binary(builder, "Mul", Sigmoid(builder, gates[1]), last.cell);
  const Value cell = Binary(builder, "Add", kept, written);
  return {Binary(builder, "Mul", Sigmoid(builder, gates[3]), Tanh(builder, cell)), cell};
}

// [batch, steps, width] as its steps, [batch, width] each.
std::vector<Value> Steps(GraphBuilder& builder, const Value& x) {
  std::vector<Value> steps;
  for (int64_t t = 0; t < x.dims[1]; ++t) {
    steps.push_back(
        builder.Apply("Gather", {x, builder.Integer(t)}, {x.dims[0], x.dims[2]}, {{"axis", 1}}));
  }
  return steps;
}

Value Stacked(GraphBuilder& builder, const std::vector<Value>& steps) {
  const Dims dims = steps[0].dims;
  std::vector<Value> rows;
  for (const Value& step : steps) {
    rows.push_back(
        builder.Apply("Unsqueeze", {step, builder.Integers({1})}, {dims[0], 1, dims[1]}));
  }
  return builder.Apply("Concat", rows, {dims[0], static_cast<int64_t>(steps.size()), dims[1]},
                       {{"axis", 1}});
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const int64_t batch = sizes.at("batch"), width = sizes.at("width"), layers = sizes.at("layers");
  if (layers * sizes.at("sequence") > kMostCells) {
    return UserError("--layers ", layers, " times --sequence ", sizes.at("sequence"), " are more ",
                     "than ", kMostCells, " cells: each is there by itself");
  }
  const Value x =
      builder.Input("x", ElementType::kF32, {batch, sizes.at("sequence"), sizes.at("inputs")});
  const Value zero =
      builder.Apply("ConstantOfShape", {builder.Integers({batch, width})}, {batch, width});
  std::vector<Value> steps = Steps(builder, x);
  const Draw draw = Uniform(1 / std::sqrt(static_cast<double>(width)));
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Scope scope(builder, absl::StrCat("layers.", layer));
    const Value weight = builder.Parameter("weight", {steps[0].dims[1] + width, 4 * width}, draw);
    State state = {zero, zero};
    for (Value& step : steps) {
      state = Cell(builder, step, state, weight);
      step = state.hidden;
    }
  }
  const Scope scope(builder, "head");
  const Value head = builder.Parameter("weight", {width, sizes.at("classes")}, draw);
  builder.Output("logits", builder.Apply("MatMul", {Stacked(builder, steps), head},
                                         {batch, sizes.at("sequence"), sizes.at("classes")}));
  return absl::OkStatus();
}

}  // namespace

Family Rnn() {
  return {"rnn",
          "the paper's layers of LSTM cells, unrolled",
          "softmax-cross-entropy",
          {{"batch", 256},
           {"classes", 512},
           {"inputs", 512},
           {"layers", 6},
           {"sequence", 20},
           {"width", 1024}},
          Build};
}

}  // namespace yuba::zoo
