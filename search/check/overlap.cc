#include "search/check/overlap.h"

#include <algorithm>
#include <numeric>

namespace yuba::search {

void Spread::Sort() {
  std::sort(counts.rbegin(), counts.rend());
  size_t kept = 0;
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i].first == counts[kept].first) {
      counts[kept].second += counts[i].second;
    } else {
      counts[++kept] = counts[i];
    }
  }
  counts.resize(kept + 1);
}

void Spread::Reduce() {
  int64_t common = number;
  for (const auto& each : counts) common = std::gcd(common, each.second);
  if (common <= 1) return;
  number /= common;
  for (auto& each : counts) each.second /= common;
}

Spread Spread::Of(const std::vector<int64_t>& values) {
  Spread spread;
  spread.counts.clear();
  for (int64_t value : values) spread.counts.push_back({value, 1});
  spread.number = static_cast<int64_t>(values.size());
  spread.Sort();
  return spread;
}

Large Spread::Sum() const {
  Large sum = 0;
  for (const auto& [value, count] : counts) sum += Large{value} * count;
  return sum;
}

Spread Spread::Times(const Spread& other) const {
  Spread product;
  if (counts.size() == 1 || other.counts.size() == 1) {  // mostly; and the order stays
    const auto [value, times] = (counts.size() == 1 ? counts : other.counts).front();
    product.counts = counts.size() == 1 ? other.counts : counts;
    for (auto& each : product.counts) each = {each.first * value, each.second * times};
    product.number = number * other.number;
    if (value == 0) product.Sort();
    return product;
  }
  product.counts.clear();
  product.counts.reserve(counts.size() * other.counts.size());
  for (const auto& [a, times_a] : counts) {
    for (const auto& [b, times_b] : other.counts)
      product.counts.push_back({a * b, times_a * times_b});
  }
  product.number = number * other.number;
  product.Sort();
  return product;
}

void OverlapBound::Summarise() {
  by_part.Reduce();
  by_piece.Reduce();
  if (either) {
    sum = by_part.Sum();
    number = by_part.number;
    most = std::min(by_part.Most(), by_piece.Most());
    return;
  }
  sum = by_part.Sum() * by_piece.Sum();
  number = by_part.number * by_piece.number;
  most = by_part.Most() * by_piece.Most();
  parts_vary = by_part.counts.size() > 1;
  pieces_vary = by_piece.counts.size() > 1;
}

FactorParts FactorPartsOf(const Definition& definition, const BoxFactors& boxes, int factor,
                          const Grid& grid) {
  FactorParts pieces;
  const BoxFactor& shape = boxes.factors()[factor];
  const std::vector<int> parts = PartsOf(grid);
  pieces.number = Product(parts);
  for (const std::vector<int>& of_kind : grid) pieces.kinds.push_back(Product(of_kind));
  for (int64_t piece = 0; piece < pieces.number; ++piece) {
    std::vector<Interval> ranges(parts.size());
    int64_t rest = piece;
    for (size_t i = 0; i < parts.size(); ++i) {
      ranges[i] = PartOf(definition.indices[shape.indices[i]].extent, parts[i], rest % parts[i]);
      rest /= parts[i];
    }
    pieces.all.push_back(boxes.Of(factor, ranges));
    if (!pieces.all.back().empty) pieces.volume += Volume(pieces.all.back().box);
  }
  return pieces;
}

OverlapBound OverlapBoundOf(const std::vector<int64_t>& extents, const Grid& grid,
                            const FactorParts& pieces, bool by_kind) {
  OverlapBound shared;
  const std::vector<int> parts = PartsOf(grid);
  std::vector<int64_t> of_pieces(pieces.number, 1);
  for (int64_t q = 0; q < pieces.number; ++q) of_pieces[q] = pieces.all[q].empty ? 0 : 1;
  bool vary = extents.empty();
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> part_most(parts[d], 0), piece_most(pieces.number, 0);
    for (int64_t q = 0; q < pieces.number; ++q) {
      if (pieces.all[q].empty || extents[d] == 0) continue;
      const Interval bounds = pieces.all[q].box[d];
      // From the shard at the begin of the box to the one at its end.
      int64_t first = std::max<int64_t>(0, bounds.begin * parts[d] / extents[d] - 1);
      for (int64_t t = first; t < parts[d]; ++t) {
        const Interval part = PartOf(extents[d], parts[d], t);
        if (part.begin >= bounds.end) break;
        int64_t both = std::min(part.end, bounds.end) - std::max(part.begin, bounds.begin);
        part_most[t] = std::max(part_most[t], both);
        piece_most[q] = std::max(piece_most[q], both);
      }
    }
    Spread by_part = Spread::Of(part_most), by_piece = Spread::Of(piece_most);
    Large left = by_part.Sum() * by_piece.number, right = by_piece.Sum() * by_part.number;
    if (left == right && extents.size() == 1) {
      shared.either = true;
      shared.by_part = by_part;
      shared.by_piece = by_piece;
    } else if (left <= right) {
      shared.by_part = shared.by_part.Times(by_part);
    } else {
      vary = true;
      for (int64_t q = 0; q < pieces.number; ++q) of_pieces[q] *= piece_most[q];
    }
  }
  if (vary && !shared.either) shared.by_piece = Spread::Of(of_pieces);
  if (extents.size() == 1) {
    int64_t common = by_kind ? 1 : std::gcd<int64_t>(parts[0], pieces.number);
    for (size_t kind = 0; by_kind && kind < grid.size(); ++kind) {
      common *= std::gcd<int64_t>(grid[kind][0], pieces.kinds[kind]);
    }
    if (common != parts[0] && common != pieces.number) {
      shared.mean = Large{common} * pieces.volume;
      shared.mean_of = Large{parts[0]} * pieces.number;
    }
  }
  shared.Summarise();
  return shared;
}

namespace {

// The sum over the devices of a * b * scale, where the greatest a meets the greatest b and so on.
int64_t SortedAlike(int64_t devices, Large scale, const Spread& a, const Spread& b) {
  auto x = a.counts.begin();
  auto y = b.counts.begin();
  Large sum = 0;
  int64_t left_x = x->second * b.number, left_y = y->second * a.number;
  while (true) {
    int64_t both = std::min(left_x, left_y);
    sum += Large{x->first} * y->first * both;
    left_x -= both;
    left_y -= both;
    if (left_x == 0) {
      if (++x == a.counts.end()) break;
      left_x = x->second * b.number;
    }
    if (left_y == 0) {
      if (++y == b.counts.end()) break;
      left_y = y->second * a.number;
    }
  }
  return static_cast<int64_t>(sum * scale * devices / (Large{a.number} * b.number));
}

// A product of spreads. Mostly all but one have a single value and only scale it.
class ProductOf {
 public:
  void Add(const Spread& spread) {
    if (spread.counts.size() == 1) {
      scale_ *= spread.Most();
    } else if (many_ == nullptr) {
      many_ = &spread;
    } else {
      own_ = many_->Times(spread);
      many_ = &own_;
    }
  }
  const Spread& many() const { return many_ == nullptr ? own_ : *many_; }
  int64_t scale() const { return scale_; }

 private:
  int64_t scale_ = 1;
  const Spread* many_ = nullptr;
  Spread own_;
};

// The first bound where functions of t and of q both vary.
int64_t MostTogether(int64_t devices, absl::Span<const OverlapBound* const> factors) {
  ProductOf by_part, by_piece;
  for (const OverlapBound* shared : factors) {
    if (!shared->either) by_part.Add(shared->by_part);
    by_piece.Add(shared->by_piece);
  }
  return SortedAlike(devices, Large{by_part.scale()} * by_piece.scale(), by_part.many(),
                     by_piece.many());
}

}  // namespace

int64_t MostShared(int64_t devices, absl::Span<const OverlapBound* const> factors) {
  bool parts_vary = false, pieces_vary = false;
  Large sum = devices, number = 1;
  for (const OverlapBound* shared : factors) {
    parts_vary |= shared->parts_vary;
    pieces_vary |= shared->pieces_vary;
    sum *= shared->sum;
    number *= shared->number;
  }
  // Where one of the two does not vary, the mean of the product is the product of the means.
  int64_t most = parts_vary && pieces_vary ? MostTogether(devices, factors)
                                           : static_cast<int64_t>(sum / number);
  for (size_t independent = 0; independent < factors.size(); ++independent) {
    if (factors[independent]->mean_of == 0) continue;
    Large bound = factors[independent]->mean * devices;
    for (size_t other = 0; other < factors.size(); ++other) {  // equal ones may be one object
      if (other != independent) bound *= factors[other]->most;
    }
    most = static_cast<int64_t>(std::min<Large>(most, bound / factors[independent]->mean_of));
  }
  return most;
}

}  // namespace yuba::search
