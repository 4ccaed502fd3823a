#include "search/solve/message_passing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "search/solve/dual.h"
#include "search/solve/sum_min_plus.h"

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
         std::make_shared<const WholeMinPlus<double>>(std::move(costs), static_cast<int>(rows))});
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
    edge.costs = std::make_shared<const WholeMinPlus<double>>(RandomCosts(rows * columns, &random),
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
  const WholeMinPlus<float> large(wide, kRows), small(narrow, kRows);
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

// A problem of two variables whose costs are a sum of tables by classes.
PairwiseProblem RandomSum(std::mt19937* random) {
  const auto upto = [&](int most) { return 1 + static_cast<int>((*random)() % most); };
  const int rows = upto(40), columns = upto(40);
  SumOfTables sum;
  std::vector<int64_t> cells;
  for (ClassTable& table : sum) {
    const int row_classes = upto(rows);
    table.columns = upto(columns);
    table.begin = static_cast<int64_t>(cells.size());
    for (int row = 0; row < rows; ++row) table.row_of.push_back(row % row_classes);
    for (int column = 0; column < columns; ++column) {
      table.column_of.push_back(static_cast<int>((*random)() % table.columns));
    }
    for (int64_t cell = 0; cell < row_classes * table.columns; ++cell) {
      cells.push_back((*random)() % 1000);
    }
  }
  PairwiseProblem problem;
  problem.variables = {PlainDomain(rows), PlainDomain(columns)};
  problem.factors = {{{0, 1},
                      std::make_shared<const std::vector<int64_t>>(std::move(cells)),
                      std::make_shared<const SumOfTables>(std::move(sum))}};
  return problem;
}

TEST_CASE("messages through a sum of tables are those through the table of sums") {
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const PairwiseProblem problem = RandomSum(&random), whole = Whole(problem);
    const Factor& factor = problem.factors[0];
    const int rows = problem.variables[0]->size, columns = problem.variables[1]->size;
    REQUIRE(WholeCellsOf(problem) == rows * columns);
    REQUIRE(whole.factors[0].cells->size() == static_cast<size_t>(rows * columns));
    const SumMinPlus sum(*factor.sum, *factor.cells, kForbidden);
    const std::vector<int64_t>& cells = *whole.factors[0].cells;
    const WholeMinPlus<float> table({cells.begin(), cells.end()}, rows);
    std::vector<double> from_rows = RandomCosts(rows, &random), one, other;
    if (rows > 1) from_rows[random() % rows] = kNone;
    sum.ToColumns(from_rows, &one);
    table.ToColumns(from_rows, &other);
    CHECK(one == other);
    const std::vector<double> from_columns = RandomCosts(columns, &random);
    sum.ToRows(from_columns, &one);
    table.ToRows(from_columns, &other);
    CHECK(one == other);
    for (int row = 0; row < rows; ++row) {
      const int column = static_cast<int>(random() % columns);
      CHECK(sum.at(row, column) == table.at(row, column));
      CHECK(CostOf(problem, {row, column}) == CostOf(whole, {row, column}));
    }
  }
}

TEST_CASE("the bound of a problem with sums is that of the whole one") {
  std::mt19937 random(6);
  for (int i = 0; i < 20; ++i) {
    PairwiseProblem problem = RandomSum(&random);
    for (const int variable : {0, 1}) {
      std::vector<int64_t> own;
      for (int x = 0; x < problem.variables[variable]->size; ++x) own.push_back(random() % 1000);
      problem.factors.push_back(
          {{variable}, std::make_shared<const std::vector<int64_t>>(std::move(own))});
    }
    DualOptions options;
    options.sweeps = 20;
    const Dual sum = MaximiseDual(problem, {0, 1}, options);
    const Dual whole = MaximiseDual(Whole(problem), {0, 1}, options);
    CHECK(sum.bound == whole.bound);
    CHECK(sum.messages == whole.messages);
    CHECK(CostOf(problem, sum.assignment) == sum.bound);
  }
}

}  // namespace
}  // namespace yuba::search
