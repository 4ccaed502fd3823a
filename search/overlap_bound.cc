#include "search/overlap_bound.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "opsemantics/base/check.h"
#include "search/arithmetic.h"

namespace yuba {
namespace {

using Wide = __int128;

// Of one dimension: by part the most that it shares with a piece, by piece the most with a part.
struct Sides {
  std::vector<int64_t> of_part, of_piece;
};

Sides SidesOf(int64_t extent, int parts, const FactorPieces& pieces, size_t rank, size_t d) {
  Sides sides;
  sides.of_part.assign(parts, 0);
  sides.of_piece.assign(pieces.count, 0);
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    const Interval& need = pieces.bounds[piece * rank + d];
    if (need.empty()) continue;
    // The first part that ends after the piece begins.
    int part = static_cast<int>(std::max<int64_t>(0, need.begin) * parts / extent);
    for (; part < parts; ++part) {
      Interval have = PartOf(extent, parts, part);
      if (have.begin >= need.end) break;
      int64_t common = Intersect(have, need).size();
      sides.of_part[part] = std::max(sides.of_part[part], common);
      sides.of_piece[piece] = std::max(sides.of_piece[piece], common);
    }
  }
  return sides;
}

// Compares the means sum/count.
int CompareMeans(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  auto total = [](const std::vector<int64_t>& v) {
    return std::accumulate(v.begin(), v.end(), int64_t{0});
  };
  Wide left = Wide{total(a)} * static_cast<int64_t>(b.size());
  Wide right = Wide{total(b)} * static_cast<int64_t>(a.size());
  return left < right ? -1 : left > right ? 1 : 0;
}

Wide Times(Wide a, int64_t b) {
  Wide product = 0;
  YUBA_CHECK(!__builtin_mul_overflow(a, static_cast<Wide>(b), &product));
  return product;
}

// The sum over `devices` of the products where the greatest values of both meet.
int64_t Matched(int64_t devices, const Profile& a, const Profile& b) {
  // Devices are taken as a.count * b.count equal shares.
  Wide sum = 0;
  size_t i = 0, j = 0;
  int64_t left_a = a.runs[0].second * b.count, left_b = b.runs[0].second * a.count;
  while (i < a.runs.size() && j < b.runs.size()) {
    int64_t both = std::min(left_a, left_b);
    sum += Times(Wide{a.runs[i].first} * b.runs[j].first, both);
    left_a -= both;
    left_b -= both;
    if (left_a == 0 && ++i < a.runs.size()) left_a = a.runs[i].second * b.count;
    if (left_b == 0 && ++j < b.runs.size()) left_b = b.runs[j].second * a.count;
  }
  return static_cast<int64_t>(Times(sum, devices) / (Wide{a.count} * b.count));
}

int64_t Quotient(Wide dividend, int64_t divisor) {
  if ((divisor & (divisor - 1)) == 0) {
    return static_cast<int64_t>(dividend >> __builtin_ctzll(divisor));
  }
  return static_cast<int64_t>(dividend / divisor);
}

Profile Scaled(Profile profile, const Profile& constant) {
  if (constant.runs.empty()) return constant;
  const auto [value, count] = constant.runs[0];
  for (auto& run : profile.runs) run = {run.first * value, run.second * count};
  profile.sum = CheckedMultiply(profile.sum, constant.sum);
  profile.count *= constant.count;
  return profile;
}

int64_t GreatestTogether(int64_t devices, const std::vector<const FactorOverlap*>& factors) {
  Profile parts = {{{1, 1}}, 1, 1}, pieces = parts;
  for (const FactorOverlap* factor : factors) {
    if (!factor->either) parts = Product(parts, factor->parts);
    pieces = Product(pieces, factor->pieces);
  }
  return Matched(devices, parts, pieces);
}

}  // namespace

Profile ProfileOf(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end(), std::greater<int64_t>());
  Profile profile;
  for (int64_t value : values) {
    if (profile.runs.empty() || profile.runs.back().first != value) {
      profile.runs.push_back({value, 0});
    }
    ++profile.runs.back().second;
    profile.sum += value;
  }
  profile.count = static_cast<int64_t>(values.size());
  return profile;
}

Profile Product(const Profile& a, const Profile& b) {
  if (a.constant()) return Scaled(b, a);
  if (b.constant()) return Scaled(a, b);
  Profile product;
  product.runs.reserve(a.runs.size() * b.runs.size());
  for (const auto& x : a.runs) {
    for (const auto& y : b.runs) {
      product.runs.push_back({x.first * y.first, x.second * y.second});
    }
  }
  std::sort(product.runs.begin(), product.runs.end(), std::greater<std::pair<int64_t, int64_t>>());
  size_t kept = 0;
  for (size_t i = 1; i < product.runs.size(); ++i) {
    if (product.runs[i].first == product.runs[kept].first) {
      product.runs[kept].second += product.runs[i].second;
    } else {
      product.runs[++kept] = product.runs[i];
    }
  }
  product.runs.resize(kept + 1);
  product.sum = CheckedMultiply(a.sum, b.sum);
  product.count = a.count * b.count;
  return product;
}

FactorOverlap OverlapOf(const std::vector<int64_t>& extents, const std::vector<int>& parts,
                        const FactorPieces& pieces) {
  FactorOverlap overlap;
  const size_t rank = extents.size();
  std::vector<int64_t> by_piece(pieces.count, 1);
  bool any_piece = false;
  for (int64_t piece = 0; rank == 0 && piece < pieces.count; ++piece) {
    by_piece[piece] = pieces.exists[piece] ? 1 : 0;
    any_piece = any_piece || by_piece[piece] == 0;
  }
  for (size_t d = 0; d < rank; ++d) {
    Sides sides = SidesOf(extents[d], parts[d], pieces, rank, d);
    int compared = CompareMeans(sides.of_part, sides.of_piece);
    if (rank == 1 && compared == 0) {
      overlap.either = true;
      overlap.parts = ProfileOf(std::move(sides.of_part));
      by_piece = std::move(sides.of_piece);
      any_piece = true;
    } else if (compared <= 0) {
      overlap.parts = Product(overlap.parts, ProfileOf(std::move(sides.of_part)));
    } else {
      for (int64_t piece = 0; piece < pieces.count; ++piece)
        by_piece[piece] *= sides.of_piece[piece];
      any_piece = true;
    }
  }
  if (any_piece) overlap.pieces = ProfileOf(std::move(by_piece));
  const Profile &a = overlap.parts, &b = overlap.pieces;
  overlap.sum = overlap.either ? a.sum : CheckedMultiply(a.sum, b.sum);
  overlap.count = overlap.either ? a.count : a.count * b.count;
  overlap.greatest =
      overlap.either ? std::min(a.greatest(), b.greatest()) : a.greatest() * b.greatest();
  overlap.parts_vary = !overlap.either && !a.constant();
  overlap.pieces_vary = !overlap.either && !b.constant();
  if (rank != 1) return overlap;
  const int64_t common = std::gcd<int64_t>(parts[0], pieces.count);
  if (common == parts[0] || common == pieces.count) return overlap;
  // Axes that both use: at most `common` combinations, within which parts and pieces are
  // independent.
  overlap.mean = CheckedMultiply(common, pieces.volume);
  overlap.mean_of = parts[0] * pieces.count;
  return overlap;
}

int64_t GreatestOverlap(int64_t devices, const std::vector<const FactorOverlap*>& factors) {
  bool parts_vary = false, pieces_vary = false;
  Wide sum = devices;
  int64_t count = 1;
  for (const FactorOverlap* factor : factors) {
    parts_vary |= factor->parts_vary;
    pieces_vary |= factor->pieces_vary;
    sum = Times(sum, factor->sum);
    count *= factor->count;
  }
  if (sum == 0) return 0;
  // Where only one of the two varies, nothing is correlated.
  int64_t greatest =
      parts_vary && pieces_vary ? GreatestTogether(devices, factors) : Quotient(sum, count);
  for (const FactorOverlap* loose : factors) {
    if (loose->mean_of == 0) continue;
    Wide product = Wide{loose->mean} * devices;
    for (const FactorOverlap* other : factors) {
      if (other != loose) product = Times(product, other->greatest);
    }
    greatest = static_cast<int64_t>(std::min<Wide>(greatest, product / loose->mean_of));
  }
  return greatest;
}

}  // namespace yuba
