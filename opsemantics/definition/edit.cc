#include "opsemantics/definition/edit.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

// `expr` with other arguments; `expr` itself where they are the same.
ExprPtr WithArgs(const ExprPtr& expr, std::vector<ExprPtr> args) {
  if (args == expr->args) return expr;
  auto copy = std::make_shared<Expr>(*expr);
  copy->args = std::move(args);
  return copy;
}

// Replaces reads bottom up, each node once.
class ReadRewriter {
 public:
  explicit ReadRewriter(const ReplaceRead& replace) : replace_(replace) {}

  ExprPtr Rewrite(const ExprPtr& expr) {
    return rewritten_.Of(expr, [&]() -> ExprPtr {
      std::vector<ExprPtr> args;
      for (const ExprPtr& arg : expr->args) args.push_back(Rewrite(arg));
      ExprPtr rewritten = WithArgs(expr, std::move(args));
      if (rewritten->kind != Expr::kRead) return rewritten;
      ExprPtr replacement = replace_(*rewritten);
      return replacement != nullptr ? replacement : rewritten;
    });
  }

 private:
  const ReplaceRead& replace_;
  PerTerm<ExprPtr> rewritten_;
};

class Substitution {
 public:
  Substitution(const std::vector<Affine>& indices, const std::vector<int>& operands)
      : indices_(indices), operands_(operands) {}

  ExprPtr Apply(const ExprPtr& expr) {
    return substituted_.Of(expr, [&]() -> ExprPtr {
      auto copy = std::make_shared<Expr>(*expr);
      for (ExprPtr& arg : copy->args) arg = Apply(arg);
      if (copy->kind == Expr::kIndex) copy->affine = Substitute(copy->affine, indices_);
      if (copy->kind == Expr::kRead) {
        copy->operand = operands_[copy->operand];
        for (Affine& position : copy->position) position = Substitute(position, indices_);
      }
      return copy;
    });
  }

 private:
  const std::vector<Affine>& indices_;
  const std::vector<int>& operands_;
  PerTerm<ExprPtr> substituted_;
};

void WalkReads(const ExprPtr& expr, int operand, const std::function<void(const Expr&)>& visit) {
  Walk(expr, [&](const Expr& node) {
    if (node.kind == Expr::kRead && node.operand == operand) visit(node);
  });
}

template <typename T>
void Keep(std::vector<T>& values, const std::vector<bool>& drop) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!drop[i]) values[kept++] = values[i];
  }
  values.resize(kept);
}

}  // namespace

void RewriteReads(Definition& definition, const ReplaceRead& replace) {
  const Definition old = definition;  // its nodes must stay while they are rewritten
  ReadRewriter rewriter(replace);
  SharedTerms terms;
  definition.body = terms.Of(rewriter.Rewrite(definition.body));
  for (DataCondition& condition : definition.data_where)
    condition.value = terms.Of(rewriter.Rewrite(condition.value));
}

void VisitReads(const Definition& definition, int operand,
                const std::function<void(const Expr&)>& visit) {
  WalkReads(definition.body, operand, visit);
  for (const DataCondition& condition : definition.data_where)
    WalkReads(condition.value, operand, visit);
}

Affine Substitute(const Affine& affine, const std::vector<Affine>& indices) {
  Affine result = ConstantAffine(affine.constant);
  for (const auto& [index, coefficient] : affine.terms)
    result = result + indices[index] * coefficient;
  return result;
}

ExprPtr Substitute(const ExprPtr& expr, const std::vector<Affine>& indices,
                   const std::vector<int>& operands) {
  return Substitution(indices, operands).Apply(expr);
}

void NormalizeOperands(std::vector<int>& tensors, Definition& definition) {
  std::vector<bool> read(tensors.size(), false);
  const auto mark = [&read](const Expr& expr) {
    if (expr.kind == Expr::kRead) read[expr.operand] = true;
  };
  Walk(definition, mark);
  std::vector<int> kept;
  std::vector<TensorType> types;
  std::vector<int> renamed(tensors.size(), -1);
  bool changed = false;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!read[k]) {
      changed = true;
      continue;
    }
    const auto found = std::find(kept.begin(), kept.end(), tensors[k]);
    renamed[k] = static_cast<int>(found - kept.begin());
    changed |= renamed[k] != static_cast<int>(k);
    if (found != kept.end()) continue;
    kept.push_back(tensors[k]);
    types.push_back(definition.operands[k]);
  }
  if (!changed) return;
  RewriteReads(definition, [&renamed](const Expr& expr) {
    auto copy = std::make_shared<Expr>(expr);
    copy->operand = renamed[expr.operand];
    return copy;
  });
  tensors = std::move(kept);
  definition.operands = std::move(types);
}

void OrderIndices(Definition& definition) {
  std::vector<Affine> moved(definition.indices.size());
  std::vector<Index> indices;
  std::vector<bool> placed(definition.indices.size(), false);
  const auto place = [&](int index) {
    if (placed[index]) return;
    placed[index] = true;
    moved[index] = IndexAffine(static_cast<int>(indices.size()));
    indices.push_back(definition.indices[index]);
  };
  for (const Affine& left : definition.left) {
    if (left.BareIndex() >= 0) place(left.BareIndex());
  }
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    if (definition.indices[i].reduction) place(static_cast<int>(i));
    YUBA_CHECK(placed[i] || definition.indices[i].extent == 1) << definition.name;
  }
  std::vector<int> same(definition.operands.size());
  for (size_t k = 0; k < same.size(); ++k) same[k] = static_cast<int>(k);
  definition.indices = std::move(indices);
  for (Affine& left : definition.left) left = Substitute(left, moved);
  for (Constraint& constraint : definition.where)
    constraint.expression = Substitute(constraint.expression, moved);
  for (DataCondition& condition : definition.data_where) {
    YUBA_CHECK(condition.table == nullptr) << "known before the indices have their order";
    condition.index = Substitute(condition.index, moved);
    condition.value = Substitute(condition.value, moved, same);
  }
  definition.body = Substitute(definition.body, moved, same);
  ShareTerms(definition);
}

void DropUnitDims(Definition& definition, const std::vector<std::vector<bool>>& drop) {
  bool any = false;
  for (const auto& dims : drop) any |= std::find(dims.begin(), dims.end(), true) != dims.end();
  if (!any) return;
  RewriteReads(definition, [&drop](const Expr& expr) {
    auto copy = std::make_shared<Expr>(expr);
    Keep(copy->position, drop[expr.operand]);
    return copy;
  });
  for (size_t k = 0; k < definition.operands.size(); ++k)
    Keep(definition.operands[k].dims, drop[k]);
  Keep(definition.result.dims, drop.back());
  Keep(definition.left, drop.back());
  OrderIndices(definition);
}

}  // namespace yuba
