#include "opsemantics/language/parser.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/expression_parser.h"
#include "opsemantics/language/wellformed.h"

namespace yuba {
namespace {

constexpr size_t kMostItems = 1000;  // in an operator

// One function for each rule of the grammar that is not an expression.
class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  absl::StatusOr<std::vector<OpDescription>> File() {
    std::vector<OpDescription> ops;
    while (!AtEnd()) {
      if (!Is("op") && !Is("opaque")) {
        return Error(
            absl::StrCat("expected 'op' or 'opaque', not ", Found(),
                         "; an operator's text goes on only with 'let', 'nograd', 'grad' or "
                         "'name[...] ='"));
      }
      YUBA_ASSIGN_OR_RETURN(OpDescription op, Op());
      ops.push_back(std::move(op));
    }
    return ops;
  }

 private:
  absl::StatusOr<OpDescription> Op() {
    OpDescription op;
    op.source = source();
    op.comment = CommentAbove();
    const int begin = Position();
    op.opaque = Take().text == "opaque";
    op.name_range = Here();
    YUBA_ASSIGN_OR_RETURN(op.name, Name("the operator's name"));
    YUBA_RETURN_IF_ERROR(Signature(op));
    if (op.opaque) {
      YUBA_RETURN_IF_ERROR(OpaqueTail(op));
    } else {
      while (!AtEnd() && !Is("op") && !Is("opaque")) {
        YUBA_ASSIGN_OR_RETURN(Item item, ParseItem());
        op.items.push_back(std::move(item));
        if (op.items.size() > kMostItems) {
          return SourceError(*source(), op.name_range,
                             "the operator has more definitions than any real one");
        }
      }
    }
    op.range = {begin, LastEnd()};
    return op;
  }

  absl::Status Signature(OpDescription& op) {
    YUBA_RETURN_IF_ERROR(Expect("("));
    if (!Is(")") && !Is(";")) {
      do {
        YUBA_ASSIGN_OR_RETURN(Param param, ParseParam());
        op.params.push_back(std::move(param));
      } while (TakeIf(","));
    }
    if (TakeIf(";")) {
      do {
        YUBA_ASSIGN_OR_RETURN(Attribute attribute, ParseAttribute());
        op.attributes.push_back(std::move(attribute));
      } while (TakeIf(","));
    }
    YUBA_RETURN_IF_ERROR(Expect(")"));
    YUBA_RETURN_IF_ERROR(Expect("->"));
    do {
      YUBA_ASSIGN_OR_RETURN(Output output, ParseOutput());
      op.outputs.push_back(std::move(output));
    } while (TakeIf(","));
    return absl::OkStatus();
  }

  absl::StatusOr<Param> ParseParam() {
    Param param;
    const int begin = Position();
    // `state` and `opt` can also be the names of operands.
    if (Is("state") && PeekIsName(1)) {
      Take();
      param.role = Param::kState;
    } else if (Is("opt") && PeekIsName(1)) {
      Take();
      param.role = Param::kOptional;
    }
    YUBA_ASSIGN_OR_RETURN(param.name, Name("an operand's name"));
    YUBA_ASSIGN_OR_RETURN(param.dims, Dims());
    if (TakeIf(":")) {
      YUBA_ASSIGN_OR_RETURN(param.type, Name("a type"));
    }
    if (TakeIf("=")) {
      YUBA_ASSIGN_OR_RETURN(param.absent, Expression());
    }
    param.range = {begin, LastEnd()};
    return param;
  }

  absl::StatusOr<Attribute> ParseAttribute() {
    Attribute attribute;
    const int begin = Position();
    YUBA_ASSIGN_OR_RETURN(attribute.name, Name("an attribute's name"));
    attribute.pack = TakeIf("..");
    if (TakeIf(":")) {
      YUBA_ASSIGN_OR_RETURN(attribute.type, Name("a type"));
    }
    if (TakeIf("=")) {
      YUBA_ASSIGN_OR_RETURN(attribute.value, Expression());
    }
    attribute.range = {begin, LastEnd()};
    return attribute;
  }

  absl::StatusOr<Output> ParseOutput() {
    Output output;
    const int begin = Position();
    YUBA_ASSIGN_OR_RETURN(output.name, Name("an output's name"));
    if (TakeIf("'")) output.name += "'";
    YUBA_ASSIGN_OR_RETURN(output.dims, Dims());
    if (TakeIf(":")) {
      YUBA_ASSIGN_OR_RETURN(output.type, Name("a type"));
    }
    output.range = {begin, LastEnd()};
    return output;
  }

  absl::StatusOr<std::vector<Dim>> Dims() {
    std::vector<Dim> dims;
    YUBA_RETURN_IF_ERROR(Expect("["));
    if (!Is("]")) {
      do {
        Dim dim;
        const int begin = Position();
        YUBA_ASSIGN_OR_RETURN(dim.extent, Extent());
        dim.broadcast = TakeIf("~");
        dim.range = {begin, LastEnd()};
        dims.push_back(std::move(dim));
      } while (TakeIf(","));
    }
    YUBA_RETURN_IF_ERROR(Expect("]"));
    return dims;
  }

  absl::StatusOr<Item> ParseItem() {
    Item item;
    const int begin = Position();
    if (Is("let") && PeekIsName(1)) {
      Take();
      item.kind = Item::kLet;
      item.name_range = Here();
      YUBA_ASSIGN_OR_RETURN(item.name, Name("a name"));
      item.pack = TakeIf("..");
    } else {
      if (Is("nograd") && PeekIsName(1)) {
        Take();
        item.nograd = true;
      } else if (Is("grad") && PeekIsName(1)) {
        Take();
        item.kind = Item::kGradient;
      }
      item.name_range = Here();
      YUBA_ASSIGN_OR_RETURN(item.name,
                            Name("a definition, 'let', 'nograd' or 'grad', or the next 'op'"));
      if (TakeIf("'")) item.name += "'";
      YUBA_ASSIGN_OR_RETURN(item.left, LeftSide());
    }
    YUBA_RETURN_IF_ERROR(Expect("="));
    YUBA_ASSIGN_OR_RETURN(item.value, Expression());
    item.range = {begin, LastEnd()};
    return item;
  }

  absl::StatusOr<std::vector<LeftDim>> LeftSide() {
    std::vector<LeftDim> left;
    YUBA_RETURN_IF_ERROR(Expect("["));
    if (!Is("]")) {
      do {
        LeftDim dim;
        const int begin = Position();
        YUBA_ASSIGN_OR_RETURN(dim.index, LeftIndex());
        if (TakeIf(":")) {
          YUBA_ASSIGN_OR_RETURN(dim.extent, Extent());
        }
        dim.range = {begin, LastEnd()};
        left.push_back(std::move(dim));
      } while (TakeIf(","));
    }
    YUBA_RETURN_IF_ERROR(Expect("]"));
    return left;
  }

  absl::StatusOr<SyntaxPtr> LeftIndex() {
    const bool fresh = Peek(0).kind == Token::kName || AtFactors();
    if (!fresh) {
      return Error(absl::StrCat(
          "the left side of '=' names indices, as in y[i, (a c), p..]; found ", Found()));
    }
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr index, IndexOrExpression());
    const Syntax& element = index->kind == Syntax::kPack ? *index->args[0] : *index;
    if (element.kind != Syntax::kName && element.kind != Syntax::kFactors) {
      return SourceError(*source(), index->range,
                         "the left side of '=' names indices, as in y[i, (a c), p..]; give this "
                         "expression on the right, or as a condition of a reducer's 'where'");
    }
    return index;
  }

  absl::Status OpaqueTail(OpDescription& op) {
    YUBA_RETURN_IF_ERROR(Expect("cuts"));
    do {
      YUBA_ASSIGN_OR_RETURN(std::string name, Name("a dimension that may be cut"));
      op.cuttable.push_back(std::move(name));
    } while (TakeIf(","));
    YUBA_RETURN_IF_ERROR(Expect("flops"));
    YUBA_ASSIGN_OR_RETURN(op.flops, Expression());
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::vector<OpDescription>> ParseSyntax(absl::string_view file,
                                                       absl::string_view text) {
  auto source = std::make_shared<Source>();
  source->file = std::string(file);
  source->text = std::string(text);
  YUBA_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(*source));
  return Parser(source, std::move(tokens)).File();
}

absl::StatusOr<std::vector<OpDescription>> ParseFile(absl::string_view file,
                                                     absl::string_view text) {
  YUBA_ASSIGN_OR_RETURN(std::vector<OpDescription> ops, ParseSyntax(file, text));
  for (const OpDescription& op : ops) YUBA_RETURN_IF_ERROR(CheckWellFormed(op));
  return ops;
}

}  // namespace yuba
