#include "search/price_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

constexpr int kShifts = 300;   // of weight from one line to another
constexpr int kHalvings = 30;   // of what is shifted
constexpr double kEven = 1e-6;  // of a cost: what lines differ by is nothing

class Model {
 public:
  Model(const std::vector<const PriceLine*>& lines, const std::vector<double>& center, double step)
      : lines_(lines), center_(center), step_(step), mixed_(center.size(), 0) {
    YUBA_CHECK(!lines.empty());
    for (size_t row = 0; row < center.size(); ++row) {
      const bool exceeded = std::any_of(lines.begin(), lines.end(), [row](const PriceLine* line) {
        return line->excess[row] > 0;
      });
      if (exceeded || center[row] > 0) rows_.push_back(row);
    }
    found_.prices = center;
    found_.weights.assign(lines.size(), 0);
    const size_t first = Ends().first;
    found_.weights[first] = 1;
    mixed_ = lines[first]->excess;
    Follow();
  }

  ModelPrices Run(const Budget& budget) {
    for (int i = 0; i < kShifts; ++i) {
      const auto [least, greatest] = Ends();
      const double dearer = ValueOf(greatest, 0, least, greatest);
      if (dearer - found_.value <= kEven * (1 + std::abs(dearer)) || budget.Spent()) break;
      Shift(greatest, least);
    }
    return std::move(found_);
  }

 private:
  // Of all lines the cheapest, whose value is the model's, and of those with weight the dearest.
  std::pair<size_t, size_t> Ends() {
    size_t least = 0, greatest = 0;
    found_.value = std::numeric_limits<double>::max();
    double most = -std::numeric_limits<double>::max();
    found_.work += static_cast<int64_t>(lines_.size() * rows_.size());
    for (size_t i = 0; i < lines_.size(); ++i) {
      const double value = ValueOf(i, 0, i, i);
      if (value < found_.value) {
        found_.value = value;
        least = i;
      }
      if (found_.weights[i] > 0 && value > most) {
        most = value;
        greatest = i;
      }
    }
    return {least, greatest};
  }

  double PriceAfter(size_t row, double part, size_t to, size_t from) const {
    const double moved = part * (lines_[to]->excess[row] - lines_[from]->excess[row]);
    return std::max(0.0, center_[row] + step_ * (mixed_[row] + moved));
  }

  // Of a line where a part of the weights has gone from one to another.
  double ValueOf(size_t line, double part, size_t to, size_t from) const {
    double value = lines_[line]->cost;
    for (const size_t row : rows_) {
      const double price = part > 0 ? PriceAfter(row, part, to, from) : found_.prices[row];
      value += price * lines_[line]->excess[row];
    }
    return value;
  }

  // Weight from a line that is too dear to the cheapest, until both cost as much.
  void Shift(size_t from, size_t to) {
    found_.work += static_cast<int64_t>(kHalvings * rows_.size());
    double low = 0, high = found_.weights[from];
    const auto enough = [&](double part) {
      return ValueOf(to, part, to, from) >= ValueOf(from, part, to, from);
    };
    if (enough(high)) {
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (enough(middle) ? high : low) = middle;
      }
    }
    found_.weights[from] = high < found_.weights[from] ? found_.weights[from] - high : 0;
    found_.weights[to] += high;
    for (const size_t row : rows_) {
      mixed_[row] += high * (lines_[to]->excess[row] - lines_[from]->excess[row]);
    }
    Follow();
  }

  // The prices that the weights lead to.
  void Follow() {
    for (const size_t row : rows_) {
      found_.prices[row] = std::max(0.0, center_[row] + step_ * mixed_[row]);
    }
  }

  const std::vector<const PriceLine*>& lines_;
  const std::vector<double>& center_;
  const double step_;
  std::vector<size_t> rows_;   // that may have a price
  std::vector<double> mixed_;  // the excess of the weighted lines, by row
  ModelPrices found_;
};

}  // namespace

double ValueAt(const PriceLine& line, const std::vector<double>& prices) {
  return std::inner_product(prices.begin(), prices.end(), line.excess.begin(), line.cost);
}

ModelPrices BestInModel(const std::vector<const PriceLine*>& lines,
                        const std::vector<double>& center, double step, const Budget& budget) {
  return Model(lines, center, step).Run(budget);
}

}  // namespace yuba
