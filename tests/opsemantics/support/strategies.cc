#include "tests/opsemantics/support/strategies.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {
namespace {

uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  return x ^ (x >> 32);
}

Scalar MadeUp(uint64_t seed, ElementType type, Arithmetic arithmetic) {
  const uint64_t bits = Mixed(seed);
  Scalar scalar;
  if (!IsFloat(type)) {
    scalar.integer = static_cast<int64_t>(bits % (type == ElementType::kBool ? 2 : 7));
  } else if (arithmetic == Arithmetic::kHash) {
    scalar.hash = bits;
  } else {
    scalar = FloatLiteral(static_cast<double>(bits % 1999 + 1) / 1000, type, arithmetic);
  }
  return scalar;
}

AxisList Axes(int begin, int end) {
  AxisList axes;
  for (int axis = begin; axis < end; ++axis) axes.push_back(axis);
  return axes;
}

Sharding WholePartition(const Definition& definition) {
  return Sharding{std::vector<AxisList>(definition.indices.size())};
}

bool Fits(const Definition& definition, const Sharding& sharding, const Mesh& mesh) {
  for (size_t i = 0; i < sharding.axes.size(); ++i) {
    if (PartCount(mesh, sharding.axes[i]) > definition.indices[i].extent) return false;
  }
  return true;
}

// `value` with everything outside `box` overwritten.
TensorValue PoisonedOutside(const Box& box, const TensorValue& value) {
  TensorValue poisoned = value;
  for (size_t e = 0; e < poisoned.elements.size(); ++e) {
    if (IsFloat(value.type.type)) {
      poisoned.elements[e].hash = 0x7ff8dead00000000 + e;  // a NaN as a number
    } else {
      poisoned.elements[e].integer = 1 + static_cast<int64_t>(Mixed(e) % 3);
    }
  }
  ForEachPoint(box, [&](const std::vector<int64_t>& point) {
    int64_t offset = 0;
    for (size_t d = 0; d < point.size(); ++d) offset = offset * value.type.dims[d] + point[d];
    poisoned.elements[offset] = value.elements[offset];
  });
  return poisoned;
}

TensorValue Empty(const TensorType& type) {
  TensorValue value{type, {}};
  value.elements.resize(ElementCount(type));
  for (Scalar& element : value.elements) element.hash = 0;
  return value;
}

std::vector<const TensorValue*> Pointers(const std::vector<TensorValue>& values) {
  std::vector<const TensorValue*> pointers;
  for (const TensorValue& value : values) pointers.push_back(&value);
  return pointers;
}

bool Close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(a));
}

}  // namespace

std::vector<Sharding> Strategies(const Definition& definition, const Mesh& mesh) {
  const std::vector<int> cuttable = CuttableIndices(definition);
  const int axes = static_cast<int>(mesh.axes.size());
  std::vector<Sharding> shardings;
  const auto add = [&](const Sharding& sharding) {
    if (Fits(definition, sharding, mesh)) shardings.push_back(sharding);
  };
  for (int i : cuttable) {
    Sharding sharding = WholePartition(definition);
    sharding.axes[i] = Axes(0, axes);
    add(sharding);
    if (axes < 2) continue;
    sharding.axes[i] = Axes(1, axes);
    add(sharding);
    for (int j : cuttable) {
      if (i == j) continue;
      sharding = WholePartition(definition);
      sharding.axes[i] = Axes(0, 1);
      sharding.axes[j] = Axes(1, axes);
      add(sharding);
    }
  }
  return shardings;
}

std::string ShardingText(const Definition& definition, const Sharding& sharding, const Mesh& mesh) {
  std::string text;
  for (size_t i = 0; i < sharding.axes.size(); ++i) {
    if (sharding.axes[i].empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", definition.indices[i].name, "/");
    for (uint8_t axis : sharding.axes[i]) text += mesh.axes[axis].name;
  }
  return text;
}

std::vector<TensorValue> MadeUpOperands(const Definition& definition, Arithmetic arithmetic,
                                        uint64_t seed) {
  std::vector<TensorValue> operands;
  for (const TensorType& type : definition.operands) {
    operands.push_back(Empty(type));
    seed = Mixed(seed + 1);
    for (size_t e = 0; e < operands.back().elements.size(); ++e) {
      operands.back().elements[e] = MadeUp(seed + e, type.type, arithmetic);
    }
  }
  return operands;
}

TensorValue RunWhole(const Definition& definition, Arithmetic arithmetic,
                     const std::vector<TensorValue>& operands) {
  TensorValue result = Empty(definition.result);
  Interpret(definition, WholeRanges(definition), Pointers(operands), arithmetic, result);
  return result;
}

TensorValue RunInParts(const Definition& definition, const NodeBoxes& boxes, Arithmetic arithmetic,
                       const std::vector<TensorValue>& operands) {
  TensorType accumulated = definition.result;
  if (boxes.partials > 1) accumulated.type = AccumulatorType(accumulated.type);
  const Reducer reducer = boxes.partials > 1 ? definition.reducer : Reducer::kNone;
  TensorValue result = Empty(accumulated);
  for (Scalar& element : result.elements) {
    element = Identity(reducer, accumulated.type, arithmetic);
  }
  for (int part = 0; part < boxes.partials; ++part) {
    for (size_t device = 0; device < boxes.writes.size(); ++device) {
      if (boxes.partial[device] != part || !boxes.first[device]) continue;
      std::vector<TensorValue> poisoned;
      for (size_t i = 0; i < operands.size(); ++i) {
        poisoned.push_back(PoisonedOutside(boxes.reads[device][i], operands[i]));
      }
      TensorValue partial = Empty(accumulated);
      Interpret(definition, boxes.ranges[device], Pointers(poisoned), arithmetic, partial);
      Combine(reducer, arithmetic, partial, boxes.writes[device], result);
    }
  }
  for (Scalar& element : result.elements) {
    element = Convert(element, accumulated.type, definition.result.type, arithmetic);
  }
  result.type = definition.result;
  return result;
}

std::vector<Box> LoggedBoxes(const Definition& definition, const std::vector<Interval>& ranges,
                             const std::vector<TensorValue>& operands) {
  std::vector<Box> boxes;
  for (const TensorType& type : definition.operands) {
    boxes.push_back(Box(type.dims.size(), Interval{0, 0}));
  }
  TensorValue result = Empty(definition.result);
  Interpret(definition, ranges, Pointers(operands), Arithmetic::kHash, result,
            [&boxes](int operand, const std::vector<int64_t>& position) {
              Box& box = boxes[operand];
              for (size_t d = 0; d < position.size(); ++d) {
                box[d] = Hull(box[d], {position[d], position[d] + 1});
              }
            });
  return boxes;
}

std::string FirstDifference(const TensorValue& a, const TensorValue& b, Arithmetic arithmetic,
                            double tolerance) {
  const bool numbers = IsFloat(a.type.type) && arithmetic == Arithmetic::kFloat;
  for (size_t e = 0; e < a.elements.size(); ++e) {
    const Scalar x = a.elements[e], y = b.elements[e];
    if (numbers && !Close(x.number, y.number, tolerance)) {
      return absl::StrCat("element ", e, " is ", x.number, " and ", y.number);
    }
    if (!numbers && x.hash != y.hash) {
      return absl::StrCat("element ", e, " is ", x.hash, " and ", y.hash);
    }
  }
  return "";
}

}  // namespace yuba
