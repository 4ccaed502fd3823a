#include "compiler/dump/table_attr.h"

#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

mlir::Attribute BoundAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  const mlir::Attribute axes = AxesAttr::parse(parser, {});
  if (!axes) return {};
  llvm::SmallVector<int64_t> values;
  if (parser.parseOptionalLParen()) {
    if (!llvm::cast<AxesAttr>(axes).getWords().empty()) {
      parser.emitError(parser.getCurrentLocation(), "a table like ab(0 1 2 3) expected");
      return {};
    }
    if (parser.parseInteger(values.emplace_back())) return {};
  } else {
    while (parser.parseOptionalRParen()) {
      if (parser.parseInteger(values.emplace_back())) return {};
    }
  }
  return BoundAttr::get(parser.getContext(), llvm::cast<AxesAttr>(axes), values);
}

void BoundAttr::print(mlir::AsmPrinter& printer) const {
  if (getAxes().getWords().empty() && getValues().size() == 1) {
    printer << getValues()[0];
    return;
  }
  getAxes().print(printer);
  printer << "(";
  llvm::interleave(getValues(), printer.getStream(), " ");
  printer << ")";
}

mlir::Attribute BoxAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SmallVector<BoundAttr> begins, ends;
  const auto bound = [&](llvm::SmallVectorImpl<BoundAttr>& bounds) -> mlir::ParseResult {
    const mlir::Attribute attr = BoundAttr::parse(parser, {});
    if (!attr) return mlir::failure();
    bounds.push_back(llvm::cast<BoundAttr>(attr));
    return mlir::success();
  };
  const auto range = [&]() -> mlir::ParseResult {
    return mlir::failure(bound(begins) || parser.parseColon() || bound(ends));
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, range)) return {};
  return BoxAttr::get(parser.getContext(), begins, ends);
}

void BoxAttr::print(mlir::AsmPrinter& printer) const {
  printer << "[";
  for (size_t d = 0; d < getBegins().size(); ++d) {
    if (d > 0) printer << ", ";
    getBegins()[d].print(printer);
    printer << ":";
    getEnds()[d].print(printer);
  }
  printer << "]";
}

mlir::Attribute AccessAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  const bool partial = mlir::succeeded(parser.parseOptionalKeyword("partial"));
  const mlir::Attribute box = BoxAttr::parse(parser, {});
  if (!box) return {};
  return AccessAttr::get(parser.getContext(), llvm::cast<BoxAttr>(box), partial);
}

void AccessAttr::print(mlir::AsmPrinter& printer) const {
  if (getPartial()) printer << "partial ";
  getBox().print(printer);
}

BoundAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const program::Bound& bound) {
  const AxisList axes(bound.axes().begin(), bound.axes().end());
  const std::vector<int64_t> values(bound.values().begin(), bound.values().end());
  return BoundAttr::get(context, AttrOf(context, mesh, axes), values);
}

absl::StatusOr<program::Bound> BoundFrom(const Mesh& mesh, BoundAttr bound) {
  YUBA_ASSIGN_OR_RETURN(const AxisList axes, AxesFrom(mesh, bound.getAxes()));
  program::Bound result;
  for (uint8_t axis : axes) result.add_axes(axis);
  for (int64_t value : bound.getValues()) result.add_values(value);
  const std::string fault = program::FaultOf(mesh, result);
  if (!fault.empty()) return UserError(fault);
  return result;
}

BoxAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const program::Box& box) {
  llvm::SmallVector<BoundAttr> begins, ends;
  for (const program::Range& range : box.dims()) {
    begins.push_back(AttrOf(context, mesh, range.begin()));
    ends.push_back(AttrOf(context, mesh, range.end()));
  }
  return BoxAttr::get(context, begins, ends);
}

absl::StatusOr<program::Box> BoxFrom(const Mesh& mesh, BoxAttr box) {
  program::Box result;
  for (size_t d = 0; d < box.getBegins().size(); ++d) {
    program::Range* range = result.add_dims();
    YUBA_ASSIGN_OR_RETURN(*range->mutable_begin(), BoundFrom(mesh, box.getBegins()[d]));
    YUBA_ASSIGN_OR_RETURN(*range->mutable_end(), BoundFrom(mesh, box.getEnds()[d]));
  }
  return result;
}

}  // namespace yuba::compiler
