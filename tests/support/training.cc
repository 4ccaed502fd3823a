#include "tests/support/training.h"

#include "tests/support/graphs.h"

namespace yuba {
namespace {

// Adds layers and remembers them; then adds their gradients, from the last to the first.
class Tape {
 public:
  GraphBuilder builder;

  TensorId Conv(TensorId x, int64_t out, int64_t size, int64_t stride) {
    TensorId w = builder.Parameter({out, builder.Dims(x)[1], size, size});
    TensorId y = builder.Conv(x, w, stride, size / 2);
    steps_.push_back({Step::kConv, {x, w}, y, stride, size / 2});
    return y;
  }
  TensorId Relu(TensorId x) {
    TensorId y = builder.Relu(x);
    steps_.push_back({Step::kRelu, {x}, y});
    return y;
  }
  TensorId Add(TensorId a, TensorId b) {
    TensorId y = builder.Add(a, b);
    steps_.push_back({Step::kAdd, {a, b}, y});
    return y;
  }

  // From the gradient of `y`: the gradients of all weights.
  std::vector<TensorId> Backward(TensorId y, TensorId dy) {
    gradients_.assign(y + 1, -1);
    gradients_[y] = dy;
    std::vector<TensorId> outputs;
    for (size_t s = steps_.size(); s-- > 0;) {
      const Step& step = steps_[s];
      TensorId here = gradients_[step.result];
      switch (step.kind) {
        case Step::kAdd:
          Give(step.operands[0], here);
          Give(step.operands[1], here);
          break;
        case Step::kRelu:
          Give(step.operands[0], builder.Add(here, step.result));  // as a mask: reads both
          break;
        case Step::kConv: {
          TensorId x = step.operands[0], w = step.operands[1];
          outputs.push_back(
              builder.ConvWeightGradient(here, x, builder.Dims(w), step.stride, step.pad));
          if (x > 0) {
            Give(x, builder.ConvInputGradient(here, w, builder.Dims(x), step.stride, step.pad));
          }
        }
      }
    }
    return outputs;
  }

 private:
  struct Step {
    enum Kind { kConv, kRelu, kAdd } kind;
    std::vector<TensorId> operands;
    TensorId result;
    int64_t stride = 1, pad = 0;
  };

  void Give(TensorId tensor, TensorId gradient) {
    TensorId& known = gradients_[tensor];
    known = known < 0 ? gradient : builder.Add(known, gradient);
  }

  std::vector<Step> steps_;
  std::vector<TensorId> gradients_;  // by tensor, -1: none yet
};

}  // namespace

Graph ResNetTraining(int64_t batch, int64_t size, int64_t width, const std::vector<int>& blocks) {
  Tape tape;
  TensorId x = tape.builder.Input({batch, 3, size, size});
  x = tape.Relu(tape.Conv(x, width, 7, 2));
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    int64_t here = width << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      TensorId y = tape.Relu(tape.Conv(x, here, 1, 1));
      y = tape.Relu(tape.Conv(y, here, 3, stride));
      y = tape.Conv(y, 4 * here, 1, 1);
      if (block == 0) x = tape.Conv(x, 4 * here, 1, stride);
      x = tape.Relu(tape.Add(y, x));
    }
  }
  x = tape.Conv(x, 1000, 1, 1);
  TensorId target = tape.builder.Input(tape.builder.Dims(x));
  std::vector<TensorId> outputs = tape.Backward(x, tape.builder.Add(x, target));
  return tape.builder.Finish(outputs);
}

Graph UNet(int64_t batch, int64_t size, int64_t width, int levels) {
  GraphBuilder builder;
  auto conv = [&](TensorId x, int64_t out, int64_t kernel) {
    TensorId w = builder.Parameter({out, builder.Dims(x)[1], kernel, kernel});
    return builder.Relu(builder.Conv(x, w, 1, kernel / 2));
  };
  TensorId x = builder.Input({batch, 3, size, size});
  std::vector<TensorId> kept;
  for (int level = 0; level < levels; ++level) {
    x = conv(conv(x, width << level, 3), width << level, 3);
    kept.push_back(x);
    x = builder.MaxPool(x, 2, 2);
  }
  x = conv(conv(x, width << levels, 3), width << levels, 3);
  for (int level = levels; level-- > 0;) {
    x = builder.Concat(kept[level], conv(builder.Enlarge(x), width << level, 1));
    x = conv(conv(x, width << level, 3), width << level, 3);
  }
  return builder.Finish({conv(x, 8, 1)});
}

Graph DenseNet(int64_t batch, int64_t size, int64_t growth, const std::vector<int>& layers) {
  GraphBuilder builder;
  auto conv = [&](TensorId x, int64_t out, int64_t kernel) {
    TensorId w = builder.Parameter({out, builder.Dims(x)[1], kernel, kernel});
    return builder.Conv(builder.Relu(x), w, 1, kernel / 2);
  };
  TensorId x = builder.Input({batch, 2 * growth, size, size});
  for (size_t block = 0; block < layers.size(); ++block) {
    for (int layer = 0; layer < layers[block]; ++layer) {
      x = builder.Concat(x, conv(conv(x, 4 * growth, 1), growth, 3));
    }
    if (block + 1 < layers.size()) {
      x = builder.MaxPool(conv(x, builder.Dims(x)[1] / 2, 1), 2, 2);
    }
  }
  return builder.Finish({x});
}

}  // namespace yuba
