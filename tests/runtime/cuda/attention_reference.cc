#include "tests/runtime/cuda/attention_reference.h"

#include <algorithm>
#include <cmath>

namespace yuba::cuda {
namespace {

// What a query scores with a key.
double Score(const AttentionRoutine& routine, const AttentionArrays& arrays, int64_t b, int64_t h,
             int64_t i, int64_t j) {
  if (routine.causal.has_value() && j > i + routine.causal->offset) return routine.causal->masked;
  double dot = 0;
  for (int64_t w = 0; w < routine.width; ++w) {
    dot += arrays[kQuery].At(b, h, i, w) *
           arrays[kKey].At(b, h / (routine.heads / routine.key_heads), j, w);
  }
  double score = routine.scale * dot;
  if (routine.bias.has_value()) {
    const Array4& bias = arrays[kAttentionBias];
    const auto& e = bias.extents;
    score += bias.At(std::min(b, e[0] - 1), std::min(h, e[1] - 1), std::min(i, e[2] - 1),
                     std::min(j, e[3] - 1));
  }
  return score;
}

// The gradients of one query's row, of which `weights` are those of the keys.
void AddGradients(const AttentionRoutine& routine, AttentionArrays& arrays, int64_t b, int64_t h,
                  int64_t i, const std::vector<double>& weights) {
  const int64_t g = h / (routine.heads / routine.key_heads);
  std::vector<double> of_weights(routine.keys);
  double mean = 0;
  for (int64_t j = 0; j < routine.keys; ++j) {
    for (int64_t w = 0; w < routine.value_width; ++w) {
      const double gradient = arrays[kAttendedGradient].At(b, h, i, w);
      of_weights[j] += gradient * arrays[kValue].At(b, g, j, w);
      arrays[kValueGradient].At(b, g, j, w) += weights[j] * gradient;
    }
    mean += weights[j] * of_weights[j];
  }
  for (int64_t j = 0; j < routine.keys; ++j) {
    const double of_score = routine.scale * weights[j] * (of_weights[j] - mean);
    for (int64_t w = 0; w < routine.width; ++w) {
      arrays[kQueryGradient].At(b, h, i, w) += of_score * arrays[kKey].At(b, g, j, w);
      arrays[kKeyGradient].At(b, g, j, w) += of_score * arrays[kQuery].At(b, h, i, w);
    }
  }
}

}  // namespace

void ComputeAttention(const AttentionRoutine& routine, AttentionArrays& arrays) {
  for (const AttentionOperand made : {kAttended, kQueryGradient, kKeyGradient, kValueGradient})
    arrays[made] = Array4::Of(ExtentsOf(routine, made));
  arrays[kStatistics] = Array4::Of({routine.batch, routine.heads, routine.queries, 1});
  for (int64_t b = 0; b < routine.batch; ++b) {
    for (int64_t h = 0; h < routine.heads; ++h) {
      const int64_t g = h / (routine.heads / routine.key_heads);
      for (int64_t i = 0; i < routine.queries; ++i) {
        std::vector<double> weights(routine.keys);
        for (int64_t j = 0; j < routine.keys; ++j) weights[j] = Score(routine, arrays, b, h, i, j);
        const double most = *std::max_element(weights.begin(), weights.end());
        double sum = 0;
        for (double& weight : weights) sum += weight = std::exp(weight - most);
        arrays[kStatistics].At(b, h, i, 0) = most + std::log(sum);
        for (int64_t j = 0; j < routine.keys; ++j) {
          weights[j] /= sum;
          for (int64_t w = 0; w < routine.value_width; ++w)
            arrays[kAttended].At(b, h, i, w) += weights[j] * arrays[kValue].At(b, g, j, w);
        }
        if (routine.backward) AddGradients(routine, arrays, b, h, i, weights);
      }
    }
  }
}

}  // namespace yuba::cuda
