// What others measured on nodes of eight H100 or H200, beside which predictions are printed, and to
// which none is fitted.
#ifndef YUBA_TOOLS_BENCH_HGX_PUBLISHED_H_
#define YUBA_TOOLS_BENCH_HGX_PUBLISHED_H_

#include <cstdint>
#include <vector>

#include "tools/zoo/family.h"

namespace yuba::tools {

// All-reduces among the eight devices of a node. Bus bandwidth in GB/s, as nccl-tests defines it:
// for n devices bytes * 2 (n - 1) / n / seconds.
struct PublishedAllReduce {
  double bytes = 0;
  double bus_bandwidth = 0;
  double seconds() const { return bytes * 1.75 / (1e9 * bus_bandwidth); }
};
struct PublishedTable {
  const char* machine;  // a file of machines/
  bool one_process;     // drives all devices; else one a device
  const char* source;
  std::vector<PublishedAllReduce> rows;
};

inline std::vector<PublishedTable> PublishedAllReduces() {
  // Rows of the bandwidths given, each of twice the bytes of the one before.
  const auto doubling = [](double bytes, const std::vector<double>& bandwidths) {
    std::vector<PublishedAllReduce> rows;
    for (const double bandwidth : bandwidths) {
      rows.push_back({bytes, bandwidth});
      bytes *= 2;
    }
    return rows;
  };
  return {
      {"hgx-h100", true,
       "Azure AI benchmarking guide, ND_H100_v5_results.md (2024): all_reduce_perf, NCCL 2.18.5",
       doubling(1024, {0.07,   0.14,   0.27,   0.53,   0.95,   1.71,   2.72,   5.40,
                       10.86,  21.35,  43.70,  81.93,  128.73, 172.13, 234.45, 295.53,
                       361.78, 400.61, 423.38, 438.46, 466.35, 472.36, 475.54, 478.87})},
      {"hgx-h200", true,
       "Azure AI benchmarking guide, ND_H200_v5_results.md (2024): all_reduce_perf, NCCL 2.20.5",
       doubling(1024, {0.06,   0.12,   0.23,   0.47,   0.93,   1.84,   3.72,   7.39,
                       14.75,  29.38,  52.96,  88.78,  138.44, 181.94, 240.41, 300.91,
                       368.11, 412.45, 432.24, 442.72, 467.58, 472.57, 477.41, 479.98})},
      {"hgx-h200", false,
       "S. Bekman, ml-engineering, network/benchmarks/results/all-reduce-8xH200.md (2026-08-04): "
       "PyTorch 2.9.1, NCCL 2.27.7",
       doubling(32768,
                {1.44,   2.93,   5.73,   11.74,  23.94,  39.93,  64.53,  107.16, 155.53, 219.89,
                 275.84, 346.51, 401.93, 436.15, 450.29, 463.58, 469.17, 473.10, 477.45, 482.26})},
  };
}

// Llama 3.1 8B trained by FSDP (ZeRO-3) on one node, compiled, without Float8: torchtitan,
// benchmarks/llama3_h100_202412_torchtitan.md (2024-12), table 1: 6,667 tokens a second on each
// device, 2 sequences of 8,192 each, weights gathered in bf16, gradients added in f32, selective
// activation checkpointing.
inline constexpr double kTokensPerSecond = 6667;
inline constexpr int64_t kSequences = 2, kSequenceLength = 8192;  // of a device
inline constexpr double kPublishedStep = kSequences * kSequenceLength / kTokensPerSecond;
// Its devices are not those of hgx-h100: "96GB HBM2e with 2.4 TB/sec peak memory bandwidth" at 500
// W in place of 700, so that "the actual peak TFLOPs number is between SXM and NVL": 989 and 835
// TFLOP/s in bf16 by NVIDIA's data sheets (H100, 2023; H100 NVL, 2024: 1,671 with sparsity). The
// middle is taken.
inline constexpr double kPublishedMemory = 96e9, kPublishedBandwidth = 2.4e12;
inline constexpr double kPublishedRate = (989e12 + 835e12) / 2;
// Selective checkpointing of each operation keeps the results of every second product of a block
// and of its attention, and computes what else the backward pass needs again
// (torchtitan/parallelisms/parallelize_llama.py at 9dec370).
inline constexpr double kProductsAgain = 0.5;

// Steps of PyTorch 2.11 on one H200 (2026-11-27, driver 580.159.04, CUDA 13.0, cuDNN 9.19), TF32
// off, measured by this project; milliseconds, compiled 0 where that was not measured.
struct MeasuredOnOne {
  const char* what;
  const char* model;  // of the zoo
  zoo::Sizes sizes;
  const char* optimizer;  // empty: forward
  const char* precision;  // empty: f32
  double eager, compiled;
};
inline std::vector<MeasuredOnOne> MeasuredOnH200() {
  return {
      {"GPT-2 small forward, 4 x 128",
       "gpt2",
       {{"batch", 4}, {"sequence", 128}},
       "",
       "",
       5.17,
       4.47},
      {"ResNet-50 forward, 32 images", "resnet-50", {{"batch", 32}}, "", "", 11.92, 0},
      {"ResNet-50 training, 32 images", "resnet-50", {{"batch", 32}}, "adam", "", 38.45, 0},
      {"two layers of Llama-3-8B, training, 1 x 4,096, bf16",
       "llama3-8b",
       {{"batch", 1}, {"layers", 2}, {"sequence", 4096}},
       "adam",
       "bf16",
       62.95,
       56.52},
  };
}

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_HGX_PUBLISHED_H_
