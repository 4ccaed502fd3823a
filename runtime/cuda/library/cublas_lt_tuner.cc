#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_tuner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/facts.h"

namespace yuba::cuda {
namespace {

// "+32768" in a batch: from one product of it to the next.
std::string StepText(const LtShape& shape, int64_t step) {
  return shape.batch > 1 ? absl::StrCat("+", step) : "";
}

std::string OperandText(const LtShape& shape, const char* name, const LtOperand& operand) {
  return absl::StrCat(" ", name, "=", operand.layout.leading, operand.layout.transposed ? "t" : "",
                      StepText(shape, operand.batch_step), "@", operand.alignment);
}

}  // namespace

std::string CallText(const LtShape& shape) {
  std::string text = Name(shape.type);
  if (shape.result_type != shape.type) absl::StrAppend(&text, "->", Name(shape.result_type));
  if (shape.tf32 && shape.type == ElementType::kF32) text += " tf32";
  absl::StrAppend(&text, " m=", shape.m, " n=", shape.n, " k=", shape.k);
  if (shape.batch > 1) absl::StrAppend(&text, " batch=", shape.batch);
  text += OperandText(shape, "a", shape.a) + OperandText(shape, "b", shape.b) +
          OperandText(shape, "d", shape.d);
  if (shape.residual.has_value()) text += OperandText(shape, "c", *shape.residual);
  if (shape.bias.has_value()) {
    absl::StrAppend(&text, " bias", StepText(shape, shape.bias->batch_step), "@",
                    shape.bias->alignment);
  }
  if (shape.activation == LtEpilogue::kRelu) text += " relu";
  if (shape.activation == LtEpilogue::kGeluTanh) text += " gelu_tanh";
  if (shape.aux.has_value()) text += OperandText(shape, "x", *shape.aux);
  if (shape.sums.has_value())
    absl::StrAppend(&text, " sums=", shape.sums->of_a ? "a" : "b", "@", shape.sums->alignment);
  return text;
}

LtTuner::LtTuner(cudaStream_t stream, Tuning& tuning, std::function<absl::Status()> wait)
    : stream_(stream), tuning_(tuning), wait_(std::move(wait)) {}

absl::StatusOr<std::unique_ptr<LtTuner>> LtTuner::Make(const Gpu& gpu, cudaStream_t stream,
                                                       Tuning& tuning,
                                                       std::function<absl::Status()> wait) {
  std::unique_ptr<LtTuner> made(new LtTuner(stream, tuning, std::move(wait)));
  cudaDeviceProp properties = {};
  YUBA_CUDA(cudaGetDeviceProperties(&properties, gpu.number()));
  made->here_.gpu = properties.name;
  made->here_.sm = properties.major * 10 + properties.minor;
  const absl::StatusOr<std::string> version = CublasNumber();
  if (version.ok()) made->here_.library = absl::StrCat("cuBLASLt ", *version);
  made->cache_bytes_ = properties.l2CacheSize;
  return made;
}

TunedCall LtTuner::Key(const LtShape& shape) const {
  TunedCall call = here_;
  call.call = CallText(shape);
  return call;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
