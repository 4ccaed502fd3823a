#include "compiler/train/tables.h"

#include <algorithm>
#include <cmath>

namespace yuba::compiler {
namespace {

constexpr double kNear = 2e-3;  // what rounding to f32 or bf16 makes of few positions

bool IsNear(double a, double b) { return std::abs(a - b) <= kNear; }

// At most so many positions are looked at: the frequency is known from the second alone.
constexpr int64_t kMostPositions = 8;
constexpr int64_t kFewest = 4;  // fewer rows or powers may be so by chance
constexpr int64_t kMostColumns = 1 << 14;

std::vector<int64_t> LongDims(const std::vector<int64_t>& dims) {
  std::vector<int64_t> of;
  for (const int64_t dim : dims) {
    if (dim != 1) of.push_back(dim);
  }
  return of;
}

// `moves` becomes true where the column is not 0 or 1 all along.
bool IsColumnOfSines(const std::vector<Scalar>& elements, int64_t n, int64_t i, bool& moves) {
  const auto positions = static_cast<int64_t>(elements.size()) / n;
  const auto at = [&](int64_t p) { return elements[p * n + i].number; };
  const bool sine = IsNear(at(0), 0), cosine = IsNear(at(0), 1);
  if ((!sine && !cosine) || std::abs(at(1)) > 1) return false;
  const double frequency = sine ? std::asin(at(1)) : std::acos(at(1));
  moves |= std::abs(frequency) > 0.01;
  for (int64_t p = 2; p < positions; ++p) {
    const double angle = static_cast<double>(p) * frequency;
    if (!IsNear(at(p), sine ? std::sin(angle) : std::cos(angle))) return false;
  }
  return true;
}

}  // namespace

int64_t ElementsToSee(const std::vector<int64_t>& dims) {
  const std::vector<int64_t> of = LongDims(dims);
  const bool table = of.size() == 2 && of[0] >= kFewest && of[1] <= kMostColumns;
  if (table) return std::min(of[0], kMostPositions) * of[1];
  return of.size() == 1 && of[0] >= kFewest && of[0] <= kMostColumns ? of[0] : 0;
}

bool LooksLikeTable(const std::vector<int64_t>& dims, const std::vector<Scalar>& elements) {
  const std::vector<int64_t> of = LongDims(dims);
  if (of.size() == 1) {
    const double ratio = elements[1].number;
    bool powers = elements[0].number == 1 && ratio > 0 && ratio < 1;
    for (size_t i = 1; powers && i < elements.size(); ++i)
      powers = std::abs(elements[i].number / elements[i - 1].number - ratio) <= kNear * ratio;
    return powers;
  }
  bool moves = false;
  for (int64_t i = 0; i < of[1]; ++i) {
    if (!IsColumnOfSines(elements, of[1], i, moves)) return false;
  }
  return moves;
}

}  // namespace yuba::compiler
