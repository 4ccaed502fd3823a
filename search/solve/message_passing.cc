#include "search/solve/message_passing.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

MessagePassing::MessagePassing(const PairwiseProblem& problem,
                               const std::vector<ClassesPtr>& classes,
                               const std::vector<int>& order, const Budget& budget, int64_t most)
    : problem_(problem),
      classes_(classes),
      order_(order),
      budget_(budget),
      most_(most),
      ends_(problem.variables.size()) {
  place_.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int>(i);
  for (const ClassesPtr& each : classes) own_.emplace_back(each->count, 0);
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    const Factor& factor = problem.factors[f];
    if (factor.scope.size() == 1) {
      AddOwn(factor);
      continue;
    }
    costs_.push_back(CostsOf(factor));
    cells_ += static_cast<int64_t>(factor.cells->size());
    for (int side = 0; side < 2; ++side) {
      int v = factor.scope[side];
      ends_[v].push_back({static_cast<int>(f), side, factor.scope[1 - side]});
      message_[side].emplace_back(classes[v]->count, 0.0);
    }
  }
}

void MessagePassing::AddOwn(const Factor& factor) {
  const int v = factor.scope[0];
  std::vector<int64_t> costs(own_[v].size());
  for (size_t x = 0; x < factor.cells->size(); ++x) {
    costs[classes_[v]->of[x]] = (*factor.cells)[x];
  }
  for (size_t c = 0; c < costs.size(); ++c) own_[v][c] += costs[c];
  costs_.push_back(nullptr);
  for (Messages& messages : message_) messages.emplace_back();
}

double MessagePassing::Sweep(int sweeps, double enough) {
  double best = -kInfinity;
  int idle = 0;
  for (int sweep = 0; sweep < sweeps && idle < 4 && best < enough; ++sweep) {
    const Messages before[2] = {message_[0], message_[1]};
    Pass(true);
    double bound = Pass(false);
    if (stopped_) {
      // In the middle of a pass the messages show less than after it.
      for (int side : {0, 1}) message_[side] = before[side];
      break;
    }
    idle = bound > best + 1e-6 * std::abs(best) ? 0 : idle + 1;
    best = std::max(best, bound);
  }
  return best;
}

std::shared_ptr<const MinPlus> MessagePassing::CostsOf(const Factor& factor) {
  const ClassesPtr &a = classes_[factor.scope[0]], &b = classes_[factor.scope[1]];
  std::shared_ptr<const MinPlus>& known = known_costs_[{factor.cells, a, b}];
  if (known != nullptr) return known;
  std::vector<float> costs(int64_t{a->count} * b->count, std::numeric_limits<float>::infinity());
  size_t cell = 0;
  for (int row : a->of) {
    for (int column : b->of) {
      float& least = costs[int64_t{row} * b->count + column];
      least = std::min(least, static_cast<float>(std::min((*factor.cells)[cell++], most_)));
    }
  }
  known = std::make_shared<const MinPlus>(std::move(costs), a->count);
  return known;
}

void MessagePassing::Belief(int v, std::vector<double>* belief) const {
  belief->assign(own_[v].begin(), own_[v].end());
  for (const End& end : ends_[v]) {
    const std::vector<double>& message = message_[end.side][end.factor];
    for (size_t c = 0; c < message.size(); ++c) (*belief)[c] += message[c];
  }
}

double MessagePassing::Pass(bool forward) {
  double bound = 0;
  std::vector<double> belief, source;
  for (size_t i = 0; i < order_.size() && !stopped_; ++i) {
    stopped_ = budget_.ShouldStop();
    int v = order_[forward ? i : order_.size() - 1 - i];
    Belief(v, &belief);
    double share = ShareOf(v);
    double least = *std::min_element(belief.begin(), belief.end());
    bound += least;
    for (double& value : belief) value -= least;
    for (const End& end : ends_[v]) {
      if (!Ahead(v, end.other, forward)) continue;
      source = message_[end.side][end.factor];
      for (size_t c = 0; c < source.size(); ++c) source[c] = share * belief[c] - source[c];
      if (active_ != nullptr) KeepActive((*active_)[v], &source);
      bound += Send(end, source);
    }
  }
  return bound;
}

bool MessagePassing::Ahead(int v, int other, bool forward) const {
  return (place_[other] > place_[v]) == forward;
}

void MessagePassing::KeepActive(const std::vector<int>& active, std::vector<double>* source) {
  std::vector<double> kept(source->size(), kInfinity);
  for (const int c : active) kept[c] = (*source)[c];
  *source = std::move(kept);
}

double MessagePassing::Send(const End& end, const std::vector<double>& source) {
  const MinPlus& costs = *costs_[end.factor];
  std::vector<double>& message = message_[1 - end.side][end.factor];
  end.side == 0 ? costs.ToColumns(source, &message) : costs.ToRows(source, &message);
  const double least = *std::min_element(message.begin(), message.end());
  for (double& value : message) value -= least;
  return least;
}

double MessagePassing::ShareOf(int v) const {
  int before = 0, all = static_cast<int>(ends_[v].size());
  for (const End& end : ends_[v]) before += Ahead(v, end.other, false);
  return 1.0 / std::max(1, std::max(before, all - before));
}

}  // namespace yuba::search
