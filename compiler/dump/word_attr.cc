// The texts of the attributes that are one word: the kind of a tensor or of a port, a reducer, a
// collective. The words are those of the tables that the compiler has anyway. Besides, the index of
// a function: `m:256`, `k:128+` for a reduction index, `group:4*` for one that numbers groups of
// devices.
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/dump/dialect.h"
#include "opsemantics/base/collectives.h"

namespace yuba::compiler {
namespace {

// The one of `values` whose name the next keyword is; none after an error, which was reported.
template <typename Values, typename NameOf>
auto ReadWord(mlir::AsmParser& parser, const Values& values, const NameOf& name_of)
    -> std::optional<std::decay_t<decltype(*std::begin(values))>> {
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef word;
  std::string words;
  if (parser.parseKeyword(&word)) return std::nullopt;
  for (const auto value : values) {
    const std::string name(name_of(value));
    if (word == name) return value;
    absl::StrAppend(&words, words.empty() ? "" : ", ", name);
  }
  parser.emitError(place, "one of ") << words << " expected";
  return std::nullopt;
}

const char* PortKindName(PortKind kind) {
  switch (kind) {
    case PortKind::kInput: return "input";
    case PortKind::kOutput: return "output";
    case PortKind::kParameter: return "parameter";
  }
  return "";
}

}  // namespace

mlir::Attribute KindAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  constexpr TensorKind kinds[] = {TensorKind::kInput, TensorKind::kParameter, TensorKind::kConstant,
                                  TensorKind::kState};
  const auto kind = ReadWord(parser, kinds, [](TensorKind value) { return Name(value); });
  return kind ? KindAttr::get(parser.getContext(), *kind) : KindAttr();
}
void KindAttr::print(mlir::AsmPrinter& printer) const { printer << Name(getValue()); }

mlir::Attribute PortKindAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  constexpr PortKind kinds[] = {PortKind::kInput, PortKind::kOutput, PortKind::kParameter};
  const auto kind = ReadWord(parser, kinds, PortKindName);
  return kind ? PortKindAttr::get(parser.getContext(), *kind) : PortKindAttr();
}
void PortKindAttr::print(mlir::AsmPrinter& printer) const { printer << PortKindName(getValue()); }

mlir::Attribute ReducerAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  const auto reducer = ReadWord(parser, kReducers, [](Reducer value) { return Name(value); });
  return reducer ? ReducerAttr::get(parser.getContext(), *reducer) : ReducerAttr();
}
void ReducerAttr::print(mlir::AsmPrinter& printer) const { printer << Name(getValue()); }

mlir::Attribute CollectiveAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  std::vector<int> numbers(Collectives().size() + 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto number = ReadWord(parser, numbers, CollectiveName);
  return number ? CollectiveAttr::get(parser.getContext(), *number) : CollectiveAttr();
}
void CollectiveAttr::print(mlir::AsmPrinter& printer) const {
  printer << std::string(CollectiveName(getNumber()));
}

mlir::Attribute FunctionIndexAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  std::string name;
  int64_t extent = 0;
  if (parser.parseKeywordOrString(&name) || parser.parseColon() || parser.parseInteger(extent)) {
    return {};
  }
  const bool groups = mlir::succeeded(parser.parseOptionalStar());
  const bool reduction = groups || mlir::succeeded(parser.parseOptionalPlus());
  const bool determined = mlir::succeeded(parser.parseOptionalEqual());
  return FunctionIndexAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(name),
                                extent, reduction, groups, determined);
}
void FunctionIndexAttr::print(mlir::AsmPrinter& printer) const {
  printer.printKeywordOrString(getName());
  printer << ":" << getExtent()
          << (getGroups()      ? "*"
              : getReduction() ? "+"
                               : "")
          << (getDetermined() ? "=" : "");
}

}  // namespace yuba::compiler
