// The syntax tree of a description: what was written, with its places. Values are immutable once
// the parser has made them; no shapes are known here.
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

// `u..: k..` of a reducer: an index (or a pack of them) and its extent.
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
  std::string name;
  bool is_integer = false;
  int64_t integer = 0;
  double number = 0;
  std::vector<SyntaxPtr> args;
  std::vector<IndexRange> ranges;
  std::vector<SyntaxPtr> where;  // kBinary comparisons
  int depth = 1;                 // of the tree below; bounded by the parser
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

// An operand.
struct Param {
  enum Role : uint8_t { kPlain, kState, kOptional };
  Role role = kPlain;
  std::string name;
  std::vector<Dim> dims;
  std::string type;  // "" (the type that operands share), "int", "float" or an element type
  SyntaxPtr absent;  // what an absent optional operand reads as; null: 0
  SourceRange range;
};

struct Attribute {
  std::string name;
  bool pack = false;
  std::string type;  // "" (any number), "int", "float", "bool", "type" or an element type
  SyntaxPtr value;   // the default; null: must be given
  SourceRange range;
};

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

struct Item {
  enum Kind : uint8_t { kLet, kDefinition, kGradient };
  Kind kind = kDefinition;
  bool nograd = false;
  std::string name;
  bool pack = false;  // let r.. = ...
  std::vector<LeftDim> left;
  SyntaxPtr value;
  SourceRange range;
  SourceRange name_range;
};

struct OpDescription {
  SourcePtr source;
  SourceRange range;  // of the whole text of the operator
  SourceRange name_range;
  std::string name;
  std::string comment;  // the comment above it, without the #; may be empty
  std::vector<Param> params;
  std::vector<Attribute> attributes;
  std::vector<Output> outputs;
  std::vector<Item> items;

  bool opaque = false;                // then:
  std::vector<std::string> cuttable;  // extents that may be cut
  SyntaxPtr flops;

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
