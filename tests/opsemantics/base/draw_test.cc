// Drawn elements are spread as their distribution says, and follow from seed and place alone.
#include "opsemantics/base/draw.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace yuba {
namespace {

constexpr int kCount = 100000;

std::vector<double> Elements(const Draw& draw) {
  std::vector<double> elements;
  for (int i = 0; i < kCount; ++i) elements.push_back(DrawnElement(draw, i));
  return elements;
}

double Mean(const std::vector<double>& elements) {
  double sum = 0;
  for (const double element : elements) sum += element;
  return sum / kCount;
}

double Deviation(const std::vector<double>& elements) {
  const double mean = Mean(elements);
  double sum = 0;
  for (const double element : elements) sum += (element - mean) * (element - mean);
  return std::sqrt(sum / kCount);
}

TEST_CASE("normal elements have the mean, the deviation and the tails") {
  const std::vector<double> elements = Elements({Draw::kNormal, 3, 0.5, 11});
  CHECK(Mean(elements) == Approx(3).margin(0.01));
  CHECK(Deviation(elements) == Approx(0.5).margin(0.01));
  const auto within = std::count_if(elements.begin(), elements.end(),
                                    [](double element) { return std::fabs(element - 3) < 0.5; });
  CHECK(static_cast<double>(within) / kCount == Approx(0.6827).margin(0.01));
}

TEST_CASE("uniform elements fill their interval, and one that is a point") {
  const std::vector<double> elements = Elements({Draw::kUniform, -2, 6, 11});
  CHECK(Mean(elements) == Approx(2).margin(0.05));
  CHECK(Deviation(elements) == Approx(8 / std::sqrt(12.0)).margin(0.05));
  CHECK(*std::min_element(elements.begin(), elements.end()) >= -2);
  CHECK(*std::min_element(elements.begin(), elements.end()) < -1.99);
  CHECK(*std::max_element(elements.begin(), elements.end()) <= 6);
  CHECK(*std::max_element(elements.begin(), elements.end()) > 5.99);
  CHECK(DrawnElement({Draw::kUniform, 0.1, 0.1, 5}, 77) == 0.1);
}

TEST_CASE("other seeds and other places have other elements, large places too") {
  const Draw draw = {Draw::kNormal, 0, 1, 1}, other = {Draw::kNormal, 0, 1, 2};
  const uint64_t far = uint64_t{1} << 40;
  CHECK(DrawnElement(draw, 5) == DrawnElement(draw, 5));
  CHECK(DrawnElement(draw, 5) != DrawnElement(other, 5));
  CHECK(DrawnElement(draw, 5) != DrawnElement(draw, 6));
  CHECK(DrawnElement(draw, 5) != DrawnElement(draw, far + 5));
}

}  // namespace
}  // namespace yuba
