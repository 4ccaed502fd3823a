#include "opsemantics/oracle/interpret.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/oracle/interpret_opaque.h"
#include "opsemantics/regions/bounds.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/conditions.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba {
namespace {

using Point = std::vector<int64_t>;

// The offset of `position` in a tensor, or -1 outside.
int64_t OffsetOf(const std::vector<Affine>& position, const Point& point,
                 const std::vector<int64_t>& dims) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t x = Evaluate(position[d], point);
    if (x < 0 || x >= dims[d]) return -1;
    offset = offset * dims[d] + x;
  }
  return offset;
}

// A body, or the value of a condition: its nodes with the types of their values, which are found
// once. At one point the value of a node that is used more than once is computed once.
class Body {
 public:
  Body(const ExprPtr& root, const Definition& definition, Arithmetic arithmetic)
      : arithmetic_(arithmetic) {
    absl::flat_hash_map<const Expr*, int> numbers;
    root_ = Add(root, definition, numbers);
  }

  ElementType type() const { return nodes_[root_].type; }

  Scalar At(const Point& point, const std::vector<const TensorValue*>& operands) {
    point_ = &point;
    operands_ = &operands;
    ++points_;
    return ValueOf(root_);
  }

 private:
  struct Node {
    const Expr* expr = nullptr;
    ElementType type = ElementType::kF32;
    ElementType common = ElementType::kF32;  // calls: the type in which the arguments meet
    std::vector<int> args;                   // their numbers
    bool shared = false;                     // used more than once
    int64_t known_at = 0;                    // the number of the point for which `value` is known
    Scalar value;
  };

  int Add(const ExprPtr& expr, const Definition& definition,
          absl::flat_hash_map<const Expr*, int>& numbers) {
    const auto known = numbers.find(expr.get());
    if (known != numbers.end()) {
      nodes_[known->second].shared = true;
      return known->second;
    }
    Node node;
    node.expr = expr.get();
    node.type = TypeOf(*expr, definition.operands);
    for (const ExprPtr& arg : expr->args) node.args.push_back(Add(arg, definition, numbers));
    if (expr->kind == Expr::kCall) {
      node.common = nodes_[node.args[0]].type;
      for (int arg : node.args) {
        if (!IsFloat(node.common) && IsFloat(nodes_[arg].type)) node.common = nodes_[arg].type;
      }
      YUBA_CHECK(static_cast<int>(node.args.size()) == ArgumentCount(expr->function))
          << Name(expr->function) << " of " << node.args.size() << " arguments";
    }
    const int number = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
    numbers.emplace(expr.get(), number);
    return number;
  }

  Scalar ValueOf(int number) {
    Node& node = nodes_[number];
    if (!node.shared) return Compute(node);
    if (node.known_at != points_) {
      node.value = Compute(node);
      node.known_at = points_;
    }
    return node.value;
  }

  Scalar Compute(const Node& node) {
    const Expr& expr = *node.expr;
    switch (expr.kind) {
      case Expr::kLiteral: {
        if (IsFloat(expr.type)) return FloatLiteral(expr.number, expr.type, arithmetic_);
        Scalar literal;
        literal.integer = expr.integer;
        return literal;
      }
      case Expr::kIndex: {
        Scalar index;
        index.integer = Evaluate(expr.affine, *point_);
        return index;
      }
      case Expr::kRead: return Read(node);
      case Expr::kCall: return Call(node);
    }
    return Scalar();
  }

  Scalar Read(const Node& node) {
    const Expr& expr = *node.expr;
    const TensorValue& operand = *(*operands_)[expr.operand];
    const int64_t offset = OffsetOf(expr.position, *point_, operand.type.dims);
    if (offset >= 0) return operand.elements[offset];
    YUBA_CHECK(!node.args.empty()) << "operand " << expr.operand << " is read outside";
    return ArgumentAs(node, 0, node.type);
  }

  Scalar Call(const Node& node) {
    switch (node.expr->function) {
      case Function::kSelect: {
        const bool taken = ArgumentAs(node, 0, ElementType::kBool).integer != 0;
        return ArgumentAs(node, taken ? 1 : 2, node.type);
      }
      case Function::kCast:
        return Convert(ValueOf(node.args[0]), nodes_[node.args[0]].type, node.type, arithmetic_);
      case Function::kRandom: {
        Scalar values[3] = {};
        for (size_t i = 0; i < 3; ++i) values[i] = ArgumentAs(node, i, ElementType::kI64);
        return RandomNumber(values, arithmetic_);
      }
      case Function::kAnd:
      case Function::kOr:
      case Function::kNot: return Applied(node, ElementType::kBool);
      default: return Applied(node, node.common);
    }
  }

  Scalar Applied(const Node& node, ElementType type) {
    Scalar values[3] = {};
    for (size_t i = 0; i < node.args.size(); ++i) values[i] = ArgumentAs(node, i, type);
    return Apply(node.expr->function, type, arithmetic_, values);
  }

  // Arguments meet in one type: integers become floats where another argument is a float. Nothing
  // is rounded here.
  Scalar ArgumentAs(const Node& node, size_t i, ElementType type) {
    const Scalar value = ValueOf(node.args[i]);
    const ElementType from = nodes_[node.args[i]].type;
    const bool same = IsFloat(from) == IsFloat(type) && type != ElementType::kBool;
    return same ? value : Convert(value, from, type, arithmetic_);
  }

  const Arithmetic arithmetic_;
  std::vector<Node> nodes_;  // arguments before those that use them
  int root_ = 0;
  const Point* point_ = nullptr;
  const std::vector<const TensorValue*>* operands_ = nullptr;
  int64_t points_ = 0;  // points evaluated so far
};

class Interpreter {
 public:
  Interpreter(const Definition& definition, const std::vector<Interval>& ranges,
              const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
              TensorValue& result, const ReadLog& log)
      : definition_(Shared(definition)),
        ranges_(ranges),
        operands_(operands),
        arithmetic_(arithmetic),
        result_(result),
        log_(log),
        known_(KnownConditions(definition)),
        body_(definition_.body, definition_, arithmetic),
        reduction_begin_(std::find_if(definition.indices.begin(), definition.indices.end(),
                                      [](const Index& index) { return index.reduction; }) -
                         definition.indices.begin()) {
    for (const DataCondition& condition : definition_.data_where) {
      conditions_.emplace_back(condition.value, definition_, arithmetic);
    }
    const bool is_arg = IsArgReducer(definition.reducer);
    // Floats are reduced in double and rounded once, when stored.
    reduced_ = is_arg                      ? body_.type()
               : IsFloat(result.type.type) ? ElementType::kF64
                                           : result.type.type;
  }

  void Run() {
    const Box outputs(ranges_.begin(), ranges_.begin() + reduction_begin_);
    ForEachPoint(outputs, [this](const Point& output) {
      point_ = output;
      point_.resize(ranges_.size());
      for (size_t i = 0; i < output.size(); ++i) open_[i] = {output[i], output[i] + 1};
      const int64_t offset = OffsetOf(definition_.left, point_, result_.type.dims);
      YUBA_CHECK(offset >= 0) << definition_.name << " is written outside";
      accumulator_ = Identity(definition_.reducer, reduced_, arithmetic_);
      seen_ = false;
      first_.integer = 0;
      Reduce(reduction_begin_);
      result_.elements[offset] = Finished();
    });
  }

 private:
  // Loops over the reduction indices from `index` on, each over the values that the constraints
  // allow.
  void Reduce(size_t index) {
    if (index == ranges_.size()) {
      Term();
      return;
    }
    const Interval whole = ranges_[index];
    Interval bounds = whole;
    for (const Constraint& constraint : definition_.where) {
      bounds = Intersect(bounds, SolveFor(index, constraint, open_));
    }
    for (int64_t value = bounds.begin; value < bounds.end; ++value) {
      point_[index] = value;
      open_[index] = {value, value + 1};
      Reduce(index + 1);
    }
    open_[index] = whole;
  }

  void Term() {
    for (const Constraint& constraint : definition_.where) {
      const int64_t value = Evaluate(constraint.expression, point_);
      if (value > 0 || (constraint.equality && value != 0)) return;
    }
    if (log_ != nullptr) LogTerm();
    for (size_t i = 0; i < conditions_.size(); ++i) {
      if (!DataHolds(definition_.data_where[i], conditions_[i])) return;
    }
    const Scalar value = body_.At(point_, operands_);
    if (definition_.reducer == Reducer::kNone) {
      accumulator_ = Convert(value, body_.type(), result_.type.type, arithmetic_);
    } else if (IsArg()) {
      KeepFirst(value);
    } else {
      const Scalar term = Convert(value, body_.type(), reduced_, arithmetic_);
      accumulator_ = ReduceStep(definition_.reducer, reduced_, arithmetic_, accumulator_, term);
    }
  }

  bool IsArg() const { return IsArgReducer(definition_.reducer); }

  // argmax, argmin: a later term counts only where it is strictly greater (less) than all before
  // it.
  void KeepFirst(Scalar value) {
    const bool is_max = definition_.reducer == Reducer::kArgMax;
    const Scalar pair[2] = {is_max ? accumulator_ : value, is_max ? value : accumulator_};
    if (seen_ && Apply(Function::kLt, reduced_, arithmetic_, pair).integer == 0) return;
    seen_ = true;
    accumulator_ = value;
    first_.integer = 0;
    for (size_t i = reduction_begin_; i < point_.size(); ++i) {
      first_.integer = first_.integer * definition_.indices[i].extent + point_[i];
    }
  }

  bool DataHolds(const DataCondition& condition, Body& value) const {
    Scalar pair[2];
    pair[0].integer = Evaluate(condition.index, point_);
    pair[1] = Convert(value.At(point_, operands_), value.type(), ElementType::kI64, arithmetic_);
    if (condition.reversed) std::swap(pair[0], pair[1]);
    return Apply(condition.compare, ElementType::kI64, arithmetic_, pair).integer != 0;
  }

  Scalar Finished() const {
    if (IsArg()) return Convert(first_, ElementType::kI64, result_.type.type, arithmetic_);
    if (definition_.reducer == Reducer::kNone) return accumulator_;
    return Convert(accumulator_, reduced_, result_.type.type, arithmetic_);
  }

  void LogTerm() {
    logged_.clear();
    for (const DataCondition& condition : definition_.data_where) LogReads(*condition.value);
    // The value of a condition is read to find out; the body only where known ones hold.
    const bool term = std::all_of(known_.begin(), known_.end(), [this](const Constraint& known) {
      const int64_t value =
          Evaluate(known.expression, point_) + known.table_factor * ValueAt(*known.table, point_);
      return known.equality ? value == 0 : value <= 0;
    });
    if (term) LogReads(*definition_.body);
  }

  void LogReads(const Expr& expr) {
    if (!expr.args.empty() && !logged_.insert(&expr).second) return;
    if (expr.kind == Expr::kRead) {
      Point position;
      for (const Affine& affine : expr.position) position.push_back(Evaluate(affine, point_));
      const TensorType& type = operands_[expr.operand]->type;
      if (expr.args.empty() || OffsetOf(expr.position, point_, type.dims) >= 0) {
        log_(expr.operand, position);
      } else {
        LogReads(*expr.args[0]);
      }
    } else if (expr.kind == Expr::kCall && expr.function == Function::kSelect) {
      LogReads(*expr.args[0]);
      const Truth truth = TruthAt(*expr.args[0], point_);
      if (truth != Truth::kFalse) LogReads(*expr.args[1]);
      if (truth != Truth::kTrue) LogReads(*expr.args[2]);
    } else {
      for (const ExprPtr& arg : expr.args) LogReads(*arg);
    }
  }

  static Definition Shared(Definition definition) {
    ShareTerms(definition);
    return definition;
  }

  const Definition definition_;
  const std::vector<Interval>& ranges_;
  const std::vector<const TensorValue*>& operands_;
  const Arithmetic arithmetic_;
  TensorValue& result_;
  const ReadLog& log_;
  const std::vector<Constraint> known_;  // conditions on data
  Body body_;
  std::vector<Body> conditions_;
  const size_t reduction_begin_;
  ElementType reduced_;  // the type in which terms are reduced

  absl::flat_hash_set<const Expr*> logged_;  // the nodes with arguments, at the point at hand
  Point point_;
  std::vector<Interval> open_ = ranges_;  // single points for the indices whose loops are open
  Scalar accumulator_;
  bool seen_ = false;  // argmax, argmin: whether there was a term
  Scalar first_;       // argmax, argmin: the position of accumulator_
};

}  // namespace

void Interpret(const Definition& definition, const std::vector<Interval>& ranges,
               const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
               TensorValue& result, const ReadLog& log) {
  YUBA_CHECK(ranges.size() == definition.indices.size()) << definition.name;
  YUBA_CHECK(operands.size() == definition.operands.size()) << definition.name;
  YUBA_CHECK(static_cast<int64_t>(result.elements.size()) == ElementCount(result.type));
  if (IsOpaque(definition)) {
    InterpretOpaque(definition, ranges, operands, arithmetic, result, log);
    return;
  }
  Interpreter(definition, ranges, operands, arithmetic, result, log).Run();
}

void Combine(Reducer reducer, Arithmetic arithmetic, const TensorValue& partial, const Box& box,
             TensorValue& result) {
  YUBA_CHECK(partial.type == result.type);
  const ElementType type = result.type.type;
  ForEachPoint(box, [&](const Point& point) {
    int64_t offset = 0;
    for (size_t d = 0; d < point.size(); ++d) offset = offset * result.type.dims[d] + point[d];
    Scalar& target = result.elements[offset];
    const Scalar sum = ReduceStep(reducer, type, arithmetic, target, partial.elements[offset]);
    target = reducer == Reducer::kPick ? sum : Convert(sum, type, type, arithmetic);
  });
}

void InterpretGraph(const Graph& graph, Arithmetic arithmetic, std::vector<TensorValue>& values) {
  YUBA_CHECK(values.size() == graph.tensors.size());
  for (const Node& node : graph.nodes) {
    std::vector<const TensorValue*> operands;
    for (TensorId operand : node.operands) operands.push_back(&values[operand]);
    TensorValue result;
    const Definition definition = node.definition->partial_operands.empty()
                                      ? *node.definition
                                      : InGroups(*node.definition, 1);
    result.type = definition.result;
    result.elements.resize(ElementCount(result.type));
    Interpret(definition, WholeRanges(definition), operands, arithmetic, result);
    values[node.result] = std::move(result);
  }
}

}  // namespace yuba
