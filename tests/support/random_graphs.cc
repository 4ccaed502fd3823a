#include "tests/support/random_graphs.h"

#include <algorithm>
#include <vector>

namespace yuba {

Graph RandomGraphs::Next() {
  GraphBuilder builder;
  std::vector<TensorId> tensors;
  auto add = [&](TensorId tensor) {
    tensors.push_back(tensor);
    return tensor;
  };
  auto leaf = [&](std::vector<int64_t> dims) {
    bool input = Below(3) == 0;
    ElementType type = half_ ? ElementType::kF16 : ElementType::kF32;
    return add(input ? builder.Input(dims, type) : builder.Parameter(dims, type));
  };
  half_ = Below(4) == 0;
  leaf({Extent(), Extent()});
  int nodes = 3 + Below(most_nodes_ - 2);
  for (int made = 0; made < nodes;) {
    TensorId x = tensors[tensors.size() - 1 - Below(std::min<int>(4, tensors.size()))];
    const std::vector<int64_t> dims = builder.Dims(x);
    TensorId other = x;  // one of the same shape, if there is one
    for (TensorId t : tensors) {
      if (t != x && builder.Dims(t) == dims && Below(2) == 0) other = t;
    }
    ++made;
    switch (Below(10)) {
      case 0: {
        int64_t columns = Extent();
        if (dims.size() == 2) add(builder.Matmul(x, leaf({dims[1], columns})));
        break;
      }
      case 1:
        if (dims.size() == 2 && dims[0] == dims[1])
          add(builder.Matmul(x, other));
        else
          add(builder.Relu(x));
        break;
      case 2: add(builder.Add(x, other == x ? leaf(dims) : other)); break;
      case 3: add(builder.Scale(x, leaf({dims.back()}), static_cast<int>(dims.size()) - 1)); break;
      case 4:
        if (dims.size() == 2) add(builder.SumOver(x, Below(2)));
        break;
      case 5:
        if (dims.size() == 2) add(builder.Transpose(x));
        break;
      case 6: {
        int64_t first = Below(static_cast<int>(dims[0]));
        add(builder.Slice(x, first, dims[0] - first));
        break;
      }
      case 7: add(builder.Shift(x, 1 + Below(2))); break;
      case 8: add(JoinOrSplit(x, &builder)); break;
      default:
        if (dims.size() == 2) {
          int64_t kernel = 1 + Below(3), stride = 1 + Below(2);
          int64_t extent = (dims[1] - 1) * stride + kernel;
          add(builder.ConvGradient(x, leaf({kernel}), stride, extent));
        }
    }
  }
  return builder.Finish({tensors.back()});
}

TensorId RandomGraphs::JoinOrSplit(TensorId x, GraphBuilder* builder) {
  const std::vector<int64_t> dims = builder->Dims(x);
  const int dim = Below(static_cast<int>(dims.size()));
  if (dims.size() > 2) return builder->Merge(x, std::min<int>(dim, dims.size() - 2));
  std::vector<int64_t> inner;
  for (int64_t n = 2; n < dims[dim]; ++n) {
    if (dims[dim] % n == 0) inner.push_back(n);
  }
  if (inner.empty()) return builder->Relu(x);
  return builder->Split(x, dim, inner[Below(static_cast<int>(inner.size()))]);
}

}  // namespace yuba
