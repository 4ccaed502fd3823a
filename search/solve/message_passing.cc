#include "search/solve/message_passing.h"

#include <algorithm>
#include <utility>

namespace yuba::search {
namespace {

constexpr double kRounding = 1e-12;  // what may seem to be left of 1 when all of it is given

double LeastOf(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

}  // namespace

template <typename Cell>
MessagePassing<Cell>::MessagePassing(std::vector<std::vector<double>> unary,
                                     std::vector<Edge> edges, const std::vector<int>& order,
                                     double constant)
    : unary_(std::move(unary)),
      edges_(std::move(edges)),
      order_(order),
      constant_(constant),
      ends_(unary_.size()) {
  place_.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int>(i);
  for (size_t e = 0; e < edges_.size(); ++e) {
    for (const int side : {0, 1}) {
      const int v = edges_[e].variables[side], other = edges_[e].variables[1 - side];
      ends_[v].push_back({static_cast<int>(e), side, other});
      messages_[side].emplace_back(unary_[v].size(), 0.0);
    }
  }
  for (int v = 0; v < variables(); ++v) {
    int before = 0, all = static_cast<int>(ends_[v].size());
    for (const End& end : ends_[v]) before += Ahead(v, end.other, false);
    share_.push_back(1.0 / std::max({1, before, all - before}));
  }
}

template <typename Cell>
void MessagePassing<Cell>::Belief(int v, std::vector<double>* belief) const {
  *belief = unary_[v];
  for (const End& end : ends_[v]) {
    const std::vector<double>& message = messages_[end.side][end.edge];
    for (size_t x = 0; x < message.size(); ++x) (*belief)[x] += message[x];
  }
}

template <typename Cell>
double MessagePassing<Cell>::Send(const End& end, const std::vector<double>& source) {
  const MinPlus<Cell>& costs = *edges_[end.edge].costs;
  std::vector<double>& message = messages_[1 - end.side][end.edge];
  end.side == 0 ? costs.ToColumns(source, &message) : costs.ToRows(source, &message);
  const double least = LeastOf(message);
  for (double& value : message) value -= least;
  return least;
}

template <typename Cell>
absl::optional<double> MessagePassing<Cell>::Pass(bool forward, const Budget& budget) {
  double bound = constant_;
  std::vector<double> belief, source;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (budget.ShouldStop()) return absl::nullopt;
    const int v = order_[forward ? i : order_.size() - 1 - i];
    Belief(v, &belief);
    double sent = 0;  // what all messages cost at least
    int messages = 0;
    for (const End& end : ends_[v]) {
      if (!Ahead(v, end.other, forward)) continue;
      const std::vector<double>& back = messages_[end.side][end.edge];
      source.resize(back.size());
      for (size_t x = 0; x < back.size(); ++x) source[x] = share_[v] * belief[x] - back[x];
      sent += Send(end, source);
      ++messages;
    }
    const double kept = 1 - messages * share_[v];  // of the belief
    bound += sent + (kept > kRounding ? kept * LeastOf(belief) : 0);
  }
  return bound;
}

template <typename Cell>
absl::optional<double> MessagePassing<Cell>::Sweep(const Budget& budget) {
  if (!Pass(true, budget).has_value()) return absl::nullopt;
  return Pass(false, budget);
}

template <typename Cell>
Assignment MessagePassing<Cell>::Decode() const {
  Assignment assignment(order_.size(), -1);
  std::vector<double> cost;
  for (const int v : order_) {
    cost = unary_[v];
    for (const End& end : ends_[v]) {
      const MinPlus<Cell>& costs = *edges_[end.edge].costs;
      const int value = assignment[end.other];
      for (size_t x = 0; x < cost.size(); ++x) {
        if (value < 0) {
          cost[x] += messages_[end.side][end.edge][x];
        } else {
          const double cell = end.side == 0 ? costs.at(x, value) : costs.at(value, x);
          cost[x] += std::min(cell, static_cast<double>(kForbidden));
        }
      }
    }
    assignment[v] = static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  }
  return assignment;
}

template class MessagePassing<float>;
template class MessagePassing<double>;

}  // namespace yuba::search
