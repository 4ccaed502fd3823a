#include "compiler/spmd/own_slice.h"

#include <algorithm>

#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/largest_operands.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// Whether it reduces what does not lie side by side in memory.
bool ReducesAcrossMemory(const Definition& definition) {
  if (definition.reducer == Reducer::kNone) return false;
  for (int index = 0; index < static_cast<int>(definition.indices.size()); ++index)
    if (definition.indices[index].reduction && LargestLieAlong(definition, index)) return false;
  return true;
}

}  // namespace

bool ReadsOwnSlice(const Definition& reader, int operand, const Definition& writer, int shared) {
  bool own = true;
  const auto look = [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.operand != operand) return;
    own = own && expr.position.size() == writer.left.size();
    for (size_t d = 0; own && d < writer.left.size(); ++d) {
      const int index = writer.left[d].BareIndex();
      if (index < 0 || index >= shared || writer.result.dims[d] == 1) continue;
      own = expr.position[d].BareIndex() == index;
    }
  };
  Walk(reader, look);
  return own;
}

bool SliceIsElement(const Definition& definition, int shared) {
  int outputs = 0;
  for (const Index& index : definition.indices) outputs += index.reduction ? 0 : 1;
  return outputs == shared;
}

bool IsOfElements(const Definition& definition, int shared) {
  if (IsOpaque(definition) || (shared > 0 && !SliceIsElement(definition, shared))) return false;
  if (IsMap(definition)) return true;
  if (MatchContraction(definition) || MatchConvolution(definition)) return false;  // of libraries
  int64_t terms = 1;
  for (const Index& index : definition.indices) terms *= index.reduction ? index.extent : 1;
  return terms <= kMostTermsOfElement && definition.where.empty() && definition.data_where.empty();
}

bool IsOfRows(const std::vector<const Definition*>& definitions, int shared) {
  int loops = 0;
  for (const Definition* definition : definitions) {
    if (IsOpaque(*definition) || ReducesAcrossMemory(*definition)) return false;
    loops += std::any_of(definition->indices.begin() + shared, definition->indices.end(),
                         [](const Index& index) { return index.extent != 1; });
  }
  return shared > 0 && loops > 1;
}

}  // namespace yuba::compiler
