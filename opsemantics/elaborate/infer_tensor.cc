#include "opsemantics/elaborate/infer_tensor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

class Inference {
 public:
  Inference(const OpDescription& op, const Binding& binding, BodyEvaluator& body)
      : op_(op), binding_(binding), body_(body) {}

  absl::StatusOr<BoundTensor> Run(const std::vector<const Item*>& items) {
    BoundTensor tensor;
    const Item& first = *items[0];
    for (size_t d = 0; d < first.left.size(); ++d) {
      const LeftDim& left = first.left[d];
      const Syntax& written = left.element();
      BoundDim dim;
      dim.pack = left.pack();
      dim.factored = written.kind == Syntax::kFactors;
      std::vector<const Syntax*> factors;
      if (!dim.factored) factors.push_back(&written);
      for (const SyntaxPtr& factor : written.args) factors.push_back(factor.get());
      for (size_t f = 0; f < factors.size(); ++f) {
        std::vector<int64_t> extents;
        if (factors[f]->kind == Syntax::kNumber) {
          extents = {LargestConstant(items, d, f) + 1};
        } else {
          YUBA_ASSIGN_OR_RETURN(extents, IndexExtents(first, left, *factors[f]));
        }
        if (f == 0) dim.elements.resize(extents.size());
        if (extents.size() != dim.elements.size()) {
          return Error(left.range, "the packs of these factors have different ranks");
        }
        for (size_t e = 0; e < extents.size(); ++e) dim.elements[e].factors.push_back(extents[e]);
      }
      tensor.dims.push_back(std::move(dim));
    }
    return tensor;
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  static int64_t LargestConstant(const std::vector<const Item*>& items, size_t dim, size_t factor) {
    int64_t largest = 0;
    for (const Item* item : items) {
      const Syntax& written = item->left[dim].element();
      if (written.kind != Syntax::kFactors || factor >= written.args.size()) continue;
      largest = std::max(largest, std::min(written.args[factor]->integer, int64_t{1} << 40));
    }
    return largest;
  }

  // The extents of an index of a left side: as written behind it, or those of a dimension that the
  // body reads with the bare index.
  absl::StatusOr<std::vector<int64_t>> IndexExtents(const Item& item, const LeftDim& left,
                                                    const Syntax& name) {
    if (left.extent != nullptr) return WrittenExtents(left);
    absl::optional<std::vector<int64_t>> found;
    WalkSyntax(*item.value, [&](const Syntax& syntax) {
      if (!found && syntax.kind == Syntax::kRead) found = ExtentsFromRead(syntax, name.name);
    });
    if (found) return *std::move(found);
    return Error(left.range, absl::StrCat("no bare read settles the extent of '", name.name,
                                          "'; write it, as [", name.name, ": n]"));
  }

  absl::StatusOr<std::vector<int64_t>> WrittenExtents(const LeftDim& left) {
    std::vector<Term> values;
    if (left.pack()) {
      YUBA_ASSIGN_OR_RETURN(values,
                            body_.EvaluatePack(*left.extent->args[0], Division::kRoundDown));
    } else {
      YUBA_ASSIGN_OR_RETURN(Term value, body_.Evaluate(*left.extent, Division::kRoundDown));
      values.push_back(std::move(value));
    }
    std::vector<int64_t> extents;
    for (const Term& value : values) {
      if (value.kind != Term::kInteger || value.integer < 0) {
        return Error(left.range, "an extent is an integer that is not below 0");
      }
      extents.push_back(value.integer);
    }
    return extents;
  }

  absl::optional<std::vector<int64_t>> ExtentsFromRead(const Syntax& read,
                                                       const std::string& name) const {
    const auto found = binding_.tensors.find(read.name);
    if (found == binding_.tensors.end() || found->second.absent) return absl::nullopt;
    const BoundTensor& tensor = found->second;
    for (size_t d = 0; d < tensor.dims.size() && d < read.args.size(); ++d) {
      const BoundDim& dim = tensor.dims[d];
      const Syntax& index = dim.pack ? *read.args[d]->args[0] : *read.args[d];
      int factor = -1;
      if (index.kind == Syntax::kName && index.name == name && !dim.factored) factor = 0;
      if (index.kind == Syntax::kFactors && dim.factored) {
        for (size_t f = 0; f < index.args.size(); ++f) {
          if (index.args[f]->name == name) factor = static_cast<int>(f);
        }
      }
      if (factor < 0) continue;
      std::vector<int64_t> extents;
      for (const BoundElement& element : dim.elements) extents.push_back(element.factors[factor]);
      return extents;
    }
    return absl::nullopt;
  }

  const OpDescription& op_;
  const Binding& binding_;
  BodyEvaluator& body_;
};

}  // namespace

absl::StatusOr<BoundTensor> InferTensor(const OpDescription& op, const Binding& binding,
                                        const std::vector<const Item*>& items,
                                        BodyEvaluator& body) {
  return Inference(op, binding, body).Run(items);
}

}  // namespace yuba
