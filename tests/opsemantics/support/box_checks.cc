#include "tests/opsemantics/support/box_checks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {

int64_t Between(int64_t least, int64_t greatest, Random& random) {
  return least + static_cast<int64_t>(random() % (greatest - least + 1));
}

namespace {

std::vector<Interval> RandomPart(const Definition& definition, Random& random) {
  std::vector<Interval> part;
  for (const Index& index : definition.indices) {
    const int64_t a = Between(0, index.extent - 1, random),
                  b = Between(0, index.extent - 1, random);
    part.push_back(random() % 3 == 0 ? Interval{0, index.extent}
                                     : Interval{std::min(a, b), std::max(a, b) + 1});
  }
  return part;
}

// The values of an operand that a condition on data with a table reads alone are the table's.
void SetTables(const Definition& definition, std::vector<TensorValue>& values) {
  for (const DataCondition& condition : definition.data_where) {
    if (condition.table == nullptr) continue;
    std::vector<Scalar>& elements = values[condition.value->operand].elements;
    for (size_t e = 0; e < elements.size(); ++e) elements[e].integer = condition.table->values[e];
  }
}

std::vector<TensorValue> Operands(const Definition& definition) {
  std::vector<TensorValue> values;
  for (const TensorType& type : definition.operands) {
    TensorValue value{type, {}};
    value.elements.resize(ElementCount(type));
    for (size_t i = 0; i < value.elements.size(); ++i) value.elements[i].hash = i * 7919 + 1;
    values.push_back(std::move(value));
  }
  SetTables(definition, values);
  return values;
}

constexpr uint64_t kUntouched = 0x5555;

// Whether the part runs only some of the reduction.
bool IsPartial(const Definition& definition, const std::vector<Interval>& part) {
  for (size_t i = 0; i < part.size(); ++i) {
    const Index& index = definition.indices[i];
    if (index.reduction && part[i] != Interval{0, index.extent}) return true;
  }
  return false;
}

// All of the part's elements are written; where it runs only some of the reduction, elements
// outside the written box have no term.
void CheckWrites(const Definition& definition, const std::vector<Interval>& part,
                 const TensorValue& result) {
  const Box written_box = AnalyzeBoxes(definition, part).writes;
  int64_t written = 0, outside = 0;
  size_t offset = 0;
  ForEachPoint(WholeBox(definition.result.dims), [&](const std::vector<int64_t>& point) {
    const uint64_t element = result.elements[offset++].hash;
    if (element == kUntouched) return;
    ++written;
    Box box;
    for (int64_t x : point) box.push_back({x, x + 1});
    if (Contains(written_box, box)) return;
    ++outside;
    CHECK(element == Identity(definition.reducer, ElementType::kF32, Arithmetic::kHash).hash);
  });
  CHECK(written - outside == Volume(written_box));
  if (!IsPartial(definition, part)) CHECK(outside == 0);
}

// [operand]: the bounding box of the elements that the interpreter reads; checks what it writes.
std::vector<Box> LoggedBoxes(const Definition& definition, const std::vector<Interval>& part) {
  const std::vector<TensorValue> values = Operands(definition);
  std::vector<const TensorValue*> operands;
  std::vector<Box> boxes;
  for (const TensorValue& value : values) {
    operands.push_back(&value);
    boxes.push_back(Box(value.type.dims.size(), Interval{0, 0}));
  }
  TensorValue result{definition.result, {}};
  result.elements.resize(ElementCount(result.type));
  for (Scalar& element : result.elements) element.hash = kUntouched;
  Interpret(definition, part, operands, Arithmetic::kHash, result,
            [&boxes](int operand, const std::vector<int64_t>& position) {
              Box point;
              for (int64_t x : position) point.push_back({x, x + 1});
              boxes[operand] = Hull(boxes[operand], point);
            });
  CheckWrites(definition, part, result);
  return boxes;
}

std::string Text(const std::vector<Interval>& part) { return ToString(Box(part)); }

}  // namespace

void CheckParts(const Definition& definition, int parts, Random& random) {
  INFO(ToString(definition));
  for (int i = 0; i < parts; ++i) {
    const std::vector<Interval> part = RandomPart(definition, random);
    INFO("indices in " << Text(part));
    const Boxes boxes = AnalyzeBoxes(definition, part);
    const std::vector<Box> logged = LoggedBoxes(definition, part);
    for (size_t operand = 0; operand < logged.size(); ++operand) {
      INFO("operand " << operand << ": derived " << ToString(boxes.reads[operand]) << ", read "
                      << ToString(logged[operand]));
      CHECK(SameSet(boxes.reads[operand], logged[operand]));
    }
  }
}

}  // namespace yuba
