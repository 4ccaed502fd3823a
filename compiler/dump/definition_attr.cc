#include "compiler/dump/definition_attr.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba::compiler {
namespace {

using mlir::Attribute;
using mlir::DictionaryAttr;
using mlir::NamedAttribute;

absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

// ---- To attributes.

class Writer {
 public:
  Writer(mlir::MLIRContext* context, int indices) : builder_(context), indices_(indices) {}

  Attribute Map(const std::vector<Affine>& results) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (const Affine& affine : results) {
      mlir::AffineExpr expr = builder_.getAffineConstantExpr(affine.constant);
      for (const auto& [index, coefficient] : affine.terms) {
        expr = expr + builder_.getAffineDimExpr(index) * coefficient;
      }
      exprs.push_back(expr);
    }
    return mlir::AffineMapAttr::get(
        mlir::AffineMap::get(indices_, 0, exprs, builder_.getContext()));
  }

  Attribute Body(const ExprPtr& expr) {
    const auto let = lets_.find(expr.get());
    return let == lets_.end() ? Node(*expr) : Let(let->second);
  }

  Attribute Node(const Expr& expr) {
    llvm::SmallVector<NamedAttribute> fields;
    const auto add = [&](const char* name, Attribute value) {
      fields.push_back(builder_.getNamedAttr(name, value));
    };
    if (expr.type != ElementType::kF32) add("type", builder_.getStringAttr(Name(expr.type)));
    switch (expr.kind) {
      case Expr::kLiteral:
        if (IsFloat(expr.type))
          add("literal", builder_.getF64FloatAttr(expr.number));
        else
          add("literal", builder_.getI64IntegerAttr(expr.integer));
        break;
      case Expr::kIndex: add("index", Map({expr.affine})); break;
      case Expr::kRead:
        add("read", builder_.getI64IntegerAttr(expr.operand));
        add("at", Map(expr.position));
        break;
      case Expr::kCall: add("call", builder_.getStringAttr(Name(expr.function))); break;
    }
    if (!expr.args.empty()) {
      llvm::SmallVector<Attribute> args;
      for (const ExprPtr& arg : expr.args) args.push_back(Body(arg));
      add("args", builder_.getArrayAttr(args));
    }
    return builder_.getDictionaryAttr(fields);
  }

  Attribute Where(const Constraint& constraint) {
    return builder_.getDictionaryAttr(
        {builder_.getNamedAttr("compare",
                               builder_.getStringAttr(constraint.equality ? "==" : "<=")),
         builder_.getNamedAttr("zero", Map({constraint.expression}))});
  }

  Attribute Where(const DataCondition& condition) {
    llvm::SmallVector<NamedAttribute> fields = {
        builder_.getNamedAttr("compare", builder_.getStringAttr(Name(condition.compare))),
        builder_.getNamedAttr("index", Map({condition.index})),
        builder_.getNamedAttr("reversed", builder_.getBoolAttr(condition.reversed)),
        builder_.getNamedAttr("value", Body(condition.value))};
    if (condition.table != nullptr) {
      fields.push_back(builder_.getNamedAttr(
          "table_indices", builder_.getDenseI32ArrayAttr(condition.table->indices)));
      fields.push_back(
          builder_.getNamedAttr("table", builder_.getDenseI64ArrayAttr(condition.table->values)));
    }
    return builder_.getDictionaryAttr(fields);
  }

  Attribute Write(Definition definition) {
    const llvm::SmallVector<Attribute> lets = Lets(definition);
    llvm::SmallVector<Attribute> indices, where, data_where;
    for (const Index& index : definition.indices) {
      indices.push_back(builder_.getDictionaryAttr(
          {builder_.getNamedAttr("name", builder_.getStringAttr(index.name)),
           builder_.getNamedAttr("extent", builder_.getI64IntegerAttr(index.extent)),
           builder_.getNamedAttr("reduction", builder_.getBoolAttr(index.reduction))}));
    }
    for (const Constraint& constraint : definition.where) where.push_back(Where(constraint));
    for (const DataCondition& condition : definition.data_where) {
      data_where.push_back(Where(condition));
    }
    llvm::SmallVector<NamedAttribute> fields = {
        builder_.getNamedAttr("name", builder_.getStringAttr(definition.name)),
        builder_.getNamedAttr("indices", builder_.getArrayAttr(indices)),
        builder_.getNamedAttr("left", Map(definition.left)),
        builder_.getNamedAttr("reducer", builder_.getStringAttr(Name(definition.reducer))),
        builder_.getNamedAttr("where", builder_.getArrayAttr(where)),
        builder_.getNamedAttr("data_where", builder_.getArrayAttr(data_where)),
        builder_.getNamedAttr("body", Body(definition.body)),
        builder_.getNamedAttr("nograd", builder_.getBoolAttr(definition.nograd)),
        builder_.getNamedAttr("partial", builder_.getBoolAttr(definition.partial)),
        builder_.getNamedAttr("partial_operands",
                              builder_.getDenseI32ArrayAttr(definition.partial_operands)),
    };
    if (!lets.empty()) fields.push_back(builder_.getNamedAttr("lets", builder_.getArrayAttr(lets)));
    if (!definition.opaque.function.empty())
      fields.push_back(builder_.getNamedAttr("opaque", Called(definition.opaque)));
    return builder_.getDictionaryAttr(fields);
  }

  Attribute Called(const Opaque& opaque) {
    return builder_.getDictionaryAttr(
        {builder_.getNamedAttr("function", builder_.getStringAttr(opaque.function)),
         builder_.getNamedAttr("attributes", builder_.getDenseF64ArrayAttr(opaque.attributes)),
         builder_.getNamedAttr("flops", builder_.getI64IntegerAttr(opaque.flops))});
  }

 private:
  // The terms of large bodies that are used more than once. They are written once, each after those
  // that it uses, and {let = n} stands for the n-th of them. Shares the terms of `definition`.
  llvm::SmallVector<Attribute> Lets(Definition& definition) {
    std::vector<ExprPtr> large;
    const auto add = [&large](const ExprPtr& root) {
      if (TreeSize(root) > kLargestTree) large.push_back(root);
    };
    ShareTerms(definition);
    add(definition.body);
    for (const DataCondition& condition : definition.data_where) add(condition.value);
    llvm::SmallVector<Attribute> lets;
    named_ = RepeatedTerms(large);
    for (const ExprPtr& term : named_) {
      lets.push_back(Node(*term));
      lets_.emplace(term.get(), static_cast<int64_t>(lets_.size()));
    }
    return lets;
  }

  Attribute Let(int64_t number) {
    return builder_.getDictionaryAttr(
        {builder_.getNamedAttr("let", builder_.getI64IntegerAttr(number))});
  }

  mlir::Builder builder_;
  int indices_;
  std::vector<ExprPtr> named_;
  absl::flat_hash_map<const Expr*, int64_t> lets_;
};

// ---- From attributes. Anything may be missing or of another kind: text is written by people too.

template <typename T>
absl::StatusOr<T> Field(DictionaryAttr attr, const char* name) {
  const auto value = attr ? attr.getAs<T>(name) : T();
  if (!value) return UserError("definition: '", name, "' is missing or of another kind");
  return value;
}

// a * b where that is as large as elaboration lets the numbers of index expressions be, so that
// sums of them do not overflow.
absl::StatusOr<int64_t> Product(int64_t a, int64_t b) {
  constexpr int64_t largest = int64_t{1} << 50;
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product <= largest && product >= -largest)
    return product;
  return UserError("definition: an index expression has too large numbers");
}

absl::Status AddTerms(mlir::AffineExpr expr, int64_t factor, Affine& sum) {
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    YUBA_ASSIGN_OR_RETURN(const int64_t value, Product(constant.getValue(), factor));
    sum = sum + ConstantAffine(value);
    return absl::OkStatus();
  }
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    sum = sum + IndexAffine(dim.getPosition()) * factor;
    return absl::OkStatus();
  }
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == mlir::AffineExprKind::Add) {
    YUBA_RETURN_IF_ERROR(AddTerms(binary.getLHS(), factor, sum));
    return AddTerms(binary.getRHS(), factor, sum);
  }
  if (binary && expr.getKind() == mlir::AffineExprKind::Mul) {
    if (const auto right = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS())) {
      YUBA_ASSIGN_OR_RETURN(factor, Product(factor, right.getValue()));
      return AddTerms(binary.getLHS(), factor, sum);
    }
  }
  return UserError("definition: an index expression that is no sum of multiples");
}

class Reader {
 public:
  absl::StatusOr<std::vector<Affine>> Map(DictionaryAttr attr, const char* name) {
    YUBA_ASSIGN_OR_RETURN(const auto map, Field<mlir::AffineMapAttr>(attr, name));
    if (static_cast<int>(map.getValue().getNumDims()) != indices_ ||
        map.getValue().getNumSymbols() > 0) {
      return UserError("definition: '", name, "' is over another number of indices");
    }
    std::vector<Affine> results;
    for (mlir::AffineExpr expr : map.getValue().getResults()) {
      results.emplace_back();
      YUBA_RETURN_IF_ERROR(AddTerms(expr, 1, results.back()));
    }
    return results;
  }

  absl::StatusOr<Affine> One(DictionaryAttr attr, const char* name) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Affine> results, Map(attr, name));
    if (results.size() != 1) return UserError("definition: '", name, "' must be one expression");
    return results[0];
  }

  // A body in which no path from the root has more than kDeepest nodes.
  absl::StatusOr<ExprPtr> Body(DictionaryAttr attr) {
    YUBA_ASSIGN_OR_RETURN(const Deep body, Term(attr, 0));
    if (body.depth > kDeepest) return TooDeep();
    return body.expr;
  }

  // An expression, and how many nodes its longest path has.
  struct Deep {
    ExprPtr expr;
    int depth = 1;
  };

  absl::StatusOr<Deep> Term(DictionaryAttr attr, int depth) {
    if (!attr || depth > kDeepest) return TooDeep();
    if (const auto let = attr.getAs<mlir::IntegerAttr>("let")) {
      const int64_t number = let.getInt();
      if (number >= 0 && number < static_cast<int64_t>(lets_.size())) return lets_[number];
      return UserError("definition: the let ", number, " does not come before its use");
    }
    Deep term;
    auto expr = std::make_shared<Expr>();
    if (const auto type = attr.getAs<mlir::StringAttr>("type")) {
      const auto known = ElementTypeFromName(View(type.getValue()));
      if (!known) return UserError("definition: no type is called ", View(type.getValue()));
      expr->type = *known;
    }
    if (attr.contains("read")) {
      expr->kind = Expr::kRead;
      YUBA_ASSIGN_OR_RETURN(const auto operand, Field<mlir::IntegerAttr>(attr, "read"));
      expr->operand = static_cast<int>(operand.getInt());
      YUBA_ASSIGN_OR_RETURN(expr->position, Map(attr, "at"));
    } else if (attr.contains("index")) {
      expr->kind = Expr::kIndex;
      YUBA_ASSIGN_OR_RETURN(expr->affine, One(attr, "index"));
    } else if (attr.contains("call")) {
      expr->kind = Expr::kCall;
      YUBA_ASSIGN_OR_RETURN(const auto name, Field<mlir::StringAttr>(attr, "call"));
      YUBA_ASSIGN_OR_RETURN(expr->function, FunctionFrom(View(name.getValue())));
    } else if (const auto number = attr.getAs<mlir::FloatAttr>("literal")) {
      expr->number = number.getValueAsDouble();
    } else {
      YUBA_ASSIGN_OR_RETURN(const auto integer, Field<mlir::IntegerAttr>(attr, "literal"));
      expr->integer = integer.getInt();
    }
    if (const auto args = attr.getAs<mlir::ArrayAttr>("args")) {
      for (Attribute arg : args) {
        YUBA_ASSIGN_OR_RETURN(Deep child, Term(llvm::dyn_cast<DictionaryAttr>(arg), depth + 1));
        term.depth = std::max(term.depth, child.depth + 1);
        expr->args.push_back(std::move(child.expr));
      }
    }
    term.expr = std::move(expr);
    return term;
  }

  absl::StatusOr<Definition> Read(DictionaryAttr attr) {
    Definition definition;
    YUBA_ASSIGN_OR_RETURN(const auto name, Field<mlir::StringAttr>(attr, "name"));
    definition.name = name.getValue().str();
    YUBA_ASSIGN_OR_RETURN(const auto indices, Field<mlir::ArrayAttr>(attr, "indices"));
    indices_ = static_cast<int>(indices.size());
    for (Attribute entry : indices) {
      const auto fields = llvm::dyn_cast<DictionaryAttr>(entry);
      YUBA_ASSIGN_OR_RETURN(const auto index, Field<mlir::StringAttr>(fields, "name"));
      YUBA_ASSIGN_OR_RETURN(const auto extent, Field<mlir::IntegerAttr>(fields, "extent"));
      YUBA_ASSIGN_OR_RETURN(const auto reduction, Field<mlir::BoolAttr>(fields, "reduction"));
      definition.indices.push_back({index.getValue().str(), extent.getInt(), reduction.getValue()});
    }
    YUBA_ASSIGN_OR_RETURN(definition.left, Map(attr, "left"));
    YUBA_ASSIGN_OR_RETURN(const auto reducer, Field<mlir::StringAttr>(attr, "reducer"));
    YUBA_ASSIGN_OR_RETURN(definition.reducer, ReducerFrom(View(reducer.getValue())));
    YUBA_RETURN_IF_ERROR(ReadLets(attr));
    YUBA_RETURN_IF_ERROR(ReadWhere(attr, definition));
    YUBA_ASSIGN_OR_RETURN(const auto body, Field<DictionaryAttr>(attr, "body"));
    YUBA_ASSIGN_OR_RETURN(definition.body, Body(body));
    YUBA_ASSIGN_OR_RETURN(const auto nograd, Field<mlir::BoolAttr>(attr, "nograd"));
    definition.nograd = nograd.getValue();
    if (const auto partial = attr.getAs<mlir::BoolAttr>("partial")) {
      definition.partial = partial.getValue();
    }
    if (const auto partials = attr.getAs<mlir::DenseI32ArrayAttr>("partial_operands")) {
      definition.partial_operands.assign(partials.asArrayRef().begin(),
                                         partials.asArrayRef().end());
    }
    if (const auto opaque = attr.getAs<DictionaryAttr>("opaque")) {
      YUBA_ASSIGN_OR_RETURN(definition.opaque, Called(opaque));
    }
    ShareTerms(definition);
    return definition;
  }

 private:
  static absl::StatusOr<Opaque> Called(DictionaryAttr attr) {
    Opaque opaque;
    YUBA_ASSIGN_OR_RETURN(const auto function, Field<mlir::StringAttr>(attr, "function"));
    opaque.function = function.getValue().str();
    YUBA_ASSIGN_OR_RETURN(const auto given, Field<mlir::DenseF64ArrayAttr>(attr, "attributes"));
    opaque.attributes.assign(given.asArrayRef().begin(), given.asArrayRef().end());
    YUBA_ASSIGN_OR_RETURN(const auto flops, Field<mlir::IntegerAttr>(attr, "flops"));
    opaque.flops = std::max<int64_t>(0, flops.getInt());
    return opaque;
  }

  static constexpr int kDeepest = 200;

  static absl::Status TooDeep() {
    return UserError("definition: a body that is none, or too deep");
  }

  absl::Status ReadLets(DictionaryAttr attr) {
    const auto lets = attr.getAs<mlir::ArrayAttr>("lets");
    if (!lets) return absl::OkStatus();
    for (Attribute let : lets) {
      YUBA_ASSIGN_OR_RETURN(Deep term, Term(llvm::dyn_cast<DictionaryAttr>(let), 0));
      if (term.depth > kDeepest) return TooDeep();
      lets_.push_back(std::move(term));
    }
    return absl::OkStatus();
  }

  absl::Status ReadWhere(DictionaryAttr attr, Definition& definition) {
    YUBA_ASSIGN_OR_RETURN(const auto where, Field<mlir::ArrayAttr>(attr, "where"));
    for (Attribute entry : where) {
      const auto fields = llvm::dyn_cast<DictionaryAttr>(entry);
      Constraint constraint;
      YUBA_ASSIGN_OR_RETURN(constraint.expression, One(fields, "zero"));
      YUBA_ASSIGN_OR_RETURN(const auto compare, Field<mlir::StringAttr>(fields, "compare"));
      constraint.equality = compare.getValue() == "==";
      definition.where.push_back(std::move(constraint));
    }
    YUBA_ASSIGN_OR_RETURN(const auto data, Field<mlir::ArrayAttr>(attr, "data_where"));
    for (Attribute entry : data) {
      const auto fields = llvm::dyn_cast<DictionaryAttr>(entry);
      DataCondition condition;
      YUBA_ASSIGN_OR_RETURN(condition.index, One(fields, "index"));
      YUBA_ASSIGN_OR_RETURN(const auto compare, Field<mlir::StringAttr>(fields, "compare"));
      YUBA_ASSIGN_OR_RETURN(condition.compare, FunctionFrom(View(compare.getValue())));
      YUBA_ASSIGN_OR_RETURN(const auto reversed, Field<mlir::BoolAttr>(fields, "reversed"));
      condition.reversed = reversed.getValue();
      YUBA_ASSIGN_OR_RETURN(const auto value, Field<DictionaryAttr>(fields, "value"));
      YUBA_ASSIGN_OR_RETURN(condition.value, Body(value));
      YUBA_ASSIGN_OR_RETURN(condition.table, Table(fields, definition.indices));
      definition.data_where.push_back(std::move(condition));
    }
    return absl::OkStatus();
  }

  // The table of a condition: null where it has none.
  static absl::StatusOr<ValueTablePtr> Table(DictionaryAttr condition,
                                             const std::vector<Index>& indices) {
    const auto values = condition.getAs<mlir::DenseI64ArrayAttr>("table");
    if (!values) return ValueTablePtr();
    YUBA_ASSIGN_OR_RETURN(const auto named,
                          Field<mlir::DenseI32ArrayAttr>(condition, "table_indices"));
    ValueTable table;
    int64_t points = 1;
    for (const int index : named.asArrayRef()) {
      const int least = table.indices.empty() ? 0 : table.indices.back() + 1;
      if (index < least || index >= static_cast<int>(indices.size()))
        return UserError("definition: 'table_indices' has ", index, ", which is no further index");
      const int64_t extent = indices[index].extent;
      if (extent < 1 || extent > kLargestTable / points)
        return UserError("definition: a table of more than ", kLargestTable, " values, or of none");
      points *= extent;
      table.indices.push_back(index);
      table.extents.push_back(extent);
    }
    if (values.size() != points)
      return UserError("definition: 'table' has ", values.size(), " values instead of ", points);
    for (const int64_t value : values.asArrayRef()) {
      constexpr int64_t kLargest = int64_t{1} << 40;
      if (value > kLargest || value < -kLargest)
        return UserError("definition: 'table' has the too large value ", value);
      table.values.push_back(value);
    }
    return std::make_shared<const ValueTable>(std::move(table));
  }

  static absl::StatusOr<Reducer> ReducerFrom(absl::string_view name) {
    const absl::optional<Reducer> reducer = FindReducer(name);
    if (reducer.has_value()) return *reducer;
    return UserError("definition: no reducer is called ", name);
  }

  static absl::StatusOr<Function> FunctionFrom(absl::string_view name) {
    for (int f = 0; f <= static_cast<int>(Function::kLabel); ++f) {
      if (name == Name(static_cast<Function>(f))) return static_cast<Function>(f);
    }
    return UserError("definition: no function is called ", name);
  }

  int indices_ = 0;
  std::vector<Deep> lets_;
};

}  // namespace

mlir::Type ElementTypeOf(mlir::MLIRContext* context, ElementType type) {
  mlir::Builder builder(context);
  switch (type) {
    case ElementType::kF64: return builder.getF64Type();
    case ElementType::kF32: return builder.getF32Type();
    case ElementType::kF16: return builder.getF16Type();
    case ElementType::kBF16: return builder.getBF16Type();
    case ElementType::kI64: return builder.getI64Type();
    case ElementType::kI32: return builder.getI32Type();
    case ElementType::kI8: return builder.getI8Type();
    case ElementType::kU8: return builder.getIntegerType(8, /*isSigned=*/false);
    case ElementType::kBool: return builder.getI1Type();
  }
  return builder.getF32Type();
}

absl::StatusOr<ElementType> ElementTypeFrom(mlir::Type type) {
  for (int t = 0; t <= static_cast<int>(ElementType::kBool); ++t) {
    const ElementType element = static_cast<ElementType>(t);
    if (ElementTypeOf(type.getContext(), element) == type) return element;
  }
  return UserError("a tensor of elements that Yuba does not have");
}

mlir::RankedTensorType TypeOf(mlir::MLIRContext* context, const TensorType& type) {
  return mlir::RankedTensorType::get(type.dims, ElementTypeOf(context, type.type));
}

absl::StatusOr<TensorType> TypeFrom(mlir::ShapedType type) {
  TensorType result;
  YUBA_ASSIGN_OR_RETURN(result.type, ElementTypeFrom(type.getElementType()));
  if (!type.hasStaticShape()) return UserError("a tensor whose extents are not numbers");
  result.dims.assign(type.getShape().begin(), type.getShape().end());
  return result;
}

mlir::DictionaryAttr AttrOf(mlir::MLIRContext* context, const Definition& definition) {
  Writer writer(context, static_cast<int>(definition.indices.size()));
  return llvm::cast<DictionaryAttr>(writer.Write(definition));
}

absl::StatusOr<Definition> DefinitionFrom(mlir::DictionaryAttr attr) { return Reader().Read(attr); }

}  // namespace yuba::compiler
