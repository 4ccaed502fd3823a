#include "search/solve/message_passing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

namespace yuba::search {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Tree {
  std::vector<std::vector<double>> unary;
  std::vector<MessagePassing<double>::Edge> edges;

  double CostOf(const Assignment& assignment) const {
    double cost = 0;
    for (size_t v = 0; v < unary.size(); ++v) cost += unary[v][assignment[v]];
    for (const auto& edge : edges) {
      cost += edge.costs->at(assignment[edge.variables[0]], assignment[edge.variables[1]]);
    }
    return cost;
  }

  double Least() const {
    Assignment assignment(unary.size(), 0);
    double least = kNone;
    for (size_t v = 0; v < unary.size();) {
      least = std::min(least, CostOf(assignment));
      for (v = 0; v < unary.size(); ++v) {
        if (++assignment[v] < static_cast<int>(unary[v].size())) break;
        assignment[v] = 0;
      }
    }
    return least;
  }
};

std::vector<double> RandomCosts(size_t size, std::mt19937* random) {
  std::vector<double> costs;
  for (size_t i = 0; i < size; ++i) costs.push_back((*random)() % 100);
  return costs;
}

std::vector<std::vector<double>> RandomUnary(std::mt19937* random) {
  std::vector<std::vector<double>> unary;
  for (int v = 0; v < 7; ++v) unary.push_back(RandomCosts(2 + v % 3, random));
  return unary;
}

// Each variable but the first has an edge with one before it, in whose table a pair is forbidden.
Tree RandomTree(std::mt19937* random) {
  Tree tree;
  tree.unary = RandomUnary(random);
  for (int v = 1; v < static_cast<int>(tree.unary.size()); ++v) {
    int a = static_cast<int>((*random)() % v), b = v;
    if ((*random)() % 2 == 0) std::swap(a, b);
    const size_t rows = tree.unary[a].size();
    std::vector<double> costs = RandomCosts(rows * tree.unary[b].size(), random);
    costs[(*random)() % costs.size()] = kNone;
    tree.edges.push_back(
        {{a, b},
         std::make_shared<const MinPlus<double>>(std::move(costs), static_cast<int>(rows))});
  }
  return tree;
}

double Bound(MessagePassing<double>* passing) {
  double bound = 0;
  for (int sweep = 0; sweep < 50; ++sweep) bound = *passing->Sweep();
  return bound;
}

TEST_CASE("on a tree the bound of messages is the optimum, also after costs have changed") {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    Tree tree = RandomTree(&random);
    std::vector<int> order(tree.unary.size());
    std::iota(order.begin(), order.end(), 0);
    MessagePassing<double> passing(tree.unary, tree.edges, order);
    CHECK(Bound(&passing) == Approx(tree.Least()));
    CHECK(tree.CostOf(passing.Decode()) < kNone);
    tree.unary = RandomUnary(&random);
    passing.SetUnary(tree.unary);
    CHECK(Bound(&passing) == Approx(tree.Least()));
    auto& edge = tree.edges[random() % tree.edges.size()];
    const size_t rows = tree.unary[edge.variables[0]].size();
    const size_t columns = tree.unary[edge.variables[1]].size();
    edge.costs = std::make_shared<const MinPlus<double>>(RandomCosts(rows * columns, &random),
                                                         static_cast<int>(rows));
    passing.SetCosts(static_cast<int>(&edge - tree.edges.data()), edge.costs);
    CHECK(Bound(&passing) == Approx(tree.Least()));
  }
}

TEST_CASE("messages through a large table are those through a small one") {
  std::mt19937 random(4);
  // 300 x 300 cells are kept one way, their last 200 columns both ways.
  constexpr int kRows = 300, kWide = 300, kNarrow = 200, kDear = kWide - kNarrow;
  std::vector<float> wide, narrow;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kWide; ++column) {
      const float cost = column < kDear ? 1e6 : random() % 1000 + 300 * (row % 7);
      wide.push_back(cost);
      if (column >= kDear) narrow.push_back(cost);
    }
  }
  const MinPlus<float> large(wide, kRows), small(narrow, kRows);
  std::vector<double> from_columns = RandomCosts(kWide, &random), one, other;
  large.ToRows(from_columns, &one);
  from_columns.erase(from_columns.begin(), from_columns.begin() + kDear);
  small.ToRows(from_columns, &other);
  CHECK(one == other);
  std::vector<double> from_rows = RandomCosts(kRows, &random);
  from_rows[5] = kNone;
  large.ToColumns(from_rows, &one);
  small.ToColumns(from_rows, &other);
  one.erase(one.begin(), one.begin() + kDear);
  CHECK(one == other);
  for (int column = 0; column < kNarrow; ++column) {
    double least = kNone;
    for (int row = 0; row < kRows; ++row) {
      least = std::min(least, from_rows[row] + small.at(row, column));
    }
    CHECK(other[column] == least);
  }
}

}  // namespace
}  // namespace yuba::search
