#include "search/cost/overlap_bound.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

using Wide = __int128;

// Of one dimension: [part], the most that it shares with any piece, and [piece], the most that it
// shares with any part.
struct Sides {
  std::vector<int64_t> of_part, of_piece;
};

Sides SidesOf(int64_t extent, int parts, const PartBoxes& pieces, size_t rank, size_t d) {
  Sides sides;
  sides.of_part.assign(parts, 0);
  sides.of_piece.assign(pieces.count, 0);
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    const Interval& bounds = pieces.bounds[piece * rank + d];
    if (bounds.empty()) continue;
    // The first part that ends after the piece begins.
    int part = static_cast<int>(std::max<int64_t>(0, bounds.begin) * parts / extent);
    for (; part < parts; ++part) {
      Interval have = PartOf(extent, parts, part);
      if (have.begin >= bounds.end) break;
      int64_t common = Intersect(have, bounds).size();
      sides.of_part[part] = std::max(sides.of_part[part], common);
      sides.of_piece[piece] = std::max(sides.of_piece[piece], common);
    }
  }
  return sides;
}

// Compares the means of two lists: -1, 0 or 1.
int CompareMeans(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  auto total = [](const std::vector<int64_t>& v) {
    return std::accumulate(v.begin(), v.end(), int64_t{0});
  };
  Wide left = Wide{total(a)} * static_cast<int64_t>(b.size());
  Wide right = Wide{total(b)} * static_cast<int64_t>(a.size());
  return left < right ? -1 : left > right ? 1 : 0;
}

using ValueRuns = std::vector<std::pair<int64_t, int64_t>>;

// Sorts runs, greatest value first, and joins those of equal values.
void Join(ValueRuns* runs) {
  std::sort(runs->begin(), runs->end(), std::greater<std::pair<int64_t, int64_t>>());
  size_t kept = 0;
  for (size_t i = 1; i < runs->size(); ++i) {
    if ((*runs)[i].first == (*runs)[kept].first) {
      (*runs)[kept].second += (*runs)[i].second;
    } else {
      (*runs)[++kept] = (*runs)[i];
    }
  }
  runs->resize(kept + 1);
}

ValueRuns RunsOf(const std::vector<int64_t>& values) {
  ValueRuns runs;
  for (int64_t value : values) runs.push_back({value, 1});
  Join(&runs);
  return runs;
}

// The runs of the products of two independent values.
ValueRuns Times(const ValueRuns& a, const ValueRuns& b) {
  ValueRuns product;
  product.reserve(a.size() * b.size());
  for (const auto& x : a) {
    for (const auto& y : b) product.push_back({x.first * y.first, x.second * y.second});
  }
  Join(&product);
  return product;
}

}  // namespace

bool OverlapBounds::Bound::operator==(const Bound& other) const {
  return scale == other.scale && parts == other.parts && pieces == other.pieces &&
         parts_vary == other.parts_vary && pieces_vary == other.pieces_vary &&
         greatest == other.greatest && mean == other.mean;
}

OverlapBounds::OverlapBounds(int64_t devices, bool by_kind) : devices_(devices), by_kind_(by_kind) {
  int64_t scale = 1;
  ProfileOf({{1, 1}}, &scale);
  one_ = NumberOf(Bound());
}

int OverlapBounds::Of(const std::vector<int64_t>& extents, const Grid& grid,
                      const PartBoxes& pieces) {
  Bound bound;
  const std::vector<int> parts = PartsOf(grid);
  const size_t rank = extents.size();
  bool either = false;
  int64_t greatest_part = 1;
  ValueRuns by_part = {{1, 1}};
  std::vector<int64_t> by_piece(pieces.count, 1);
  for (int64_t piece = 0; rank == 0 && piece < pieces.count; ++piece) {
    by_piece[piece] = pieces.exists[piece] ? 1 : 0;
  }
  for (size_t d = 0; d < rank; ++d) {
    Sides sides = SidesOf(extents[d], parts[d], pieces, rank, d);
    int compared = CompareMeans(sides.of_part, sides.of_piece);
    if (rank == 1 && compared == 0) {
      either = true;
      greatest_part = *std::max_element(sides.of_part.begin(), sides.of_part.end());
      by_piece = std::move(sides.of_piece);
    } else if (compared <= 0) {
      by_part = Times(by_part, RunsOf(sides.of_part));
    } else {
      for (int64_t piece = 0; piece < pieces.count; ++piece)
        by_piece[piece] *= sides.of_piece[piece];
    }
  }
  ValueRuns of_pieces = RunsOf(by_piece);
  const int64_t parts_greatest = by_part[0].first, pieces_greatest = of_pieces[0].first;
  bound.greatest = either ? std::min(greatest_part, pieces_greatest)
                          : CheckedMultiply(parts_greatest, pieces_greatest);
  bound.parts_vary = by_part.size() > 1;
  bound.pieces_vary = !either && of_pieces.size() > 1;
  bound.parts = ProfileOf(std::move(by_part), &bound.scale);
  bound.pieces = ProfileOf(std::move(of_pieces), &bound.scale);
  if (rank != 1) return NumberOf(bound);
  int64_t common = by_kind_ ? 1 : std::gcd<int64_t>(parts[0], pieces.count);
  for (size_t kind = 0; by_kind_ && kind < grid.size(); ++kind) {
    common *= std::gcd<int64_t>(grid[kind][0], pieces.by_kind[kind]);
  }
  if (common != parts[0] && common != pieces.count) {
    // The axes that cut both have at most `common` combinations of coordinates; apart from these,
    // parts and pieces are independent. So the mean overlap is at most common / (parts * pieces) of
    // the volume of all pieces.
    bound.mean = Fraction(CheckedMultiply(common, pieces.volume), parts[0] * pieces.count);
    means_ = true;
  }
  return NumberOf(bound);
}

OverlapBounds::Bound OverlapBounds::ProductOf(const Bound& a, const Bound& b) {
  Bound product;
  product.scale = CheckedMultiply(a.scale, b.scale);
  product.parts = ProductOfProfiles(a.parts, b.parts);
  product.pieces = ProductOfProfiles(a.pieces, b.pieces);
  product.parts_vary = a.parts_vary || b.parts_vary;
  product.pieces_vary = a.pieces_vary || b.pieces_vary;
  if (means_) {
    product.greatest = CheckedMultiply(a.greatest, b.greatest);
    product.mean = std::min(a.mean * Fraction(b.greatest, 1), b.mean * Fraction(a.greatest, 1));
  }
  return product;
}

int64_t OverlapBounds::Greatest(const Bound& bound) {
  if (bound.scale == 0) return 0;
  const Profile &parts = profiles_[bound.parts], &pieces = profiles_[bound.pieces];
  // Where only one of the two varies, nothing is correlated.
  const bool matched = bound.parts_vary && bound.pieces_vary;
  const Wide sum = matched ? Matched(bound.parts, bound.pieces) : Wide{parts.sum} * pieces.sum;
  const auto greatest = static_cast<int64_t>(Fraction::Times(sum, Wide{devices_} * bound.scale) /
                                             (Wide{parts.count} * pieces.count));
  return bound.mean.is_known() ? std::min(greatest, bound.mean.FloorOf(devices_)) : greatest;
}

int OverlapBounds::NumberOf(const Bound& bound) {
  Bound none;
  none.scale = 0;
  return bounds_.Of(bound.scale == 0 ? none : bound);
}

int OverlapBounds::ProfileOf(Runs runs, int64_t* scale) {
  int64_t values = 0, counts = 0;
  for (const auto& [value, count] : runs) {
    values = std::gcd(values, value);
    counts = std::gcd(counts, count);
  }
  *scale = CheckedMultiply(*scale, values);
  for (auto& run : runs) run = {values == 0 ? 0 : run.first / values, run.second / counts};
  const auto [place, is_new] = profile_numbers_.emplace(runs, static_cast<int>(profiles_.size()));
  if (is_new) {
    Profile profile = {std::move(runs), 0, 0};
    for (const auto& [value, count] : profile.runs) {
      profile.sum = CheckedAdd(profile.sum, CheckedMultiply(value, count));
      profile.count += count;
    }
    profiles_.push_back(std::move(profile));
  }
  return place->second;
}

int OverlapBounds::ProductOfProfiles(int a, int b) {
  if (a == 0 || b == 0) return a + b;
  const auto [place, is_new] = products_.emplace(std::minmax(a, b), -1);
  if (is_new) {
    int64_t scale = 1;  // stays 1: the values of neither have a common divisor
    place->second = ProfileOf(Times(profiles_[a].runs, profiles_[b].runs), &scale);
  }
  return place->second;
}

OverlapBounds::Wide OverlapBounds::Matched(int parts, int pieces) {
  const auto [place, is_new] = matched_.emplace(std::make_pair(parts, pieces), 0);
  if (!is_new) return place->second;
  const Profile &a = profiles_[parts], &b = profiles_[pieces];
  Wide sum = 0;
  size_t i = 0, j = 0;
  int64_t left_a = a.runs[0].second * b.count, left_b = b.runs[0].second * a.count;
  while (i < a.runs.size() && j < b.runs.size()) {
    int64_t both = std::min(left_a, left_b);
    sum += Fraction::Times(Wide{a.runs[i].first} * b.runs[j].first, both);
    left_a -= both;
    left_b -= both;
    if (left_a == 0 && ++i < a.runs.size()) left_a = a.runs[i].second * b.count;
    if (left_b == 0 && ++j < b.runs.size()) left_b = b.runs[j].second * a.count;
  }
  return place->second = sum;
}

}  // namespace yuba::search
