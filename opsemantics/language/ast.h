// The syntax tree of a description: what was written, with its places in the text. No shapes are
// known here, and nothing but the grammar has been checked (wellformed.h checks the rest). Values
// are immutable once the parser has made them; trees are shared, and each OpDescription keeps its
// text.
//
// Example: in `z[n, p..: w..] = sum(u..: k..) (x[n, (p + u)..] else 0)` the Item z has the LeftDims
// n and p.. (a kPack of the kName p, with the extent kPack of w); its value is a kReduce "sum" with
// one range u and the argument kElse of a kRead and a kNumber.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_AST_H_
#define YUBA_OPSEMANTICS_LANGUAGE_AST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opsemantics/language/source.h"

namespace yuba {

struct Syntax;
using SyntaxPtr = std::shared_ptr<const Syntax>;

// `u..: k..` of a reducer: an index, or a pack of them, and its extent.
struct IndexRange {
  std::string name;
  bool pack = false;
  SyntaxPtr extent;
  SourceRange range;
};

// An expression, a dimension or an index as written.
struct Syntax {
  enum Kind : uint8_t {
    kNumber,  // `integer`, or `number` where it is no integer
    kName,    // an index, extent, attribute or let; an element of a pack inside ( ).. and lets
    kRead,    // name[args]
    kElse,    // (args[0] else args[1]); args[0] is a kRead
    kCall,    // name(args)
    kNegate,  // -args[0]
    kBinary,  // args[0] name args[1]: + - * / == != <= <
    kIf,      // if args[0] then args[1] else args[2]
    kReduce,  // name(ranges where conditions) args[0]
    kPack,    // args[0]..
    kFactors  // (args[0] args[1] ...): names and integers
  };
  Kind kind = kNumber;
  SourceRange range;
  std::string name;  // of a kName, kRead, kCall, kReduce; the operator of a kBinary
  bool is_integer = false;
  int64_t integer = 0;
  double number = 0;
  std::vector<SyntaxPtr> args;
  std::vector<IndexRange> ranges;  // of a kReduce
  std::vector<SyntaxPtr> where;    // of a kReduce: kBinary comparisons
  int depth = 1;                   // of the tree below; bounded by the parser
};

// A dimension of an operand or of an output: a name, factors, an integer, packs of these; for
// outputs also any expression of extents. `broadcast` (b~): it is b or 1.
struct Dim {
  SyntaxPtr extent;
  bool broadcast = false;
  SourceRange range;

  bool pack() const { return extent->kind == Syntax::kPack; }
  // Without the "..", if there is one.
  const Syntax& element() const { return pack() ? *extent->args[0] : *extent; }
};

// An operand: `opt c[m.., n~]: float = 0`.
struct Param {
  enum Role : uint8_t { kPlain, kState, kOptional };
  Role role = kPlain;
  std::string name;
  std::vector<Dim> dims;
  std::string type;  // "" (the type that operands share), "int", "float" or an element type
  SyntaxPtr absent;  // what an absent optional operand reads as; null: 0
  SourceRange range;
};

// An attribute: `stride.. = 1`, `axis: int`.
struct Attribute {
  std::string name;
  bool pack = false;
  std::string type;  // "" (any number), "int", "float", "bool", "type" or an element type
  SyntaxPtr value;   // the default; null: must be given
  SourceRange range;
};

// An output of the signature: `y[b, (g co), w..]`.
struct Output {
  std::string name;  // "mean'" for the next value of the state `mean`
  std::vector<Dim> dims;
  std::string type;  // "", an element type, or the name of an attribute of type `type`
  SourceRange range;
};

// One dimension of a left side: `p`, `p..`, `p: extent` or `(a o)`.
struct LeftDim {
  SyntaxPtr index;
  SyntaxPtr extent;  // null where reads settle it
  SourceRange range;

  bool pack() const { return index->kind == Syntax::kPack; }
  const Syntax& element() const { return pack() ? *index->args[0] : *index; }
};

// One statement of the body: `let r = ...`, `y[...] = ...` or `grad x[...] = ...`.
struct Item {
  enum Kind : uint8_t { kLet, kDefinition, kGradient };
  Kind kind = kDefinition;
  bool nograd = false;
  std::string name;
  bool pack = false;          // let r.. = ...
  std::vector<LeftDim> left;  // none for a let
  SyntaxPtr value;
  SourceRange range;
  SourceRange name_range;
};

// The description of one operator.
struct OpDescription {
  SourcePtr source;   // the text of its whole file
  SourceRange range;  // of the whole text of the operator
  SourceRange name_range;
  std::string name;
  std::string comment;  // the comment above it, without the #; may be empty
  std::vector<Param> params;
  std::vector<Attribute> attributes;
  std::vector<Output> outputs;
  std::vector<Item> items;

  bool opaque = false;                // an opaque operator has no items, but:
  std::vector<std::string> cuttable;  //   the names of the extents that may be cut
  SyntaxPtr flops;                    //   the number of operations

  absl::string_view text() const {
    return absl::string_view(source->text).substr(range.begin, range.end - range.begin);
  }
};

// Calls `visit` for `syntax` and everything below it, parents first.
template <typename Visit>
void WalkSyntax(const Syntax& syntax, const Visit& visit) {
  visit(syntax);
  for (const SyntaxPtr& arg : syntax.args) WalkSyntax(*arg, visit);
  for (const IndexRange& range : syntax.ranges) WalkSyntax(*range.extent, visit);
  for (const SyntaxPtr& condition : syntax.where) WalkSyntax(*condition, visit);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_AST_H_
