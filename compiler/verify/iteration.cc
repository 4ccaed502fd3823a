#include "compiler/verify/iteration.h"

#include <map>
#include <set>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

Ranges RangesOn(const program::Program& program, const Mesh& mesh, const program::Kernel& kernel,
                int device, bool reduction) {
  Ranges ranges;
  const program::Function& function = program.functions(kernel.function());
  for (int index = 0; index < kernel.indices_size(); ++index) {
    if (function.indices(index).reduction() != reduction) continue;
    ranges.push_back(IntervalOn(mesh, kernel.indices(index), device));
  }
  return ranges;
}

Ranges WholeReduction(const program::Program& program, const program::Kernel& kernel) {
  Ranges whole;
  for (const program::FunctionIndex& index : program.functions(kernel.function()).indices()) {
    if (index.reduction()) whole.push_back({0, index.extent()});
  }
  return whole;
}

absl::Status CheckTiling(const program::Program& program, const Mesh& mesh,
                         const program::Kernel& kernel) {
  const program::Function& function = program.functions(kernel.function());
  std::set<std::vector<int64_t>> boxes;  // the distinct boxes of points, by their begins
  std::vector<std::map<int64_t, int64_t>> parts(kernel.indices_size());  // [index]: begin -> end
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<int64_t> begins;
    for (int index = 0; index < kernel.indices_size(); ++index) {
      const Interval part = IntervalOn(mesh, kernel.indices(index), device);
      begins.push_back(part.begin);
      if (parts[index].emplace(part.begin, part.end).first->second == part.end) continue;
      return ProofError("device ", device, " takes ", ToString(part), " of index ",
                        function.indices(index).name(), ", which overlaps another device's part");
    }
    boxes.insert(begins);
  }
  size_t combinations = 1;
  for (int index = 0; index < kernel.indices_size(); ++index) {
    int64_t end = 0;
    for (const auto& part : parts[index]) {
      if (part.first != end) {
        return ProofError("the parts of index ", function.indices(index).name(), " do not meet at ",
                          end);
      }
      end = part.second;
    }
    if (end != function.indices(index).extent()) {
      return ProofError("the parts of index ", function.indices(index).name(), " end at ", end,
                        " instead of ", function.indices(index).extent());
    }
    combinations *= parts[index].size();
    if (combinations <= boxes.size()) continue;  // never so large that the next one overflows
    return ProofError("only ", boxes.size(), " of at least ", combinations, " parts are computed");
  }
  return absl::OkStatus();
}

absl::Status CheckDistinct(const Mesh& mesh, const program::Kernel& kernel) {
  std::map<std::vector<int64_t>, int> first;  // begins of the indices -> the first such device
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<int64_t> begins;
    for (const program::Range& range : kernel.indices()) {
      begins.push_back(IntervalOn(mesh, range, device).begin);
    }
    const auto [place, is_new] = first.emplace(std::move(begins), device);
    if (is_new) continue;
    return ProofError("devices ", place->second, " and ", device, " write the same partials");
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
