#include "search/axes/axis_search.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace yuba::search {
namespace {

constexpr int kSweeps = 12;
constexpr size_t kMostWishes = 5;
constexpr int kMostMended = 60;   // variables after a kick
constexpr double kSlack = 0.012;  // of the cost
// Between looks at the budget, some tens of microseconds.
constexpr int64_t kWorkBetweenLooks = 64;
constexpr int64_t kStepsBetweenLooks = 100'000;

}  // namespace

LabelSearch::LabelSearch(const LabelProblem& problem, const Mesh& mesh, Nesting nesting,
                         const Budget& budget, CutStore* store, LabelMemory* memory)
    : problem_(problem),
      mesh_(mesh),
      nesting_(nesting),
      budget_(budget),
      store_(*store),
      memory_(memory),
      cuts_(problem.variables.size(), -1) {}

int64_t LabelSearch::CostOfEdge(const LabelEdge& edge, int tensor_cut, int node_cut) const {
  return CostOfMapped(edge, store_.Mapped(tensor_cut, edge.tensor_dims),
                      store_.Mapped(node_cut, edge.node_dims));
}

int64_t LabelSearch::CostOfMapped(const LabelEdge& edge, int tensor_cut, int node_cut) const {
  return edge.count * store_.Cost(*edge.costs, edge.kind, tensor_cut, node_cut);
}

std::vector<int> LabelSearch::Mapped(const std::vector<int>& cuts, int dims) const {
  std::vector<int> mapped;
  for (int cut : cuts) mapped.push_back(store_.Mapped(cut, dims));
  return mapped;
}

int64_t LabelSearch::Bytes() const {
  int64_t cost = 0;
  for (const LabelEdge& edge : problem_.edges) {
    cost += CostOfEdge(edge, cuts_[edge.tensor], cuts_[edge.node]);
  }
  return cost;
}

// What the other end of an edge would like to see of `variable`.
Wish LabelSearch::WishOf(const LabelEdge& edge, int variable) const {
  const bool at_tensor = edge.tensor == variable;
  const std::vector<int>& here = store_.dims(at_tensor ? edge.tensor_dims : edge.node_dims);
  const Cut& there = store_.at(at_tensor ? store_.Mapped(cuts_[edge.node], edge.node_dims)
                                         : store_.Mapped(cuts_[edge.tensor], edge.tensor_dims));
  const std::vector<int>& along = store_.dims(edge.along);
  Wish wish(problem_.variables[variable].space.extents.size());
  for (size_t i = 0; i < along.size(); ++i) {
    if (along[i] < 0) continue;
    const int own = here[at_tensor ? along[i] : i];
    if (own >= 0) wish[own] = there.axes[at_tensor ? i : along[i]];
  }
  return wish;
}

std::vector<Wish> LabelSearch::WishesOf(int variable) const {
  std::vector<Wish> wishes;
  for (int e : problem_.variables[variable].edges) {
    const LabelEdge& edge = problem_.edges[e];
    const int other = Other(edge, variable);
    if (other == variable || cuts_[other] < 0) continue;
    Wish wish = WishOf(edge, variable);
    if (std::find(wishes.begin(), wishes.end(), wish) != wishes.end()) continue;
    wishes.push_back(std::move(wish));
    if (wishes.size() == kMostWishes) break;
  }
  return wishes;
}

int LabelSearch::NumberOf(Cut cut) const {
  if (nesting_ == Nesting::kLevel) {
    for (AxisList& axes : cut.axes) std::sort(axes.begin(), axes.end());
  }
  return store_.Number(cut);
}

int LabelSearch::Exchanged(int number, size_t a, size_t b) const {
  Cut cut = store_.at(number);
  for (AxisList& axes : cut.axes) {
    for (uint8_t& axis : axes) {
      if (axis == a)
        axis = static_cast<uint8_t>(b);
      else if (axis == b)
        axis = static_cast<uint8_t>(a);
    }
  }
  return NumberOf(std::move(cut));
}

std::vector<int> LabelSearch::Suggestions(int v) {
  const LabelVariable& variable = problem_.variables[v];
  std::vector<int> key = {variable.kind, cuts_[v]};
  key.insert(key.end(), variable.grids[0].begin(), variable.grids[0].end());
  for (int e : variable.edges) key.push_back(cuts_[Other(problem_.edges[e], v)]);
  auto [place, is_new] = suggestions_.emplace(std::move(key), std::vector<int>());
  if (!is_new) return place->second;
  std::vector<int> cuts;
  auto add = [&](int cut) {
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  };
  std::vector<Grid> grids = {variable.grids[0]};
  if (cuts_[v] >= 0) {
    add(cuts_[v]);
    Grid now = GridOf(store_.at(cuts_[v]), mesh_);
    if (now != grids[0]) grids.push_back(std::move(now));
  }
  std::vector<Wish> wishes = WishesOf(v);
  auto follow = [&](const std::vector<const Wish*>& some) {
    for (const Grid& grid : grids) {
      add(NumberOf(CutOfGrid(grid, some, mesh_, false)));
      add(NumberOf(CutOfGrid(grid, some, mesh_, true)));
    }
    if (!some.empty()) add(NumberOf(CutByWishes(variable.space, some, mesh_)));
  };
  if (wishes.empty()) follow({});
  for (const Wish& first : wishes) {
    if (wishes.size() == 1) follow({&first});
    for (const Wish& second : wishes) {
      if (&second != &first) follow({&first, &second});
    }
  }
  return place->second = std::move(cuts);
}

int64_t LabelSearch::CostAt(int variable, int cut) {
  int64_t cost = memory_ == nullptr ? 0 : memory_->Change(variable, cuts_[variable], cut);
  for (int e : problem_.variables[variable].edges) {
    const LabelEdge& edge = problem_.edges[e];
    const int tensor = edge.tensor == variable ? cut : cuts_[edge.tensor];
    const int node = edge.node == variable ? cut : cuts_[edge.node];
    if (tensor >= 0 && node >= 0) cost += CostOfEdge(edge, tensor, node);
    ++work_;
  }
  return cost;
}

bool LabelSearch::Stopped() {
  const bool soon = work_ - looked_at_work_ < kWorkBetweenLooks &&
                    store_.steps() - looked_at_steps_ < kStepsBetweenLooks;
  if (stopped_ || (soon && work_ > 0)) return stopped_;
  looked_at_work_ = work_;
  looked_at_steps_ = store_.steps();
  return stopped_ = budget_.Spent();
}

void LabelSearch::Follow(int variable) {
  const std::vector<Wish> wishes = WishesOf(variable);
  std::vector<const Wish*> order;
  for (const Wish& wish : wishes) order.push_back(&wish);
  Set(variable, NumberOf(CutByWishes(problem_.variables[variable].space, order, mesh_)));
}

int64_t LabelSearch::SetBest(int variable, bool likeliest_grid) {
  if (Stopped()) {
    if (cuts_[variable] < 0) Follow(variable);
    return 0;
  }
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t before = kNone, best = kNone;
  int chosen = -1;
  const Grid& grid = problem_.variables[variable].grids[0];
  for (int cut : Suggestions(variable)) {
    if (likeliest_grid && GridOf(store_.at(cut), mesh_) != grid) continue;
    const int64_t cost = CostAt(variable, cut);
    if (cut == cuts_[variable]) before = cost;
    if (cost >= best) continue;  // its own comes first and stays among equals
    best = cost;
    chosen = cut;
    if (Stopped()) break;
  }
  if (chosen == cuts_[variable]) return 0;
  undo_.push_back({variable, cuts_[variable]});
  Set(variable, chosen);
  return before == kNone ? 0 : before - best;
}

bool LabelSearch::HasNeighbour(int variable) const {
  for (int e : problem_.variables[variable].edges) {
    const int other = Other(problem_.edges[e], variable);
    if (other != variable && cuts_[other] >= 0) return true;
  }
  return false;
}

void LabelSearch::Start(bool likeliest_grids) {
  std::vector<int> rest;
  for (size_t v = 0; v < cuts_.size(); ++v) {
    if (cuts_[v] < 0) rest.push_back(static_cast<int>(v));
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

void LabelSearch::Descend() {
  const int count = static_cast<int>(cuts_.size());
  for (int sweep = 0; sweep < kSweeps && !stopped_; ++sweep) {
    int64_t gained = 0;
    for (int i = 0; i < count; ++i) gained += SetBest(sweep % 2 == 0 ? count - 1 - i : i);
    if (gained == 0) break;
  }
  undo_.clear();
}

int LabelSearch::RandomCut(int v) {
  const LabelVariable& variable = problem_.variables[v];
  std::vector<Wish> wishes = WishesOf(v);
  std::vector<const Wish*> order;
  for (const Wish& wish : wishes) order.push_back(&wish);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.Below(i)]);
  if (!order.empty()) order.resize(1 + random_.Below(order.size()));
  const size_t grid = random_.Below(variable.grids.size() + 2);
  if (grid >= variable.grids.size() && !order.empty()) {
    if (grid == variable.grids.size()) return NumberOf(CutByWishes(variable.space, order, mesh_));
    return NumberOf(CutOfGrid(GridOf(store_.at(cuts_[v]), mesh_), order, mesh_, random_.Below(2)));
  }
  return NumberOf(
      CutOfGrid(variable.grids[grid % variable.grids.size()], order, mesh_, random_.Below(2) == 0));
}

// Neighbours of what has changed follow, then theirs; `variable` itself last.
void LabelSearch::Mend(int variable, int64_t* gained) {
  std::deque<int> queue;
  std::vector<bool> queued(cuts_.size(), false);
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

void LabelSearch::Kick(int64_t work) {
  std::vector<int> best = cuts_;
  const int64_t begin = work_;
  const double slack = kSlack * static_cast<double>(Cost());
  int64_t above = 0;  // how far above the best
  while (work_ < begin + work && !Stopped()) {
    const int v = static_cast<int>(random_.Below(cuts_.size()));
    undo_.clear();
    const int cut = RandomCut(v);
    ++work_;
    if (cut == cuts_[v]) continue;
    int64_t gained = CostAt(v, cuts_[v]) - CostAt(v, cut);
    undo_.push_back({v, cuts_[v]});
    Set(v, cut);
    Mend(v, &gained);
    const double left = 1 - static_cast<double>(work_ - begin) / static_cast<double>(work);
    if (gained >= 0 || static_cast<double>(above - gained) <= left * slack) {
      above -= gained;
      if (above >= 0) continue;
      above = 0;
      best = cuts_;
      continue;
    }
    for (; !undo_.empty(); undo_.pop_back()) Set(undo_.back().first, undo_.back().second);
  }
  SetAll(best);
  undo_.clear();
}

}  // namespace yuba::search
