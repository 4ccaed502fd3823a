#include "opsemantics/regions/box_factors.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "opsemantics/regions/conditions.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba {

// Which indices must stay in one factor: sets of indices, joined step by step (union-find).
struct BoxFactors::Groups {
  explicit Groups(size_t indices) : parent(indices), bound(indices, false) {
    std::iota(parent.begin(), parent.end(), 0);
  }
  int Root(int index) {
    while (parent[index] != index) index = parent[index] = parent[parent[index]];
    return index;
  }
  void Join(const Affine& affine) {
    for (const auto& term : affine.terms) parent[Root(term.first)] = Root(affine.terms[0].first);
  }
  void Join(const Constraint& constraint) {
    const std::vector<int> named = IndicesIn(constraint);
    for (const int index : named) {
      parent[Root(index)] = Root(named[0]);
      bound[index] = true;
    }
  }

  std::vector<int> parent;
  std::vector<bool> bound;       // [index]: a constraint names it
  std::vector<Affine> together;  // each names indices that are in one factor although no dimension
                                 // or constraint joins them
};

BoxFactors::BoxFactors(const Definition& definition, int operand, bool partial)
    : operand_(operand), partial_(partial) {
  // One more reduction index, whose range is never whole: the analysis then takes every part for
  // one of the reduction.
  auto copy = std::make_shared<Definition>(definition);
  if (partial) copy->indices.push_back({"", 2, true});
  if (operand < 0 && !partial) {  // all is written, with or without a term
    copy->where.clear();
    copy->data_where.clear();
  }
  definition_ = copy;
  whole_ = WholeRanges(*definition_);
  std::vector<ReadSite> sites;  // of the operand
  if (operand >= 0) {
    for (ReadSite& site : ReadSites(*definition_)) {
      if (site.read->operand == operand) sites.push_back(std::move(site));
    }
  }
  analysis_ = std::make_shared<const BoxAnalysis>(*definition_, sites);
  Groups groups(definition_->indices.size());
  for (const Constraint& constraint : definition_->where) groups.Join(constraint);
  if (operand < 0) {
    for (const Constraint& constraint : KnownConditions(*definition_)) groups.Join(constraint);
    positions_.push_back(definition_->left);
    AddFactors(groups);
    return;
  }
  size_t boxes = 0;
  std::vector<Constraint> conditions;
  for (const ReadSite& site : sites) {
    boxes += site.when.size();
    if (!site.when.empty()) positions_.push_back(site.read->position);
    for (const Conjunction& all : site.when)
      conditions.insert(conditions.end(), all.begin(), all.end());
  }
  for (const Constraint& condition : conditions) groups.Join(condition);
  if (boxes > 1 && !conditions.empty()) {
    // The hull of boxes under different conditions is no product: everything is one factor.
    std::vector<bool> in(definition_->indices.size(), false);
    auto take = [&in](const Affine& affine) {
      for (const auto& term : affine.terms) in[term.first] = true;
    };
    for (const Constraint& condition : conditions) {
      for (const int index : IndicesIn(condition)) in[index] = true;
    }
    for (const auto& position : positions_) {
      for (const Affine& affine : position) take(affine);
    }
    Affine together;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i]) together.terms.push_back({static_cast<int>(i), 1});
    }
    for (const auto& term : together.terms) groups.bound[term.first] = true;
    groups.together.push_back(together);
  }
  AddFactors(groups);
}

void BoxFactors::AddFactors(Groups& groups) {
  const size_t rank =
      operand_ < 0 ? definition_->result.dims.size() : definition_->operands[operand_].dims.size();
  std::vector<Affine> along(rank);  // [dimension]: the indices that its positions name
  for (size_t d = 0; d < rank; ++d) {
    for (const std::vector<Affine>& position : positions_) {
      for (const auto& term : position[d].terms) along[d].terms.push_back(term);
    }
    if (along[d].terms.empty() && !groups.together.empty()) along[d] = groups.together[0];
    groups.Join(along[d]);
  }
  for (const Affine& together : groups.together) groups.Join(together);
  std::map<int, BoxFactor> factors;  // by root, -1 without an index
  for (size_t d = 0; d < rank; ++d) {
    int root = along[d].terms.empty() ? -1 : groups.Root(along[d].terms[0].first);
    factors[root].dims.push_back(static_cast<int>(d));
  }
  std::map<int, bool> bound;
  for (size_t i = 0; i < groups.parent.size(); ++i) {
    if (groups.bound[i]) bound[groups.Root(static_cast<int>(i))] = true;
  }
  for (size_t i = 0; i < groups.parent.size(); ++i) {
    int root = groups.Root(static_cast<int>(i));
    if (bound.count(root) > 0 || factors.count(root) > 0) {
      factors[root].indices.push_back(static_cast<int>(i));
    }
  }
  for (auto& [root, factor] : factors) {
    plain_.push_back(bound.count(root) == 0);
    factors_.push_back(std::move(factor));
  }
}

BoxFactors::Piece BoxFactors::Of(int f, const std::vector<Interval>& ranges) const {
  const BoxFactor& factor = factors_[f];
  std::vector<Interval> all = whole_;
  for (size_t i = 0; i < factor.indices.size(); ++i) all[factor.indices[i]] = ranges[i];
  Piece piece;
  piece.empty = std::any_of(ranges.begin(), ranges.end(),
                            [](const Interval& range) { return range.size() <= 0; });
  if (piece.empty) {
    piece.box.assign(factor.dims.size(), Interval{0, 0});
    return piece;
  }
  if (plain_[f] && !positions_.empty()) {
    for (int d : factor.dims) {
      Interval hull;
      for (const std::vector<Affine>& position : positions_) {
        hull = Hull(hull, Range(position[d], all));
      }
      piece.box.push_back(hull);
    }
    return piece;
  }
  if (partial_) all.back() = {0, 1};
  const Box box = analysis_->AnalyzeOne(all, operand_);
  piece.empty = !box.empty() && IsEmpty(box);
  for (int d : factor.dims) piece.box.push_back(box[d]);
  return piece;
}

}  // namespace yuba
