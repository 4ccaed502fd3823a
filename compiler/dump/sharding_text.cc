// The text of shardings and partitions, to and from attributes.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/dump/sharding_attr.h"

namespace yuba::compiler {
namespace {

// The text between < and > of an attribute that is not made of MLIR's tokens. Blanks are skipped.
class Body {
 public:
  explicit Body(mlir::DialectAsmParser& parser)
      : parser_(parser),
        rest_(parser.getFullSymbolSpec().drop_until([](char c) { return c == '<'; })) {}

  bool Take(char c) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(llvm::StringRef(&c, 1));
  }
  mlir::ParseResult Expect(char c) {
    return Take(c) ? mlir::success() : Fail(llvm::Twine("'") + llvm::Twine(c) + "' expected");
  }
  mlir::ParseResult Extent(int64_t& extent) {
    rest_ = rest_.ltrim();
    if (!rest_.starts_with("-") && !rest_.consumeInteger(10, extent)) return mlir::success();
    return Fail("an extent expected");
  }
  mlir::ParseResult Word(mlir::StringAttr& word, const char* what) {
    rest_ = rest_.ltrim();
    const llvm::StringRef text =
        rest_.take_while([](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; });
    if (text.empty()) return Fail(llvm::Twine(what) + " expected");
    rest_ = rest_.drop_front(text.size());
    word = mlir::StringAttr::get(parser_.getContext(), text);
    return mlir::success();
  }
  mlir::ParseResult Axes(AxesAttr& axes) {  // "ab", "data+model.1"
    llvm::SmallVector<mlir::StringAttr> words;
    do {
      if (Word(words.emplace_back(), "a mesh axis")) return mlir::failure();
    } while (Take('+'));
    axes = AxesAttr::get(parser_.getContext(), words);
    return mlir::success();
  }

 private:
  mlir::ParseResult Fail(const llvm::Twine& message) {
    return parser_.emitError(llvm::SMLoc::getFromPointer(rest_.data()), message);
  }

  mlir::DialectAsmParser& parser_;
  llvm::StringRef rest_;
};

// "32/ab"
mlir::ParseResult ReadFactor(mlir::MLIRContext* context, Body& body,
                             llvm::SmallVectorImpl<int64_t>& factors,
                             llvm::SmallVectorImpl<AxesAttr>& axes) {
  axes.push_back(AxesAttr::get(context, {}));
  return mlir::failure(body.Extent(factors.emplace_back()) ||
                       (body.Take('/') && body.Axes(axes.back())));
}

// "32/ab" or "(3 12/c 64)"; null after an error.
DimensionAttr ReadDimension(mlir::MLIRContext* context, Body& body) {
  llvm::SmallVector<int64_t> factors;
  llvm::SmallVector<AxesAttr> axes;
  if (!body.Take('(')) {
    if (ReadFactor(context, body, factors, axes)) return {};
  } else {
    while (!body.Take(')')) {
      if (ReadFactor(context, body, factors, axes)) return {};
    }
  }
  return DimensionAttr::get(context, factors, axes);
}

std::string ToString(DimensionAttr dim) {
  std::string text;
  for (size_t f = 0; f < dim.getFactors().size(); ++f) {
    const AxesAttr axes = dim.getAxes()[f];
    absl::StrAppend(&text, f > 0 ? " " : "", dim.getFactors()[f],
                    axes.getWords().empty() ? "" : "/", ToString(axes));
  }
  return dim.getFactors().size() == 1 ? text : absl::StrCat("(", text, ")");
}

}  // namespace

std::string ToString(ShardingAttr sharding) {
  const auto append = [](std::string* out, DimensionAttr dim) { out->append(ToString(dim)); };
  return absl::StrCat("[", absl::StrJoin(sharding.getDims(), ", ", append), "]");
}

std::string ToString(PartitionAttr partition) {
  std::string text;
  for (size_t i = 0; i < partition.getIndices().size(); ++i) {
    absl::StrAppend(&text, i > 0 ? " " : "", partition.getIndices()[i].str(), "/",
                    ToString(partition.getAxes()[i]));
  }
  return text;
}

ShardingAttr ReadSharding(mlir::DialectAsmParser& parser) {
  Body body(parser);
  llvm::SmallVector<DimensionAttr> dims;
  if (body.Expect('<') || body.Expect('[')) return {};
  if (!body.Take(']')) {
    do {
      dims.push_back(ReadDimension(parser.getContext(), body));
      if (!dims.back()) return {};
    } while (body.Take(','));
    if (body.Expect(']')) return {};
  }
  if (body.Expect('>')) return {};
  return ShardingAttr::get(parser.getContext(), dims);
}

PartitionAttr ReadPartition(mlir::DialectAsmParser& parser) {
  Body body(parser);
  llvm::SmallVector<mlir::StringAttr> indices;
  llvm::SmallVector<AxesAttr> axes;
  if (body.Expect('<')) return {};
  while (!body.Take('>')) {
    if (body.Word(indices.emplace_back(), "an index") || body.Expect('/') ||
        body.Axes(axes.emplace_back())) {
      return {};
    }
  }
  return PartitionAttr::get(parser.getContext(), indices, axes);
}

}  // namespace yuba::compiler
