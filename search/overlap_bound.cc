#include "search/overlap_bound.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

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

Wide Times(Wide a, Wide b) {
  Wide product = 0;
  YUBA_CHECK(!__builtin_mul_overflow(a, b, &product));
  return product;
}

bool Constant(const Profile& profile) { return profile.size() == 1; }

int64_t CountOf(const Profile& profile) {
  int64_t count = 0;
  for (const auto& run : profile) count += run.second;
  return count;
}

int64_t SumOf(const Profile& profile) {
  int64_t sum = 0;
  for (const auto& run : profile) sum = CheckedAdd(sum, CheckedMultiply(run.first, run.second));
  return sum;
}

// Sorts and joins equal values.
void Join(Profile* profile) {
  std::sort(profile->begin(), profile->end(), std::greater<std::pair<int64_t, int64_t>>());
  size_t kept = 0;
  for (size_t i = 1; i < profile->size(); ++i) {
    if ((*profile)[i].first == (*profile)[kept].first) {
      (*profile)[kept].second += (*profile)[i].second;
    } else {
      (*profile)[++kept] = (*profile)[i];
    }
  }
  profile->resize(kept + 1);
}

// Takes common divisors out: that of the values is returned.
int64_t Reduce(Profile* profile) {
  int64_t values = 0, counts = 0;
  for (const auto& [value, count] : *profile) {
    values = std::gcd(values, value);
    counts = std::gcd(counts, count);
  }
  for (auto& run : *profile) run = {values == 0 ? 0 : run.first / values, run.second / counts};
  return values;
}

// Of independent values.
Profile ProductOf(const Profile& a, const Profile& b) {
  if (Constant(a) && a[0].first == 1) return b;
  if (Constant(b) && b[0].first == 1) return a;
  Profile product;
  product.reserve(a.size() * b.size());
  for (const auto& x : a) {
    for (const auto& y : b) product.push_back({x.first * y.first, x.second * y.second});
  }
  return product;
}

Profile ProfileOf(const std::vector<int64_t>& values) {
  Profile profile;
  for (int64_t value : values) profile.push_back({value, 1});
  return profile;
}

OverlapProduct Normalised(OverlapProduct product) {
  for (Profile* profile : {&product.parts, &product.pieces}) {
    Join(profile);
    product.scale = CheckedMultiply(product.scale, Reduce(profile));
  }
  if (product.scale == 0) {
    product = OverlapProduct();
    product.scale = 0;
  }
  return product;
}

// The sum over `devices` of the products where the greatest values of both meet.
Wide Matched(Wide devices, const Profile& a, const Profile& b) {
  // Devices are taken as as many equal shares.
  const int64_t count_a = CountOf(a), count_b = CountOf(b);
  Wide sum = 0;
  size_t i = 0, j = 0;
  int64_t left_a = a[0].second * count_b, left_b = b[0].second * count_a;
  while (i < a.size() && j < b.size()) {
    int64_t both = std::min(left_a, left_b);
    sum += Times(Wide{a[i].first} * b[j].first, both);
    left_a -= both;
    left_b -= both;
    if (left_a == 0 && ++i < a.size()) left_a = a[i].second * count_b;
    if (left_b == 0 && ++j < b.size()) left_b = b[j].second * count_a;
  }
  return Times(sum, devices) / (Wide{count_a} * count_b);
}

// And where nothing is correlated.
Wide Mixed(Wide devices, const Profile& a, const Profile& b) {
  return Times(Times(devices, SumOf(a)), SumOf(b)) / (Wide{CountOf(a)} * CountOf(b));
}

}  // namespace

bool OverlapProduct::operator<(const OverlapProduct& other) const {
  const auto key = [](const OverlapProduct& x) {
    return std::tie(x.scale, x.greatest, x.parts_vary, x.pieces_vary, x.parts, x.pieces, x.means);
  };
  return key(*this) < key(other);
}

OverlapProduct OverlapOf(const std::vector<int64_t>& extents, const std::vector<int>& parts,
                         const FactorPieces& pieces) {
  OverlapProduct overlap;
  const size_t rank = extents.size();
  bool either = false;
  int64_t greatest_part = 1;
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
      overlap.parts = ProductOf(overlap.parts, ProfileOf(sides.of_part));
      Join(&overlap.parts);
    } else {
      for (int64_t piece = 0; piece < pieces.count; ++piece)
        by_piece[piece] *= sides.of_piece[piece];
    }
  }
  overlap.pieces = ProfileOf(by_piece);
  Join(&overlap.pieces);
  const int64_t parts_greatest = overlap.parts[0].first, pieces_greatest = overlap.pieces[0].first;
  overlap.greatest = either ? std::min(greatest_part, pieces_greatest)
                            : CheckedMultiply(parts_greatest, pieces_greatest);
  overlap.parts_vary = overlap.parts.size() > 1;
  overlap.pieces_vary = !either && overlap.pieces.size() > 1;
  if (rank == 1) {
    const int64_t common = std::gcd<int64_t>(parts[0], pieces.count);
    if (common != parts[0] && common != pieces.count) {
      // Axes that both use: at most `common` combinations, within which parts and pieces are
      // independent.
      overlap.means.push_back(
          {CheckedMultiply(common, pieces.volume), parts[0] * pieces.count});
    }
  }
  return Normalised(std::move(overlap));
}

OverlapProduct Product(const OverlapProduct& a, const OverlapProduct& b) {
  OverlapProduct product;
  product.scale = CheckedMultiply(a.scale, b.scale);
  product.parts = ProductOf(a.parts, b.parts);
  product.pieces = ProductOf(a.pieces, b.pieces);
  product.parts_vary = a.parts_vary || b.parts_vary;
  product.pieces_vary = a.pieces_vary || b.pieces_vary;
  product.greatest = CheckedMultiply(a.greatest, b.greatest);
  for (const auto& [mean, of] : a.means) product.means.push_back({Times(mean, b.greatest), of});
  for (const auto& [mean, of] : b.means) product.means.push_back({Times(mean, a.greatest), of});
  std::sort(product.means.begin(), product.means.end());
  return Normalised(std::move(product));
}

int64_t GreatestOverlap(int64_t devices, const OverlapProduct& all) {
  if (all.scale == 0) return 0;
  // Where only one of the two varies, nothing is correlated.
  const Wide shares = Wide{devices} * all.scale;
  Wide greatest = all.parts_vary && all.pieces_vary ? Matched(shares, all.parts, all.pieces)
                                                    : Mixed(shares, all.parts, all.pieces);
  for (const auto& [mean, of] : all.means) {
    greatest = std::min(greatest, Times(mean, devices) / of);
  }
  return static_cast<int64_t>(greatest);
}

}  // namespace yuba
