#include "compiler/spmd/work_ranges.h"

#include <map>
#include <utility>

#include "compiler/spmd/tables.h"
#include "opsemantics/sharding/work.h"

namespace yuba::compiler {
namespace {

struct ByBounds {
  bool operator()(const std::vector<Interval>& a, const std::vector<Interval>& b) const {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i]))
        return std::make_pair(a[i].begin, a[i].end) < std::make_pair(b[i].begin, b[i].end);
    }
    return false;
  }
};

}  // namespace

void AddWorkRanges(const Mesh& mesh, const Definition& definition,
                   const std::vector<std::vector<Interval>>& ranges, program::Kernel& kernel) {
  if (definition.where.empty() && definition.data_where.empty()) return;
  // Many devices have the same part.
  std::map<std::vector<Interval>, std::vector<Interval>, ByBounds> found;
  std::vector<const std::vector<Interval>*> counted;  // [device]
  for (const std::vector<Interval>& part : ranges) {
    auto known = found.find(part);
    if (known == found.end()) known = found.emplace(part, RangesOfWork(definition, part)).first;
    counted.push_back(&known->second);
  }
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    std::vector<Interval> narrowed;
    bool fewer = false;
    for (size_t device = 0; device < ranges.size(); ++device) {
      narrowed.push_back((*counted[device])[i]);
      fewer |= narrowed.back().size() != ranges[device][i].size();
    }
    if (!fewer) continue;
    program::WorkRange& added = *kernel.add_work_ranges();
    added.set_index(static_cast<int>(i));
    *added.mutable_range() = RangeTable(mesh, narrowed);
  }
}

}  // namespace yuba::compiler
