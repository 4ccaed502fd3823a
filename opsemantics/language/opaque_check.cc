#include "opsemantics/language/opaque_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/opaque/opaque_function.h"

namespace yuba {
namespace {

int64_t CountOf(const std::vector<Dim>& dims, const std::string& extent) {
  return std::count_if(dims.begin(), dims.end(), [&](const Dim& dim) {
    return dim.element().kind == Syntax::kName && dim.element().name == extent;
  });
}

bool HasFactors(const std::vector<Dim>& dims) {
  return std::any_of(dims.begin(), dims.end(),
                     [](const Dim& dim) { return dim.element().kind == Syntax::kFactors; });
}

absl::Status CheckOperand(const Param& param, const SymbolTable& symbols) {
  if (param.role != Param::kPlain) {
    return symbols.Error(param.range, "an operand of an opaque operator is neither opt nor state");
  }
  for (const Dim& dim : param.dims) {
    if (dim.broadcast) {
      return symbols.Error(dim.range, "an operand of an opaque operator is not broadcast");
    }
  }
  if (!HasFactors(param.dims)) return absl::OkStatus();
  return symbols.Error(param.range, "an opaque function sees no factors; give them dimensions");
}

// An extent that may be cut: the calls of the function are numbered along it.
absl::Status CheckCut(const OpDescription& op, const std::string& extent,
                      const SymbolTable& symbols) {
  const auto error = [&](absl::string_view what) {
    return symbols.Error(op.name_range, absl::StrCat("'", extent, "', which may be cut, ", what));
  };
  const Symbol* found = symbols.Find(extent);
  if (found == nullptr || found->kind != Symbol::kExtent) return error("is no extent");
  if (std::count(op.cuttable.begin(), op.cuttable.end(), extent) > 1) return error("is said twice");
  if (CountOf(op.outputs[0].dims, extent) != 1) {
    return error("is not one dimension of the output: each call writes its part of that");
  }
  int64_t most = 0;
  for (const Param& param : op.params) most = std::max(most, CountOf(param.dims, extent));
  if (most == 1) return absl::OkStatus();
  return error(most == 0 ? "is no dimension of an operand" : "is two dimensions of an operand");
}

}  // namespace

absl::Status CheckOpaque(const OpDescription& op, const SymbolTable& symbols) {
  if (FindOpaqueFunction(op.name) == nullptr) {
    return symbols.Error(op.name_range, absl::StrCat(NoOpaqueFunction(op.name),
                                                     "; describe what it computes as an 'op'"));
  }
  if (op.outputs.size() != 1) {
    return symbols.Error(op.outputs[1].range,
                         "an opaque operator has one output; describe others as reads of it");
  }
  if (HasFactors(op.outputs[0].dims)) {
    return symbols.Error(op.outputs[0].range,
                         "an opaque function sees no factors; give them dimensions");
  }
  for (const Param& param : op.params) YUBA_RETURN_IF_ERROR(CheckOperand(param, symbols));
  for (const Attribute& attribute : op.attributes) {
    if (!attribute.pack) continue;
    return symbols.Error(attribute.range, "an opaque function takes no packs of attributes");
  }
  for (const std::string& extent : op.cuttable) {
    YUBA_RETURN_IF_ERROR(CheckCut(op, extent, symbols));
  }
  return absl::OkStatus();
}

}  // namespace yuba
