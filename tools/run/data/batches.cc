#include "tools/run/data/batches.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <system_error>
#include <utility>

#include "opsemantics/base/check.h"

namespace yuba::tools {

int64_t EpochOrder::At(int64_t epoch, int64_t position) {
  YUBA_CHECK(epoch >= 0 && position >= 0 && position < count_) << epoch << " " << position;
  if (!seed_.has_value()) return position;
  if (epoch_ != epoch) {
    epoch_ = epoch;
    order_.resize(static_cast<size_t>(count_));
    std::iota(order_.begin(), order_.end(), 0);
    // Both are the same everywhere by the C++ standard, as std::shuffle is not.
    const auto number = static_cast<uint64_t>(epoch);
    std::seed_seq seed{static_cast<uint32_t>(*seed_), static_cast<uint32_t>(*seed_ >> 32),
                       static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
    std::mt19937_64 random(seed);
    for (size_t left = order_.size(); left > 1; --left) {
      std::swap(order_[left - 1], order_[random() % left]);
    }
  }
  return order_[static_cast<size_t>(position)];
}

void Batches::GoOn(int64_t step, Position at) {
  step_ = step;
  at_ = at;
}

int64_t Batches::StepsLeftInEpoch() const {
  return std::max<int64_t>(count() - at_.seen, 0) / in_step();
}

Position Batches::At(int64_t step) const {
  YUBA_CHECK(step >= step_) << step << " " << step_;
  const int64_t steps = step - step_, left = StepsLeftInEpoch();
  if (steps < left) return {at_.epoch, at_.seen + steps * in_step()};
  const int64_t later = steps - left;
  return {at_.epoch + 1 + later / in_epoch(), later % in_epoch() * in_step()};
}

Position Batches::After(int64_t steps) const {
  if (steps == step_) return at_;
  Position position = At(steps - 1);
  position.seen += in_step();
  return position;
}

int64_t Batches::StepsUntil(int64_t epochs) const {
  if (epochs <= at_.epoch) return step_;
  return step_ + StepsLeftInEpoch() + (epochs - at_.epoch - 1) * in_epoch();
}

BatchReader::BatchReader(Batches& batches, int64_t begin, int64_t end)
    : batches_(batches), at_(begin), end_(end) {
  Start();
}

void BatchReader::Start() {
  if (at_ >= end_) return;
  const auto read = [this, step = at_] { return batches_.Read(step); };
  try {
    next_ = std::async(std::launch::async, read);
  } catch (const std::system_error&) {  // the system gives no thread
    next_ = std::async(std::launch::deferred, read);
  }
}

absl::StatusOr<StepFiles> BatchReader::Next() {
  YUBA_CHECK(next_.valid());
  absl::StatusOr<StepFiles> files = next_.get();
  ++at_;
  if (files.ok()) Start();
  return files;
}

}  // namespace yuba::tools
