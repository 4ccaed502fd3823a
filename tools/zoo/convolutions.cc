#include "tools/zoo/convolutions.h"

#include <cmath>

namespace yuba::zoo {
namespace {

// What a window writes where `x` has these lengths.
Dims Result(const Value& x, int64_t channels, const Window& window) {
  Dims dims = {x.dims[0], channels};
  const int64_t padding = (window.kernel - 1) / 2;
  for (size_t d = 2; d < x.dims.size(); ++d)
    dims.push_back((x.dims[d] + 2 * padding - window.kernel) / window.stride + 1);
  return dims;
}

Attributes AttributesOf(const Window& window, size_t lengths) {
  return {{"kernel_shape", Dims(lengths, window.kernel)},
          {"strides", Dims(lengths, window.stride)},
          {"pads", Dims(2 * lengths, (window.kernel - 1) / 2)}};
}

double Power(int64_t base, size_t exponent) {
  return std::pow(static_cast<double>(base), static_cast<double>(exponent));
}

}  // namespace

Value Convolution(GraphBuilder& builder, const std::string& name, const Value& x, int64_t channels,
                  const Window& window) {
  const Scope scope(builder, name);
  const size_t lengths = x.dims.size() - 2;
  Dims dims = {channels, x.dims[1]};
  dims.insert(dims.end(), lengths, window.kernel);
  const double written = static_cast<double>(channels) * Power(window.kernel, lengths);
  const Value weight = builder.Parameter("weight", dims, Normal(std::sqrt(2 / written)));
  return builder.Apply("Conv", {x, weight}, Result(x, channels, window),
                       AttributesOf(window, lengths));
}

Value UpConvolution(GraphBuilder& builder, const std::string& name, const Value& x,
                    int64_t channels) {
  const Scope scope(builder, name);
  const size_t lengths = x.dims.size() - 2;
  Dims dims = {x.dims[1], channels}, result = {x.dims[0], channels};
  for (size_t d = 0; d < lengths; ++d) {
    dims.push_back(2);
    result.push_back(2 * x.dims[d + 2]);
  }
  const Draw draw = Uniform(1 / std::sqrt(static_cast<double>(channels) * Power(2, lengths)));
  const Value weight = builder.Parameter("weight", dims, draw);
  const Value bias = builder.Parameter("bias", {channels}, draw);
  return builder.Apply("ConvTranspose", {x, weight, bias}, result,
                       {{"kernel_shape", Dims(lengths, 2)}, {"strides", Dims(lengths, 2)}});
}

Value BatchNorm(GraphBuilder& builder, const std::string& name, const Value& x) {
  const Scope scope(builder, name);
  const Dims channels = {x.dims[1]};
  const Value weight = builder.Parameter("weight", channels, Filled(1));
  const Value bias = builder.Parameter("bias", channels, Filled(0));
  const Value mean = builder.Statistic("running_mean", channels, 0);
  const Value variance = builder.Statistic("running_var", channels, 1);
  return builder.ApplyMany("BatchNormalization", {x, weight, bias, mean, variance},
                           {x.dims, channels, channels},
                           {{"epsilon", 1e-5f}, {"momentum", 0.9f}, {"training_mode", 1}})[0];
}

Value MaxPool(GraphBuilder& builder, const Value& x, const Window& window) {
  return builder.Apply("MaxPool", {x}, Result(x, x.dims[1], window),
                       AttributesOf(window, x.dims.size() - 2));
}

Value GlobalMean(GraphBuilder& builder, const Value& x) {
  Dims ones = {x.dims[0], x.dims[1]};
  ones.insert(ones.end(), x.dims.size() - 2, 1);
  const Value mean = builder.Apply("GlobalAveragePool", {x}, ones);
  return builder.Apply("Flatten", {mean}, {x.dims[0], x.dims[1]}, {{"axis", 1}});
}

}  // namespace yuba::zoo
