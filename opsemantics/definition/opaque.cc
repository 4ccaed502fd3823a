#include "opsemantics/definition/opaque.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace yuba {
namespace {

bool Has(const std::vector<Affine>& position, int index) {
  return std::any_of(position.begin(), position.end(),
                     [&](const Affine& affine) { return affine.BareIndex() == index; });
}

// Whether each dimension is at an index of its own that has the dimension's extent.
bool IsAtBareIndices(const Definition& definition, const std::vector<Affine>& position,
                     const TensorType& type) {
  if (position.size() != type.dims.size()) return false;
  std::vector<bool> used(definition.indices.size(), false);
  for (size_t d = 0; d < position.size(); ++d) {
    const int index = position[d].BareIndex();
    if (index < 0 || index >= static_cast<int>(used.size()) || used[index] ||
        definition.indices[index].extent != type.dims[d]) {
      return false;
    }
    used[index] = true;
  }
  return true;
}

bool IsCallOfReads(const Expr& body, const std::vector<TensorType>& operands) {
  return body.kind == Expr::kCall && body.function == Function::kOpaque &&
         std::all_of(body.args.begin(), body.args.end(), [&](const ExprPtr& arg) {
           return arg->kind == Expr::kRead && arg->args.empty() && arg->operand >= 0 &&
                  arg->operand < static_cast<int>(operands.size());
         });
}

int ReadsWith(const Definition& definition, int index) {
  const std::vector<ExprPtr>& reads = definition.body->args;
  return static_cast<int>(std::count_if(
      reads.begin(), reads.end(), [&](const ExprPtr& read) { return Has(read->position, index); }));
}

// What is wrong with the form, whatever the function is.
std::string WhyMalformed(const Definition& definition) {
  if (!definition.where.empty() || !definition.data_where.empty() || definition.partial ||
      !definition.partial_operands.empty()) {
    return "an opaque definition has no conditions and no partials";
  }
  if (!IsCallOfReads(*definition.body, definition.operands)) {
    return "the body of an opaque definition is a list of reads";
  }
  for (const ExprPtr& read : definition.body->args) {
    if (!IsAtBareIndices(definition, read->position, definition.operands[read->operand])) {
      return absl::StrCat("an opaque function takes operand ", read->operand,
                          " at indices that run along its dimensions alone");
    }
  }
  if (!IsAtBareIndices(definition, definition.left, definition.result)) {
    return "an opaque function writes at indices that run along the result's dimensions alone";
  }
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    const Index& index = definition.indices[i];
    const bool written = Has(definition.left, static_cast<int>(i));
    const int reads = ReadsWith(definition, static_cast<int>(i));
    if (index.reduction ? written || reads != 1 : !written) {
      return absl::StrCat("index ", index.name,
                          index.reduction ? " is of one operand of an opaque definition alone"
                                          : " of an opaque definition is none of its result");
    }
  }
  return "";
}

OpaqueType SliceType(const Definition& definition, const std::vector<Affine>& position,
                     ElementType type) {
  OpaqueType slice;
  slice.type = type;
  for (const Affine& affine : position) {
    const int index = affine.BareIndex();
    if (!MayBeCut(definition, index)) slice.extents.push_back(definition.indices[index].extent);
  }
  return slice;
}

}  // namespace

bool MayBeCut(const Definition& definition, int index) {
  return !definition.indices[index].reduction && ReadsWith(definition, index) > 0;
}

OpaqueSignature SignatureOf(const Definition& definition) {
  OpaqueSignature signature;
  for (const ExprPtr& read : definition.body->args) {
    signature.arguments.push_back(
        SliceType(definition, read->position, definition.operands[read->operand].type));
  }
  signature.result = SliceType(definition, definition.left, definition.result.type);
  signature.attributes = definition.opaque.attributes;
  return signature;
}

std::string WhyOpaqueIllegal(const Definition& definition) {
  bool has_parts = !definition.opaque.function.empty();
  Walk(definition.body, [&has_parts](const Expr& expr) {
    has_parts |= expr.kind == Expr::kCall && expr.function == Function::kOpaque;
  });
  if (!IsOpaque(definition)) {
    return has_parts ? "a definition with another reducer calls no opaque function" : "";
  }
  const std::string malformed = WhyMalformed(definition);
  if (!malformed.empty()) return malformed;
  const OpaqueFunction* function = FindOpaqueFunction(definition.opaque.function);
  if (function == nullptr) return NoOpaqueFunction(definition.opaque.function);
  const std::string refused = function->why_not(SignatureOf(definition));
  return refused.empty() ? "" : absl::StrCat("'", function->name, "': ", refused);
}

}  // namespace yuba
