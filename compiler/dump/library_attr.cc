#include "compiler/dump/library_attr.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "opsemantics/base/element_type.h"
#include "runtime/program/enums.h"

namespace yuba::compiler {
namespace {

using IndexAttrs = llvm::SmallVector<LibraryIndexAttr>;
using Indices = google::protobuf::RepeatedPtrField<program::LibraryIndex>;

// What a call computes, LibraryCall::Kind, by its number.
constexpr const char* kKinds[] = {"contraction", "convolution", "data_gradient", "weight_gradient"};
static_assert(program::LibraryCall::Kind_ARRAYSIZE == std::size(kKinds));

mlir::ParseResult ReadKind(mlir::AsmParser& parser, int32_t& kind) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return mlir::failure();
  const auto found = std::find(std::begin(kKinds), std::end(kKinds), word);
  if (found == std::end(kKinds)) {
    return parser.emitError(place, "one of ") << absl::StrJoin(kKinds, ", ") << " expected";
  }
  kind = static_cast<int32_t>(found - std::begin(kKinds));
  return mlir::success();
}

mlir::ParseResult ReadType(mlir::AsmParser& parser, ElementType& type) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return mlir::failure();
  const absl::optional<ElementType> found = ElementTypeFromName(word.str());
  if (!found.has_value()) return parser.emitError(place, "an element type expected, as f32");
  type = *found;
  return mlir::success();
}

// `[<index = 0, left = 0>, ...]`
template <typename Attr>
mlir::ParseResult ReadList(mlir::AsmParser& parser, llvm::SmallVector<Attr>& attrs) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&] {
    const mlir::Attribute attr = Attr::parse(parser, {});
    if (attr) attrs.push_back(llvm::cast<Attr>(attr));
    return mlir::success(attr != nullptr);
  });
}

template <typename Attr>
void PrintList(mlir::AsmPrinter& printer, const char* word, llvm::ArrayRef<Attr> attrs) {
  if (attrs.empty()) return;
  printer << ", " << word << " = [";
  llvm::interleaveComma(attrs, printer.getStream(), [&](Attr attr) { attr.print(printer); });
  printer << "]";
}

IndexAttrs AttrsOf(mlir::MLIRContext* context, const Indices& indices) {
  IndexAttrs attrs;
  for (const program::LibraryIndex& index : indices) {
    attrs.push_back(LibraryIndexAttr::get(context, index.index(), index.left_dim(),
                                          index.right_dim(), index.result_dim()));
  }
  return attrs;
}

Indices IndicesFrom(llvm::ArrayRef<LibraryIndexAttr> attrs) {
  Indices indices;
  for (LibraryIndexAttr attr : attrs) {
    program::LibraryIndex* index = indices.Add();
    index->set_index(attr.getIndex());
    index->set_left_dim(attr.getLeft());
    index->set_right_dim(attr.getRight());
    index->set_result_dim(attr.getResult());
  }
  return indices;
}

}  // namespace

mlir::Attribute LibraryAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  int32_t left = 0, right = 0;
  int32_t kind = 0;
  ElementType type = ElementType::kF32, accumulator = ElementType::kF32;
  IndexAttrs batch, groups, rows, columns, inner;
  llvm::SmallVector<LibraryWindowAttr> windows;
  std::set<std::string> said;
  const llvm::SMLoc begin = parser.getCurrentLocation();
  const auto field = [&]() -> mlir::ParseResult {
    const llvm::SMLoc place = parser.getCurrentLocation();
    llvm::StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual()) return mlir::failure();
    if (!said.insert(word.str()).second) {
      return parser.emitError(place, "the library call has its field ") << word << " twice";
    }
    if (word == "kind") return ReadKind(parser, kind);
    if (word == "type") return ReadType(parser, type);
    if (word == "accumulator") return ReadType(parser, accumulator);
    if (word == "left") return parser.parseInteger(left);
    if (word == "right") return parser.parseInteger(right);
    if (word == "batch") return ReadList(parser, batch);
    if (word == "groups") return ReadList(parser, groups);
    if (word == "rows") return ReadList(parser, rows);
    if (word == "columns") return ReadList(parser, columns);
    if (word == "inner") return ReadList(parser, inner);
    if (word == "windows") return ReadList(parser, windows);
    return parser.emitError(place, "one of left, right, batch, groups, rows, columns, inner, ")
           << "windows, kind, type, accumulator expected";
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, field)) return {};
  if (said.count("left") == 0 || said.count("right") == 0) {
    parser.emitError(begin, "a library call says which operands are left and right");
    return {};
  }
  return LibraryAttr::get(parser.getContext(), left, right, batch, groups, rows, columns, inner,
                          windows, kind, type, accumulator);
}

void LibraryAttr::print(mlir::AsmPrinter& printer) const {
  printer << "(left = " << getLeft() << ", right = " << getRight();
  PrintList(printer, "batch", getBatch());
  PrintList(printer, "groups", getGroups());
  PrintList(printer, "rows", getRows());
  PrintList(printer, "columns", getColumns());
  PrintList(printer, "inner", getInner());
  PrintList(printer, "windows", getWindows());
  printer << ", kind = " << kKinds[getKind()] << ", type = " << Name(getType())
          << ", accumulator = " << Name(getAccumulator()) << ")";
}

LibraryAttr AttrOf(mlir::MLIRContext* context, const program::LibraryCall& call) {
  llvm::SmallVector<LibraryWindowAttr> windows;
  for (const program::LibraryWindow& window : call.windows()) {
    windows.push_back(LibraryWindowAttr::get(context, window.output(), window.kernel(),
                                             window.input(), window.stride(), window.dilation(),
                                             window.low(), window.input_dim(), window.filter_dim(),
                                             window.output_dim()));
  }
  return LibraryAttr::get(context, call.left(), call.right(), AttrsOf(context, call.batch()),
                          AttrsOf(context, call.groups()), AttrsOf(context, call.rows()),
                          AttrsOf(context, call.columns()), AttrsOf(context, call.inner()), windows,
                          call.kind(), FromProto(call.type()), FromProto(call.accumulator()));
}

program::LibraryCall LibraryFrom(LibraryAttr library) {
  program::LibraryCall call;
  call.set_kind(static_cast<program::LibraryCall::Kind>(library.getKind()));
  call.set_type(ToProto(library.getType()));
  call.set_accumulator(ToProto(library.getAccumulator()));
  call.set_left(library.getLeft());
  call.set_right(library.getRight());
  *call.mutable_batch() = IndicesFrom(library.getBatch());
  *call.mutable_groups() = IndicesFrom(library.getGroups());
  *call.mutable_rows() = IndicesFrom(library.getRows());
  *call.mutable_columns() = IndicesFrom(library.getColumns());
  *call.mutable_inner() = IndicesFrom(library.getInner());
  for (LibraryWindowAttr attr : library.getWindows()) {
    program::LibraryWindow* window = call.add_windows();
    window->set_output(attr.getOutput());
    window->set_kernel(attr.getKernel());
    window->set_input(attr.getInput());
    window->set_stride(attr.getStride());
    window->set_dilation(attr.getDilation());
    window->set_low(attr.getLow());
    window->set_input_dim(attr.getInputDim());
    window->set_filter_dim(attr.getFilterDim());
    window->set_output_dim(attr.getOutputDim());
  }
  return call;
}

}  // namespace yuba::compiler
