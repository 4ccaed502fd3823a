#include "compiler/dump/sharding_attr.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

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

ShardingAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const Sharding& sharding,
                    const std::vector<std::vector<int64_t>>& dims) {
  llvm::SmallVector<DimensionAttr> attrs;
  size_t flat = 0;
  for (const std::vector<int64_t>& factors : dims) {
    llvm::SmallVector<AxesAttr> axes;
    for (size_t f = 0; f < factors.size(); ++f) {
      YUBA_CHECK(flat < sharding.axes.size());
      axes.push_back(AttrOf(context, mesh, sharding.axes[flat++]));
    }
    attrs.push_back(DimensionAttr::get(context, factors, axes));
  }
  return ShardingAttr::get(context, attrs);
}

absl::StatusOr<Sharding> ShardingFrom(const Mesh& mesh, ShardingAttr sharding) {
  Sharding result;
  for (DimensionAttr dim : sharding.getDims()) {
    for (AxesAttr axes : dim.getAxes()) {
      YUBA_ASSIGN_OR_RETURN(result.axes.emplace_back(), AxesFrom(mesh, axes));
    }
  }
  return result;
}

std::vector<std::vector<int64_t>> DimsOf(ShardingAttr sharding) {
  std::vector<std::vector<int64_t>> dims;
  for (DimensionAttr dim : sharding.getDims()) {
    dims.emplace_back(dim.getFactors().begin(), dim.getFactors().end());
  }
  return dims;
}

std::string ToString(ShardingAttr sharding) {
  const auto append = [](std::string* out, DimensionAttr dim) { out->append(ToString(dim)); };
  return absl::StrCat("[", absl::StrJoin(sharding.getDims(), ", ", append), "]");
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

PartitionAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh,
                     const std::vector<Index>& indices, const Partition& partition) {
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<AxesAttr> axes;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (partition.axes[i].empty()) continue;
    names.push_back(mlir::StringAttr::get(context, indices[i].name));
    axes.push_back(AttrOf(context, mesh, partition.axes[i]));
  }
  return PartitionAttr::get(context, names, axes);
}

absl::StatusOr<Partition> PartitionFrom(const Mesh& mesh, const std::vector<Index>& indices,
                                        PartitionAttr partition) {
  Partition result;
  result.axes.resize(indices.size());
  size_t next = 0;  // names need not be distinct, their order is the indices'
  for (size_t i = 0; i < partition.getIndices().size(); ++i) {
    const std::string name = partition.getIndices()[i].str();
    while (next < indices.size() && indices[next].name != name) ++next;
    if (next == indices.size()) {
      return UserError("no index for ", name, " of the partition ", ToString(partition));
    }
    YUBA_ASSIGN_OR_RETURN(result.axes[next++], AxesFrom(mesh, partition.getAxes()[i]));
  }
  return result;
}

std::string ToString(PartitionAttr partition) {
  std::string text;
  for (size_t i = 0; i < partition.getIndices().size(); ++i) {
    absl::StrAppend(&text, i > 0 ? " " : "", partition.getIndices()[i].str(), "/",
                    ToString(partition.getAxes()[i]));
  }
  return text;
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
