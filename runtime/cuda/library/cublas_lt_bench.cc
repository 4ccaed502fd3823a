#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_bench.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "opsemantics/base/half.h"

namespace yuba::cuda {
namespace {

constexpr int kWarmUps = 2, kRounds = 11;  // an odd number: the median is one of them
constexpr int64_t kMostComparedBytes = int64_t{64} << 20;
constexpr int64_t kBlockElements = int64_t{1} << 16;  // random numbers, over and over

// Numbers from -1 to 1, as different in their bits as those of models: zeros would take less power,
// and time.
double RandomNumber(uint64_t& state) {
  state = state * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX
  return static_cast<double>(state >> 11) * 0x1p-52 - 1;
}

template <typename Stored>
void Append(Stored value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string RandomBlock(ElementType type) {
  std::string bytes;
  uint64_t state = 1;
  for (int64_t i = 0; i < kBlockElements; ++i) {
    const double number = RandomNumber(state);
    const auto small = static_cast<float>(number);
    switch (type) {
      case ElementType::kF64: Append(number, bytes); break;
      case ElementType::kF32: Append(small, bytes); break;
      case ElementType::kF16: Append(ToF16(small), bytes); break;
      default: Append(ToBF16(small), bytes); break;
    }
  }
  return bytes;
}

}  // namespace

LtBench::LtBench(cudaStream_t stream, std::function<absl::Status()> wait)
    : stream_(stream), wait_(std::move(wait)) {}

LtBench::Memory::~Memory() {
  for (cudaEvent_t event : events) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

LtBench::~LtBench() {
  if (failed_ || !Wait().ok()) memory_.release();
}

absl::Status LtBench::Wait() {
  const absl::Status status = wait_();
  failed_ = failed_ || !status.ok();
  return status;
}

LtBench::Span LtBench::SpanOf(const LtOperand& operand, int64_t rows, int64_t columns,
                              int64_t batch) {
  if (operand.layout.transposed) std::swap(rows, columns);
  const int64_t others = (batch - 1) * operand.batch_step;
  Span span;
  span.elements = std::abs(others) + (rows - 1) * operand.layout.leading + columns;
  span.first = std::max<int64_t>(-others, 0);
  return span;
}

absl::Status LtBench::Fill(char* to, ElementType type, int64_t elements) {
  const std::string block = RandomBlock(type);
  const int64_t bytes = elements * ByteSize(type);
  int64_t filled = std::min(bytes, static_cast<int64_t>(block.size()));
  YUBA_CUDA(cudaMemcpyAsync(to, block.data(), filled, cudaMemcpyHostToDevice, stream_));
  while (filled < bytes) {
    const int64_t more = std::min(filled, bytes - filled);
    YUBA_CUDA(cudaMemcpyAsync(to + filled, to, more, cudaMemcpyDeviceToDevice, stream_));
    filled += more;
  }
  return Wait();  // before `block` is gone
}

absl::Status LtBench::Place(GpuMemory& memory, ElementType type, const Span& span,
                            const char** first) {
  YUBA_RETURN_IF_ERROR(memory.Allocate(span.elements * ByteSize(type)));
  *first = memory.data() + span.first * ByteSize(type);
  return Fill(memory.data(), type, span.elements);
}

absl::Status LtBench::Open(const LtShape& shape, int64_t workspace_bytes, int64_t cache_bytes) {
  const int64_t m = shape.m, n = shape.n, k = shape.k, batch = shape.batch;
  const ElementType made = shape.result_type;
  YUBA_RETURN_IF_ERROR(Place(memory_->a, shape.type, SpanOf(shape.a, m, k, batch), &pointers_.a));
  YUBA_RETURN_IF_ERROR(Place(memory_->b, shape.type, SpanOf(shape.b, k, n, batch), &pointers_.b));
  const Span result = SpanOf(shape.d, m, n, batch);
  const char* d = nullptr;
  YUBA_RETURN_IF_ERROR(Place(memory_->d, made, result, &d));
  pointers_.d = const_cast<char*>(d);
  d_bytes_ = result.elements * ByteSize(made);
  if (shape.residual.has_value()) {
    YUBA_RETURN_IF_ERROR(
        Place(memory_->residual, made, SpanOf(*shape.residual, m, n, batch), &pointers_.residual));
  }
  if (shape.bias.has_value()) {
    LtOperand bias;
    bias.batch_step = shape.bias->batch_step;
    YUBA_RETURN_IF_ERROR(Place(memory_->bias, made, SpanOf(bias, 1, n, batch), &pointers_.bias));
  }
  const char* also = nullptr;  // what the call may write
  if (shape.aux.has_value()) {
    YUBA_RETURN_IF_ERROR(Place(memory_->aux, made, SpanOf(*shape.aux, m, n, batch), &also));
    pointers_.aux = const_cast<char*>(also);
  }
  if (shape.sums.has_value()) {
    const Span sums = {shape.SumsOfOperand(), 0};
    YUBA_RETURN_IF_ERROR(Place(memory_->sums, made, sums, &also));
    pointers_.sums = const_cast<char*>(also);
    sums_bytes_ = sums.elements * ByteSize(made);
  }
  YUBA_RETURN_IF_ERROR(memory_->workspace.Allocate(workspace_bytes));
  YUBA_RETURN_IF_ERROR(memory_->cache.Allocate(cache_bytes));
  cache_bytes_ = cache_bytes;
  return absl::OkStatus();
}

absl::Status LtBench::WarmUp(const Start& start) {
  for (int run = 0; run < kWarmUps; ++run)
    YUBA_RETURN_IF_ERROR(start(pointers_, memory_->workspace.data()));
  return Wait();
}

// Milliseconds of one run of each.
absl::StatusOr<std::vector<float>> LtBench::Round(const std::vector<Start>& starts) {
  const std::vector<cudaEvent_t>& events = memory_->events;
  for (size_t i = 0; i < starts.size(); ++i) {
    YUBA_CUDA(cudaMemsetAsync(memory_->cache.data(), 0, cache_bytes_, stream_));
    YUBA_CUDA(cudaEventRecord(events[2 * i], stream_));
    YUBA_RETURN_IF_ERROR(starts[i](pointers_, memory_->workspace.data()));
    YUBA_CUDA(cudaEventRecord(events[2 * i + 1], stream_));
  }
  YUBA_RETURN_IF_ERROR(Wait());
  std::vector<float> times(starts.size());
  for (size_t i = 0; i < starts.size(); ++i)
    YUBA_CUDA(cudaEventElapsedTime(&times[i], events[2 * i], events[2 * i + 1]));
  return times;
}

absl::StatusOr<std::vector<double>> LtBench::Microseconds(const std::vector<Start>& starts) {
  std::vector<cudaEvent_t>& events = memory_->events;
  while (events.size() < 2 * starts.size()) {
    events.push_back(nullptr);
    YUBA_CUDA(cudaEventCreateWithFlags(&events.back(), cudaEventDefault));
  }
  std::vector<std::vector<float>> runs(starts.size());  // milliseconds
  for (int round = 0; round < kRounds; ++round) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<float> times, Round(starts));
    for (size_t i = 0; i < starts.size(); ++i) runs[i].push_back(times[i]);
  }
  std::vector<double> medians;
  for (std::vector<float>& times : runs) {
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    medians.push_back(1e3 * static_cast<double>(times[kRounds / 2]));
  }
  return medians;
}

absl::StatusOr<std::string> LtBench::Result(const Start& start) {
  const int64_t of_d = std::min(d_bytes_, kMostComparedBytes);
  std::string bytes(of_d + sums_bytes_, 0);
  YUBA_CUDA(cudaMemsetAsync(memory_->d.data(), 0, d_bytes_, stream_));
  YUBA_RETURN_IF_ERROR(start(pointers_, memory_->workspace.data()));
  YUBA_RETURN_IF_ERROR(Wait());
  YUBA_CUDA(
      cudaMemcpyAsync(bytes.data(), memory_->d.data(), of_d, cudaMemcpyDeviceToHost, stream_));
  if (sums_bytes_ > 0) {
    YUBA_CUDA(cudaMemcpyAsync(bytes.data() + of_d, memory_->sums.data(), sums_bytes_,
                              cudaMemcpyDeviceToHost, stream_));
  }
  YUBA_RETURN_IF_ERROR(Wait());
  return bytes;
}

absl::StatusOr<bool> LtBench::SameBits(const Start& start) {
  YUBA_ASSIGN_OR_RETURN(const std::string first, Result(start));
  YUBA_ASSIGN_OR_RETURN(const std::string second, Result(start));
  return first == second;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
