// The core form: what every description becomes when it is used (elaborate/elaborate.h), and all
// that box analysis, the search and the kernels see of an operator.
//
//   definition = reducer over a box of indices, where constraints hold, of a pointwise body
//                whose reads are affine in the indices
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] has the output indices i and j, the reduction index
// k, the reducer sum and the body x[i, k] * w[k, j]. Affine functions name an index by its position
// in Definition::indices: i is 0, j is 1, k is 2.
//
// Tensors are lists of *flat dimensions* here: a dimension made of factors (3 12 64) stands as
// three flat dimensions, outermost first; memory is row-major, so this changes nothing but what can
// be cut. All extents are integers. Definitions are immutable values once built.
#ifndef YUBA_OPSEMANTICS_DEFINITION_DEFINITION_H_
#define YUBA_OPSEMANTICS_DEFINITION_DEFINITION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/base/reducer.h"
#include "opsemantics/definition/functions.h"

namespace yuba {

// constant + sum of coefficient * index. Terms are sorted by index, coefficients are not 0.
struct Affine {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;  // (position in Definition::indices, coefficient)

  bool IsConstant() const { return terms.empty(); }
  // The index this is exactly (coefficient 1, constant 0), else -1.
  int BareIndex() const;
  friend bool operator==(const Affine& a, const Affine& b) {
    return a.constant == b.constant && a.terms == b.terms;
  }
};

Affine ConstantAffine(int64_t value);
Affine IndexAffine(int index);  // that index alone
Affine operator+(const Affine& a, const Affine& b);
Affine operator-(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, int64_t factor);
int64_t Evaluate(const Affine& affine, const std::vector<int64_t>& point);  // point is [index]
// The least and greatest value for indices in `ranges` ([index]), as a half-open interval; empty
// where the range of an index that it names is empty.
Interval Range(const Affine& affine, const std::vector<Interval>& ranges);

// A function of a few indices whose values are all known: what a condition on data compares with
// where it reads constants alone.
struct ValueTable {
  std::vector<int> indices;      // on which it depends: positions in Definition::indices, ascending
  std::vector<int64_t> extents;  // of these
  std::vector<int64_t> values;   // row-major; below 2^41 in size, at most kLargestTable of them
  friend bool operator==(const ValueTable& a, const ValueTable& b) {
    return a.indices == b.indices && a.extents == b.extents && a.values == b.values;
  }
};
constexpr int64_t kLargestTable = 4096;
using ValueTablePtr = std::shared_ptr<const ValueTable>;

// Whether both are null, or equal.
bool SameTable(const ValueTablePtr& a, const ValueTablePtr& b);

// expression == 0 (`equality`), or expression <= 0. With a table, its value is a part of the
// expression.
struct Constraint {
  Affine expression;
  bool equality = false;
  // In box analysis only (regions/value_tables.h), never in a definition: table_factor, 1 or -1,
  // times the table's value is added to the expression.
  ValueTablePtr table = nullptr;
  int table_factor = 0;
  friend bool operator==(const Constraint& a, const Constraint& b) {
    return a.expression == b.expression && a.equality == b.equality &&
           a.table_factor == b.table_factor && SameTable(a.table, b.table);
  }
};

// The reducer of this name, "sum" or "none"; nothing where there is none.
absl::optional<Reducer> FindReducer(absl::string_view name);

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// A node of a pointwise body. One visitor rule per kind; nothing else exists. Bodies are graphs
// without cycles: a term that is used twice is one node (shared_terms.h), and what walks a body
// looks at each node once.
struct Expr {
  enum Kind : uint8_t {
    kLiteral,  // `number` (floats) or `integer` (integers and bools), of type `type`
    kIndex,    // the value of `affine`, an i64
    kRead,     // operand `operand` at `position`; outside it, args[0] if there is one
    kCall      // `function` of `args`. kSelect(condition, a, b): only the branch taken is read.
               // kCast converts args[0] to `type`. kWrap(v, n): v + n where v < 0, as ONNX indices.
               // kLabel(v, n, ignored): v where 0 <= v < n, and -1 where v is `ignored`.
               // kMod has the sign of the divisor for integers, of the dividend for floats.
               // kRandom(key, count, element): an f32 in [0, 1) that is made of three i64 alone
               // (base/philox.h). `element` is a kIndex: where among all that its definition
               // computes the number stands, whatever part of it is computed where.
  };
  Kind kind = kLiteral;
  ElementType type = ElementType::kF32;
  double number = 0;
  int64_t integer = 0;
  Affine affine;
  int operand = -1;              // position in Definition::operands
  std::vector<Affine> position;  // [flat dimension of the operand]
  Function function = Function::kAdd;
  std::vector<ExprPtr> args;
};

// Whether two nodes are equal in all that their kind uses, but for their arguments.
bool SameNode(const Expr& a, const Expr& b);

// Calls `visit` for each node once, however often it is used, each after one of its parents and in
// the order in which a person reads them.
template <typename Visit>
void Walk(const ExprPtr& expr, const Visit& visit);

// Whether the value depends on an index by itself, as a condition on indices does: other than by
// the positions of reads and by which random number stands there.
bool NamesIndex(const Expr& expr);

struct Index {
  std::string name;  // as written; "s.1" is the second factor of index s
  int64_t extent = 1;
  bool reduction = false;
  friend bool operator==(const Index& a, const Index& b) {
    return a.name == b.name && a.extent == b.extent && a.reduction == b.reduction;
  }
};

struct TensorType {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;  // flat
  friend bool operator==(const TensorType& a, const TensorType& b) {
    return a.type == b.type && a.dims == b.dims;
  }
};

// A condition on data: index == value, index <= value or index < value, where `value` is an integer
// expression that reads tensors (already wrapped into the extent that it is compared with). A
// gather of rows is y[i, j] = pick(r where r == ids[i]) t[r, j]. Box analysis takes it as true,
// unless a table says where it is.
struct DataCondition {
  Affine index;
  Function compare = Function::kEq;  // kEq, kLe, kLt; kNe does not occur
  bool reversed = false;             // value <= index, value < index
  ExprPtr value;
  ValueTablePtr table = nullptr;  // of `value`, where constants decide it; else null
};

// What an opaque definition calls (opaque.h).
struct Opaque {
  std::string function;            // its name in opsemantics/opaque; empty: not opaque
  std::vector<double> attributes;  // as the function takes them
  int64_t flops = 0;               // of one call
  friend bool operator==(const Opaque& a, const Opaque& b) {
    return a.function == b.function && a.attributes == b.attributes && a.flops == b.flops;
  }
};

// The extent of the index that numbers groups of devices (Definition::partial_operands): as many as
// a mesh has devices at most.
constexpr int64_t kMostGroups = kMostPlannedDevices;

struct Definition {
  std::string name;            // of the result in its description, e.g. "y"; "y.1" if hoisted
  std::vector<Index> indices;  // output indices in the order of `left`, then reduction indices
  std::vector<TensorType> operands;  // each tensor once, however often the body reads it
  TensorType result;
  std::vector<Affine> left;  // [flat dimension of the result]: a bare index or a constant
  Reducer reducer = Reducer::kNone;
  std::vector<Constraint> where;          // with reducers only; all of them hold
  std::vector<DataCondition> data_where;  // with reducers only; all of them hold
  ExprPtr body;                           // never null
  Opaque opaque;                          // with the reducer kOpaque only
  bool nograd = false;                    // has no gradient
  // Whether the result stays in partials (search/rewrite/accumulators.h,
  // search/rewrite/partials.h): after this node they are reduced within groups of devices only.
  // Each device stores, for its box of the result, the sum of the terms of its group.
  bool partial = false;
  // The operands that hold such partials, ascending; the body is linear in all of them together
  // (linear.h). Each group computes this definition with its own partials, and the groups' results
  // are the partials of this result. The last index numbers the groups: it is a reduction index of
  // extent kMostGroups that is cut as others are, but that nothing reads and no loop runs through
  // (InGroups).
  std::vector<int> partial_operands;
};

bool ReadsPartials(const Definition& definition, size_t operand);  // is it in partial_operands?
// What a program runs for a definition that reads partials in `groups` groups of devices: the last
// index gets the extent `groups`, of which each group runs its own value. With one group the index
// goes, and with it the reducer where no other reduction index is left.
Definition InGroups(const Definition& definition, int groups);

// The type of an expression's value: comparisons are bool; of mixed arguments the float one counts,
// else the first. `operands` are the definition's.
ElementType TypeOf(const Expr& expr, const std::vector<TensorType>& operands);

bool operator==(const Definition& a, const Definition& b);
std::string ToString(const Definition& definition);  // one line, in the spelling of the language

namespace definition_internal {
template <typename Visit>
void WalkNew(const ExprPtr& expr, const Visit& visit, absl::flat_hash_set<const Expr*>& seen) {
  // A node to which there is one pointer is met once: trees are walked without the set.
  if (expr.use_count() > 1 && !seen.insert(expr.get()).second) return;
  visit(*expr);
  for (const ExprPtr& arg : expr->args) WalkNew(arg, visit, seen);
}
}  // namespace definition_internal

template <typename Visit>
void Walk(const ExprPtr& expr, const Visit& visit) {
  absl::flat_hash_set<const Expr*> seen;
  definition_internal::WalkNew(expr, visit, seen);
}

// The same of the body and then of the value of each condition on data.
template <typename Visit>
void Walk(const Definition& definition, const Visit& visit) {
  Walk(definition.body, visit);
  for (const DataCondition& condition : definition.data_where) Walk(condition.value, visit);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_DEFINITION_H_
