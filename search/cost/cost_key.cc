#include "search/cost/cost_key.h"

#include <utility>

#include "opsemantics/regions/conditions.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba::search {
namespace {

class KeyWriter {
 public:
  void Add(int64_t value) { key_.push_back(value); }
  void Add(const Affine& affine) {
    Add(affine.constant);
    Add(static_cast<int64_t>(affine.terms.size()));
    for (const auto& [index, coefficient] : affine.terms) {
      Add(index);
      Add(coefficient);
    }
  }
  void Add(const Constraint& constraint) {
    Add(constraint.expression);
    Add(constraint.equality);
    if (constraint.table == nullptr) return;
    Add(constraint.table_factor);
    Add(constraint.table->values);
    for (int index : constraint.table->indices) Add(index);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(static_cast<int64_t>(list.size()));
    for (const T& each : list) Add(each);
  }
  CostKey Take() { return std::move(key_); }

 private:
  CostKey key_;
};

}  // namespace

CostKey CostKeyOf(const Definition& definition, int operand, const Mesh& mesh, int64_t times,
                  ObjectiveKind objective) {
  KeyWriter key;
  key.Add(static_cast<int64_t>(objective));
  key.Add(times);
  key.Add(static_cast<int64_t>(mesh.axes.size()));
  for (const MeshAxis& axis : mesh.axes) {
    key.Add(axis.size);
    key.Add(axis.kind);
  }
  key.Add(static_cast<int64_t>(definition.indices.size()));
  for (const Index& index : definition.indices) {
    key.Add(index.extent);
    key.Add(index.reduction);
  }
  key.Add(definition.where);
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  key.Add(static_cast<int64_t>(type.type));
  key.Add(type.dims);
  if (operand < 0) {
    key.Add(-1 - definition.partial);
    key.Add(definition.left);
    key.Add(KnownConditions(definition));
    return key.Take();
  }
  key.Add(CombinesPartials(definition));
  key.Add(ReadsPartials(definition, operand));
  for (const ReadSite& site : ReadSites(definition)) {
    if (site.read->operand != operand) continue;
    key.Add(site.read->position);
    key.Add(site.when);
  }
  return key.Take();
}

}  // namespace yuba::search
