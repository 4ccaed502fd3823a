// Whole models of the layers that GraphBuilder adds.
#include "tests/support/graphs.h"

namespace yuba {

Graph MatmulChain(const std::vector<int64_t>& features, int64_t rows) {
  GraphBuilder builder;
  TensorId x = builder.Input({rows, features[0]});
  for (size_t i = 1; i < features.size(); ++i) {
    x = builder.Matmul(x, builder.Parameter({features[i - 1], features[i]}));
  }
  return builder.Finish({x});
}

Graph Recurrent(int64_t batch, int64_t width, int layers, int steps) {
  GraphBuilder builder;
  std::vector<TensorId> below;
  for (int step = 0; step < steps; ++step) below.push_back(builder.Input({batch, width}));
  for (int layer = 0; layer < layers; ++layer) {
    TensorId w = builder.Parameter({4, width, width}), r = builder.Parameter({4, width, width});
    TensorId h = builder.Input({batch, width}), c = builder.Input({batch, width});
    for (TensorId& x : below) {
      TensorId z = builder.Add(builder.Gates(x, w), builder.Gates(h, r));
      c = builder.Gated(z, c, 2, 3);
      h = builder.Gated(z, c, 1, 0);
      x = h;
    }
  }
  return builder.Finish({below.back()});
}

Graph ResNet(int64_t batch, const std::vector<int>& blocks) {
  GraphBuilder builder;
  auto conv = [&builder](TensorId x, int64_t in, int64_t out, int64_t size, int64_t stride) {
    return builder.Conv(x, builder.Parameter({out, in, size, size}), stride, size / 2);
  };
  TensorId x = builder.Input({batch, 3, 224, 224});
  x = builder.MaxPool(builder.Relu(conv(x, 3, 64, 7, 2)), 3, 2, 1);
  int64_t in = 64;
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    int64_t width = int64_t{64} << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      TensorId y = builder.Relu(conv(x, in, width, 1, 1));
      y = builder.Relu(conv(y, width, width, 3, stride));
      y = conv(y, width, 4 * width, 1, 1);
      if (block == 0) x = conv(x, in, 4 * width, 1, stride);
      x = builder.Relu(builder.Add(y, x));
      in = 4 * width;
    }
  }
  x = builder.SumOver(builder.SumOver(x, 3), 2);
  return builder.Finish({builder.Matmul(x, builder.Parameter({in, 1000}))});
}

}  // namespace yuba
