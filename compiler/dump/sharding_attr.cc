#include "compiler/dump/sharding_attr.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"

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
  // "ab", "data+model.1"
  mlir::ParseResult Axes(AxesAttr& axes) {
    llvm::SmallVector<mlir::StringAttr> words;
    do {
      rest_ = rest_.ltrim();
      const llvm::StringRef word =
          rest_.take_while([](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; });
      if (word.empty()) return Fail("a mesh axis expected");
      rest_ = rest_.drop_front(word.size());
      words.push_back(mlir::StringAttr::get(parser_.getContext(), word));
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

AxesAttr AttrOf(mlir::MLIRContext* context, const Mesh& mesh, const AxisList& axes) {
  llvm::SmallVector<mlir::StringAttr> words;
  for (absl::string_view word : absl::StrSplit(AxesText(mesh, axes), '+', absl::SkipEmpty())) {
    words.push_back(mlir::StringAttr::get(context, llvm::StringRef(word.data(), word.size())));
  }
  return AxesAttr::get(context, words);
}

absl::StatusOr<AxisList> AxesFrom(const Mesh& mesh, AxesAttr axes) {
  return ParseAxes(mesh, ToString(axes));
}

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

std::string ToString(AxesAttr axes) {
  return absl::StrJoin(axes.getWords(), "+", [](std::string* out, mlir::StringAttr word) {
    out->append(word.getValue().data(), word.size());
  });
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

std::string PartitionText(const Mesh& mesh, const std::vector<Index>& indices,
                          const Partition& partition) {
  std::string text;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (partition.axes[i].empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", indices[i].name, "/",
                    AxesText(mesh, partition.axes[i]));
  }
  return text;
}

absl::StatusOr<Partition> ParsePartition(const Mesh& mesh, const std::vector<Index>& indices,
                                         absl::string_view text) {
  Partition partition;
  partition.axes.resize(indices.size());
  size_t next = 0;  // names need not be distinct, their order is the indices'
  for (absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t slash = part.rfind('/');
    if (slash == absl::string_view::npos)
      return UserError("a partition like m/ab expected at '", part, "'");
    while (next < indices.size() && indices[next].name != part.substr(0, slash)) ++next;
    if (next == indices.size()) return UserError("no index for '", part, "' of '", text, "'");
    YUBA_ASSIGN_OR_RETURN(partition.axes[next++], ParseAxes(mesh, part.substr(slash + 1)));
  }
  return partition;
}

}  // namespace yuba::compiler
