#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_convolution.h"

#include <map>

#include "opsemantics/base/half.h"

namespace yuba::cuda {
namespace {

double Load(const FakeTensor& tensor, int64_t at) {
  if (tensor.type == CUDNN_DATA_DOUBLE) return reinterpret_cast<double*>(tensor.data)[at];
  if (tensor.type == CUDNN_DATA_FLOAT) return reinterpret_cast<float*>(tensor.data)[at];
  const uint16_t bits = reinterpret_cast<uint16_t*>(tensor.data)[at];
  return tensor.type == CUDNN_DATA_HALF ? FromF16(bits) : FromBF16(bits);
}
void Store(double value, const FakeTensor& tensor, int64_t at) {
  const auto small = static_cast<float>(value);
  if (tensor.type == CUDNN_DATA_DOUBLE)
    reinterpret_cast<double*>(tensor.data)[at] = value;
  else if (tensor.type == CUDNN_DATA_FLOAT)
    reinterpret_cast<float*>(tensor.data)[at] = small;
  else
    reinterpret_cast<uint16_t*>(tensor.data)[at] =
        tensor.type == CUDNN_DATA_HALF ? ToF16(small) : ToBF16(small);
}

// Calls visit(point) with all points of these extents.
template <typename Visit>
void ForEach(const std::vector<int64_t>& extents, const Visit& visit) {
  std::vector<int64_t> point(extents.size());
  while (true) {
    visit(point);
    size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

int64_t At(const FakeTensor& tensor, const std::vector<int64_t>& point) {
  int64_t at = 0;
  for (size_t d = 0; d < point.size(); ++d) at += point[d] * tensor.strides[d];
  return at;
}

// The first element along dimensions of one.
int64_t AtOrFirst(const FakeTensor& tensor, std::vector<int64_t> point) {
  for (size_t d = 0; d < point.size(); ++d)
    if (tensor.extents[d] == 1) point[d] = 0;
  return At(tensor, point);
}

}  // namespace

bool Fits(const FakeConvolution& work) {
  int64_t elements = 1, span = 1;  // of the filter, which has to be dense
  for (size_t d = 0; d < work.tensors[1].extents.size(); ++d) {
    elements *= work.tensors[1].extents[d];
    span += (work.tensors[1].extents[d] - 1) * work.tensors[1].strides[d];
  }
  if (span != elements) return false;
  const std::vector<int64_t>& x = work.tensors[0].extents;
  const std::vector<int64_t>& w = work.tensors[1].extents;
  const std::vector<int64_t>& y = work.tensors[2].extents;
  if (x.size() != w.size() || x.size() != y.size() || x.size() != work.strides.size() + 2)
    return false;
  if (x[0] != y[0] || y[1] != w[0] || x[1] % w[1] != 0 || w[0] % (x[1] / w[1]) != 0) return false;
  for (size_t d = 0; d < work.strides.size(); ++d) {
    const int64_t low = work.low[d], high = work.high[d];
    const int64_t room = x[d + 2] + low + high - work.dilations[d] * (w[d + 2] - 1) - 1;
    if (low < 0 || high < 0 || room < 0 || room / work.strides[d] + 1 != y[d + 2]) return false;
  }
  return true;
}

void Compute(const FakeConvolution& work) {
  const FakeTensor &x = work.tensors[0], &w = work.tensors[1], &y = work.tensors[2];
  std::map<int64_t, double> sums;  // by offset in the result
  const FakeTensor& result = work.tensors[work.result];
  ForEach(result.extents, [&](const std::vector<int64_t>& point) { sums[At(result, point)] = 0; });
  const int64_t of_group = w.extents[0] / (x.extents[1] / w.extents[1]);
  ForEach(y.extents, [&](const std::vector<int64_t>& p) {
    std::vector<int64_t> taps = w.extents;
    taps[0] = 1;
    ForEach(taps, [&](std::vector<int64_t> u) {
      std::vector<int64_t> q = {p[0], p[1] / of_group * w.extents[1] + u[1]};
      for (size_t d = 0; d < work.strides.size(); ++d) {
        q.push_back(p[d + 2] * work.strides[d] + u[d + 2] * work.dilations[d] - work.low[d]);
        if (q.back() < 0 || q.back() >= x.extents[d + 2]) return;
      }
      u[0] = p[1];
      const int64_t at[] = {At(x, q), At(w, u), At(y, p)};
      double product = 1;
      for (int t = 0; t < 3; ++t) {
        if (t != work.result) product *= Load(work.tensors[t], at[t]);
      }
      sums[at[work.result]] += product;
    });
  });
  ForEach(result.extents, [&](const std::vector<int64_t>& point) {
    const int64_t at = At(result, point);
    double value = sums[at];
    if (work.adds) value += Load(result, at);
    for (const FakeTensor& added : work.added) value += Load(added, AtOrFirst(added, point));
    if (work.relu) value = value > 0 ? value : 0;
    Store(value, result, at);
  });
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
