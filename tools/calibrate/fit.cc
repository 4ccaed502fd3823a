#include "tools/calibrate/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace yuba::tools {
namespace {

// The constants in the order of KernelModel: start, rate_share, bandwidth_share, half_rate, and the
// operations of each extra.
constexpr size_t kFirstExtra = 4;
using Constants = std::array<double, kFirstExtra + kExtras>;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostExtra = 1e9;
constexpr Constants kLeast = {0, 1e-6, 1e-4};  // and 0 of all others
constexpr Constants kMost = {kNever,     1,          16,         1e9,       kMostExtra,
                             kMostExtra, kMostExtra, kMostExtra, kMostExtra};
// Sums of products read what they need again and again: what they move is no more than memory
// gives, though none that was timed may show it.
constexpr double kMostBandwidthOfProducts = 1;

// How often the constants of size and those of extras are chosen in turn.
constexpr int kTurns = 4;

// A sample counts at most so many times as much as an equal share, for the seconds that it takes.
constexpr double kMostWeight = 4;

KernelModel ModelOf(const Constants& c) {
  KernelModel model = {c[0], c[1], c[2], c[3]};
  std::copy(c.begin() + kFirstExtra, c.end(), std::begin(model.extra_operations));
  return model;
}

// The class whose loops are most like those of another: sums of products, and the rest.
KernelClass Alike(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kProduct: return KernelClass::kConvolution;
    case KernelClass::kConvolution: return KernelClass::kProduct;
    case KernelClass::kMap: return KernelClass::kReduction;
    case KernelClass::kReduction: return KernelClass::kMap;
  }
  return kernel_class;
}

// One class of kernels, and the models that may be of it.
class ClassFit {
 public:
  // No kernel starts later than `most_start`: of a class of long kernels alone nothing is known of
  // that.
  ClassFit(std::vector<const KernelSample*> samples, const DeviceModel& device, double most_start)
      : samples_(std::move(samples)), most_start_(most_start) {
    machine_.device = device;
    double all = 0;
    for (const KernelSample* sample : samples_) all += sample->seconds;
    const double equal = 1.0 / static_cast<double>(samples_.size());
    for (const KernelSample* sample : samples_) {
      weights_.push_back(equal + std::min(sample->seconds / all, kMostWeight * equal));
    }
  }

  KernelModel Run() {
    Constants best = {0, 1, 1};  // no half_rate, no extras
    // Extras first: else slow operations would stand for slow functions.
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int again = 0; again < 2; ++again) {
        for (int extra = 0; extra < kExtras; ++extra) best = BestOfExtra(best, extra);
      }
      best = BestOfGrid(best);
    }
    best = Descend(best);
    // What was 0 beside coarse rates may be more beside fine ones.
    for (int extra = 0; extra < kExtras; ++extra) best = BestOfExtra(best, extra);
    return ModelOf(Descend(best));
  }

 private:
  // Each constant in turn a little up or down, by steps that become smaller.
  Constants Descend(Constants best) {
    double least = Loss(best);
    for (double step = 2; step > 1.002; step = std::sqrt(step)) {
      for (bool better = true; better;) {
        better = false;
        for (const Constants& next : Neighbours(best, step)) {
          const double loss = Loss(next);
          if (loss >= least * (1 - 1e-9)) continue;
          least = loss;
          best = next;
          better = true;
        }
      }
    }
    return best;
  }

  double Loss(const Constants& constants) {
    const KernelWork& first = samples_[0]->work;
    machine_.device.kernels[first.library][static_cast<int>(first.kernel_class)] =
        ModelOf(constants);
    double loss = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      const double predicted = machine_.device.launch + KernelSeconds(machine_, samples_[i]->work);
      loss += weights_[i] * std::abs(std::log(predicted / samples_[i]->seconds));
    }
    return std::isfinite(loss) ? loss : kNever;
  }

  // Of equally good ones the fastest model: what no sample shows is not made up. The operations of
  // extras stay as they are.
  Constants BestOfGrid(const Constants& at) {
    Constants best = at;
    double least = Loss(best);
    for (const double half : {0.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}) {
      for (const double start : {0.0, 0.25, 0.5, 1.0}) {
        for (double rate = 1; rate > 1e-5; rate /= 2) {
          for (double bandwidth = MostOf(2); bandwidth > 1e-3; bandwidth /= 2) {
            Constants next = at;
            next[0] = start * most_start_;
            next[1] = rate;
            next[2] = bandwidth;
            next[3] = half;
            const double loss = Loss(next);
            if (loss >= least * (1 - 1e-9)) continue;
            least = loss;
            best = next;
          }
        }
      }
    }
    return best;
  }

  // The same of the operations of one extra alone.
  Constants BestOfExtra(const Constants& at, int extra) {
    Constants best = at;
    if (!HasExtra(extra)) {
      best[kFirstExtra + extra] = 0;
      return best;
    }
    double least = Loss(best);
    for (double operations = 1; operations < kMostExtra; operations *= std::sqrt(2)) {
      Constants next = best;
      next[kFirstExtra + extra] = operations;
      const double loss = Loss(next);
      if (loss >= least * (1 - 1e-9)) continue;
      least = loss;
      best = next;
    }
    return best;
  }

  bool HasExtra(int extra) const {
    return std::any_of(samples_.begin(), samples_.end(),
                       [&](const KernelSample* sample) { return sample->work.extras[extra] > 0; });
  }

  double MostOf(int constant) const {
    const KernelClass kernel_class = samples_[0]->work.kernel_class;
    const bool products =
        kernel_class == KernelClass::kProduct || kernel_class == KernelClass::kConvolution;
    if (constant == 0) return most_start_;
    return constant == 2 && products ? kMostBandwidthOfProducts : kMost[constant];
  }

  std::vector<Constants> Neighbours(const Constants& at, double step) const {
    std::vector<Constants> result;
    for (size_t i = 0; i < at.size(); ++i) {
      for (const double factor : {step, 1 / step, 0.0}) {
        Constants next = at;
        next[i] = at[i] * factor;
        next[i] = std::min(std::max(next[i], kLeast[i]), MostOf(static_cast<int>(i)));
        if (next[i] != at[i]) result.push_back(next);
      }
    }
    return result;
  }

  const std::vector<const KernelSample*> samples_;
  std::vector<double> weights_;  // [sample]
  const double most_start_;
  Machine machine_;  // its device alone
};

}  // namespace

void FitKernels(const std::vector<KernelSample>& samples, DeviceModel& device) {
  for (const bool library : {false, true}) {
    std::array<std::vector<const KernelSample*>, kKernelClasses> classes;
    std::vector<double> seconds;
    for (const KernelSample& sample : samples) {
      if (sample.work.library != library) continue;
      classes[static_cast<int>(sample.work.kernel_class)].push_back(&sample);
      seconds.push_back(sample.seconds);
    }
    std::sort(seconds.begin(), seconds.end());
    for (int c = 0; c < kKernelClasses; ++c) {
      if (classes[c].empty()) continue;
      const double most_start = std::max(seconds[seconds.size() / 4] - device.launch, 0.0);
      device.kernels[library][c] = ClassFit(classes[c], device, most_start).Run();
    }
    for (int c = 0; c < kKernelClasses; ++c) {
      if (!classes[c].empty()) continue;
      const int alike = static_cast<int>(Alike(static_cast<KernelClass>(c)));
      if (library) {
        device.kernels[true][c] = device.kernels[false][c];
      } else if (!classes[alike].empty()) {
        device.kernels[false][c] = device.kernels[false][alike];
      }
    }
  }
}

}  // namespace yuba::tools
