#include "search/axes/axis_search.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace yuba::search {
namespace {

constexpr int kSweeps = 12;        // of Descend, at most
constexpr size_t kMostWanted = 5;  // neighbours that want different axes: more are not followed
constexpr int kMostMended = 60;    // variables after a kick
constexpr double kSlack = 0.012;   // of the cost: how much worse a kick may stay, at first
// Between two looks at the budget: some tens of microseconds.
constexpr int64_t kWorkBetweenLooks = 64;
constexpr int64_t kStepsBetweenLooks = 100'000;

}  // namespace

AxisSearch::AxisSearch(const AxisProblem& problem, const Mesh& mesh, Nesting nesting,
                       const Budget& budget, ChoiceStore* store, AxisMemory* memory)
    : problem_(problem),
      mesh_(mesh),
      nesting_(nesting),
      budget_(budget),
      store_(*store),
      memory_(memory),
      choices_(problem.variables.size(), -1) {}

int64_t AxisSearch::CostOfEdge(const AxisEdge& edge, int tensor_choice, int node_choice) const {
  return CostOfMapped(edge, store_.Mapped(tensor_choice, edge.tensor_dims),
                      store_.Mapped(node_choice, edge.node_dims));
}

int64_t AxisSearch::CostOfMapped(const AxisEdge& edge, int tensor_choice, int node_choice) const {
  int64_t cost = store_.Cost(*edge.costs, edge.kind, tensor_choice, node_choice);
  if (edge.kernels != nullptr) cost += store_.Cost(*edge.kernels, edge.kind, node_choice);
  return edge.count * cost;
}

std::vector<int> AxisSearch::Mapped(const std::vector<int>& choices, int dims) const {
  std::vector<int> mapped;
  for (int choice : choices) mapped.push_back(store_.Mapped(choice, dims));
  return mapped;
}

int64_t AxisSearch::Bytes() const {
  int64_t cost = 0;
  for (const AxisEdge& edge : problem_.edges) {
    cost += CostOfEdge(edge, choices_[edge.tensor], choices_[edge.node]);
  }
  return cost;
}

// The axes over which `variable` would have to be cut to agree with the other end of the edge.
WantedAxes AxisSearch::WantedBy(const AxisEdge& edge, int variable) const {
  const bool at_tensor = edge.tensor == variable;
  const std::vector<int>& here = store_.dims(at_tensor ? edge.tensor_dims : edge.node_dims);
  const Choice& there =
      store_.at(at_tensor ? store_.Mapped(choices_[edge.node], edge.node_dims)
                          : store_.Mapped(choices_[edge.tensor], edge.tensor_dims));
  const std::vector<int>& along = store_.dims(edge.along);
  WantedAxes wanted(problem_.variables[variable].space.extents.size());
  for (size_t i = 0; i < along.size(); ++i) {
    if (along[i] < 0) continue;
    const int own = here[at_tensor ? along[i] : i];
    if (own >= 0) wanted[own] = there.axes[at_tensor ? i : along[i]];
  }
  return wanted;
}

std::vector<WantedAxes> AxisSearch::WantedByNeighbours(int variable) const {
  std::vector<WantedAxes> all;
  for (int e : problem_.variables[variable].edges) {
    const AxisEdge& edge = problem_.edges[e];
    const int other = Other(edge, variable);
    if (other == variable || choices_[other] < 0) continue;
    WantedAxes wanted = WantedBy(edge, variable);
    if (std::find(all.begin(), all.end(), wanted) != all.end()) continue;
    all.push_back(std::move(wanted));
    if (all.size() == kMostWanted) break;
  }
  return all;
}

int AxisSearch::NumberOf(int variable, Choice choice) const {
  const AxisVariable& of = problem_.variables[variable];
  if (!of.restriction.none()) {
    choice = ConformedChoice(of.space, mesh_, choice, of.restriction);
  }
  if (nesting_ == Nesting::kLevel) {
    for (AxisList& axes : choice.axes) std::sort(axes.begin(), axes.end());
  }
  return store_.Number(choice);
}

int AxisSearch::Exchanged(int variable, int number, size_t a, size_t b) const {
  Choice choice = store_.at(number);
  for (AxisList& axes : choice.axes) {
    for (uint8_t& axis : axes) {
      if (axis == a)
        axis = static_cast<uint8_t>(b);
      else if (axis == b)
        axis = static_cast<uint8_t>(a);
    }
  }
  return NumberOf(variable, std::move(choice));
}

std::vector<int> AxisSearch::WithMoved(int variable, int number, uint8_t axis) const {
  const ChoiceSpace& space = problem_.variables[variable].space;
  std::vector<int> choices = {number};
  const auto add = [&](const Choice& choice) {
    if (!WhyIllegal(space, mesh_, choice).empty()) return;
    const int moved = NumberOf(variable, choice);
    if (std::find(choices.begin(), choices.end(), moved) == choices.end()) choices.push_back(moved);
  };
  Choice without = store_.at(number);
  for (AxisList& axes : without.axes)
    axes.erase(std::remove(axes.begin(), axes.end(), axis), axes.end());
  add(without);
  for (size_t e = 0; e < space.extents.size(); ++e) {
    for (const bool outermost : {false, true}) {
      Choice with = without;
      AxisList& axes = with.axes[e];
      axes.insert(outermost ? axes.begin() : axes.end(), axis);
      add(with);
    }
  }
  return choices;
}

std::vector<int> AxisSearch::ChoicesFollowing(int v) {
  const AxisVariable& variable = problem_.variables[v];
  std::vector<int> key = {variable.kind, choices_[v]};
  for (const std::vector<int>& parts : variable.grids[0]) {
    key.insert(key.end(), parts.begin(), parts.end());
  }
  for (int e : variable.edges) key.push_back(choices_[Other(problem_.edges[e], v)]);
  auto [place, is_new] = following_.emplace(std::move(key), std::vector<int>());
  if (!is_new) return place->second;
  std::vector<int> choices;
  auto add = [&](int choice) {
    if (std::find(choices.begin(), choices.end(), choice) == choices.end())
      choices.push_back(choice);
  };
  std::vector<Grid> grids = {variable.grids[0]};
  if (choices_[v] >= 0) {
    add(choices_[v]);
    Grid now = GridOf(store_.at(choices_[v]), mesh_);
    if (now != grids[0]) grids.push_back(std::move(now));
  }
  std::vector<WantedAxes> wanted = WantedByNeighbours(v);
  auto follow = [&](const std::vector<const WantedAxes*>& some) {
    for (const Grid& grid : grids) {
      add(NumberOf(v, ChoiceOfGrid(grid, some, mesh_, false)));
      add(NumberOf(v, ChoiceOfGrid(grid, some, mesh_, true)));
    }
    if (!some.empty()) add(NumberOf(v, FollowNeighbours(variable.space, some, mesh_)));
  };
  if (wanted.empty()) follow({});
  for (const WantedAxes& first : wanted) {
    if (wanted.size() == 1) follow({&first});
    for (const WantedAxes& second : wanted) {
      if (&second != &first) follow({&first, &second});
    }
  }
  return place->second = std::move(choices);
}

int64_t AxisSearch::CostAt(int variable, int choice, int64_t enough) {
  const std::vector<int>& edges = problem_.variables[variable].edges;
  // All edges count, looked at or not: searches that are limited by work then stay the same.
  work_ += static_cast<int64_t>(edges.size());
  int64_t cost = memory_ == nullptr ? 0 : memory_->Change(variable, choices_[variable], choice);
  for (int e : edges) {
    if (cost >= enough) break;
    const AxisEdge& edge = problem_.edges[e];
    const int tensor = edge.tensor == variable ? choice : choices_[edge.tensor];
    const int node = edge.node == variable ? choice : choices_[edge.node];
    if (tensor >= 0 && node >= 0) cost += CostOfEdge(edge, tensor, node);
  }
  return cost;
}

bool AxisSearch::Stopped() {
  const bool soon = work_ - looked_at_work_ < kWorkBetweenLooks &&
                    store_.steps() - looked_at_steps_ < kStepsBetweenLooks;
  if (stopped_ || (soon && work_ > 0)) return stopped_;
  looked_at_work_ = work_;
  looked_at_steps_ = store_.steps();
  return stopped_ = budget_.ShouldStop();
}

void AxisSearch::Follow(int variable) {
  const std::vector<WantedAxes> wanted = WantedByNeighbours(variable);
  std::vector<const WantedAxes*> order;
  for (const WantedAxes& axes : wanted) order.push_back(&axes);
  Set(variable,
      NumberOf(variable, FollowNeighbours(problem_.variables[variable].space, order, mesh_)));
}

int64_t AxisSearch::SetBest(int variable, bool likeliest_grid) {
  if (Stopped()) {
    if (choices_[variable] < 0) Follow(variable);
    return 0;
  }
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t before = kNone, best = kNone;
  int chosen = -1;
  const Grid& grid = problem_.variables[variable].grids[0];
  for (int choice : ChoicesFollowing(variable)) {
    if (likeliest_grid && GridOf(store_.at(choice), mesh_) != grid) continue;
    const int64_t cost = CostAt(variable, choice, best);
    if (choice == choices_[variable]) before = cost;
    if (cost >= best) continue;  // its own choice comes first, so it stays among equals
    best = cost;
    chosen = choice;
    if (Stopped()) break;
  }
  // Pins may allow no choice of the likeliest grid that follows the neighbours.
  if (chosen < 0) return SetBest(variable, false);
  if (chosen == choices_[variable]) return 0;
  undo_.push_back({variable, choices_[variable]});
  Set(variable, chosen);
  return before == kNone ? 0 : before - best;
}

bool AxisSearch::HasNeighbour(int variable) const {
  for (int e : problem_.variables[variable].edges) {
    const int other = Other(problem_.edges[e], variable);
    if (other != variable && choices_[other] >= 0) return true;
  }
  return false;
}

void AxisSearch::Start(bool likeliest_grids) {
  std::vector<int> rest;
  for (size_t v = 0; v < choices_.size(); ++v) {
    if (choices_[v] < 0) rest.push_back(static_cast<int>(v));
  }
  while (!rest.empty()) {
    std::vector<int> next;
    for (int v : rest) {
      if (HasNeighbour(v))
        SetBest(v, likeliest_grids);
      else
        next.push_back(v);
    }
    if (next.size() == rest.size()) {
      auto computed = std::find_if(next.begin(), next.end(),
                                   [&](int v) { return problem_.variables[v].computed; });
      if (computed == next.end()) computed = next.begin();
      SetBest(*computed, likeliest_grids);
      next.erase(computed);
    }
    rest = std::move(next);
  }
  undo_.clear();
}

void AxisSearch::Descend() {
  const int count = static_cast<int>(choices_.size());
  for (int sweep = 0; sweep < kSweeps && !stopped_; ++sweep) {
    int64_t gained = 0;
    for (int i = 0; i < count; ++i) gained += SetBest(sweep % 2 == 0 ? count - 1 - i : i);
    if (gained == 0) break;
  }
  undo_.clear();
}

int AxisSearch::RandomChoice(int v) {
  const AxisVariable& variable = problem_.variables[v];
  std::vector<WantedAxes> wanted = WantedByNeighbours(v);
  std::vector<const WantedAxes*> order;
  for (const WantedAxes& axes : wanted) order.push_back(&axes);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.Below(i)]);
  if (!order.empty()) order.resize(1 + random_.Below(order.size()));
  const size_t grid = random_.Below(variable.grids.size() + 2);
  if (grid >= variable.grids.size() && !order.empty()) {
    if (grid == variable.grids.size())
      return NumberOf(v, FollowNeighbours(variable.space, order, mesh_));
    return NumberOf(v, ChoiceOfGrid(GridOf(store_.at(choices_[v]), mesh_), order, mesh_,
                                    random_.Below(2) == 1));
  }
  return NumberOf(v, ChoiceOfGrid(variable.grids[grid % variable.grids.size()], order, mesh_,
                                  random_.Below(2) == 0));
}

// After `variable` has changed: its neighbours follow, then theirs where that helped; `variable`
// itself comes last.
void AxisSearch::Mend(int variable, int64_t* gained) {
  std::deque<int> queue;
  std::vector<bool> queued(choices_.size(), false);
  auto enqueue = [&](int of) {
    for (int e : problem_.variables[of].edges) {
      const int other = Other(problem_.edges[e], of);
      if (queued[other] || other == variable) continue;
      queued[other] = true;
      queue.push_back(other);
    }
  };
  enqueue(variable);
  for (int mended = 0; !queue.empty() && mended < kMostMended && !stopped_; ++mended) {
    const int v = queue.front();
    queue.pop_front();
    queued[v] = false;
    const int64_t here = SetBest(v);
    *gained += here;
    if (here > 0) enqueue(v);
  }
  *gained += SetBest(variable);
}

void AxisSearch::Kick(int64_t work) {
  std::vector<int> best = choices_;
  const int64_t begin = work_;
  const double slack = kSlack * static_cast<double>(Cost());
  int64_t above = 0;  // by how much the current choices cost more than the best
  while (work_ < begin + work && !Stopped()) {
    const int v = static_cast<int>(random_.Below(choices_.size()));
    undo_.clear();
    const int choice = RandomChoice(v);
    ++work_;
    if (choice == choices_[v]) continue;
    int64_t gained = CostAt(v, choices_[v]) - CostAt(v, choice);
    undo_.push_back({v, choices_[v]});
    Set(v, choice);
    Mend(v, &gained);
    const double left = 1 - static_cast<double>(work_ - begin) / static_cast<double>(work);
    if (gained >= 0 || static_cast<double>(above - gained) <= left * slack) {
      above -= gained;
      if (above >= 0) continue;
      above = 0;
      best = choices_;
      continue;
    }
    for (; !undo_.empty(); undo_.pop_back()) Set(undo_.back().first, undo_.back().second);
  }
  SetAll(best);
  undo_.clear();
}

}  // namespace yuba::search
