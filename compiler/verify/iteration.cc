#include "compiler/verify/iteration.h"

#include <map>
#include <set>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

std::vector<Ranges> RangesOn(const program::Program& program, const Mesh& mesh,
                             const program::Kernel& kernel, bool reduction) {
  std::vector<Ranges> ranges(mesh.devices());
  const program::Function& function = program.functions(kernel.function());
  for (int index = 0; index < kernel.indices_size(); ++index) {
    if (function.indices(index).reduction() != reduction) continue;
    const std::vector<Interval> intervals = IntervalsOn(mesh, kernel.indices(index));
    for (size_t device = 0; device < ranges.size(); ++device) {
      ranges[device].push_back(intervals[device]);
    }
  }
  return ranges;
}

namespace {

// [device]: where its range of each index begins.
std::vector<std::vector<int64_t>> BeginsOn(const Mesh& mesh, const program::Kernel& kernel) {
  std::vector<std::vector<int64_t>> begins(mesh.devices());
  for (const program::Range& range : kernel.indices()) {
    const std::vector<int64_t> values = ValuesOn(mesh, range.begin());
    for (size_t device = 0; device < begins.size(); ++device) {
      begins[device].push_back(values[device]);
    }
  }
  return begins;
}

// The parts that devices take of one index, begin -> end; an error where two overlap in part.
absl::StatusOr<std::map<int64_t, int64_t>> PartsOf(const Mesh& mesh, const program::Range& range,
                                                   const std::string& index) {
  std::map<int64_t, int64_t> parts;
  const std::vector<Interval> intervals = IntervalsOn(mesh, range);
  for (size_t device = 0; device < intervals.size(); ++device) {
    const Interval& part = intervals[device];
    if (parts.emplace(part.begin, part.end).first->second == part.end) continue;
    return ProofError("device ", device, " takes ", ToString(part), " of index ", index,
                      ", which overlaps another device's part");
  }
  return parts;
}

}  // namespace

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
  const std::vector<std::vector<int64_t>> begins = BeginsOn(mesh, kernel);
  // The distinct boxes of points.
  const std::set<std::vector<int64_t>> boxes(begins.begin(), begins.end());
  size_t combinations = 1;
  for (int index = 0; index < kernel.indices_size(); ++index) {
    YUBA_ASSIGN_OR_RETURN(const auto parts,
                          PartsOf(mesh, kernel.indices(index), function.indices(index).name()));
    int64_t end = 0;
    for (const auto& part : parts) {
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
    combinations *= parts.size();
    if (combinations <= boxes.size()) continue;  // never so large that the next one overflows
    return ProofError("only ", boxes.size(), " of at least ", combinations, " parts are computed");
  }
  return absl::OkStatus();
}

absl::Status CheckDistinct(const Mesh& mesh, const program::Kernel& kernel) {
  std::map<std::vector<int64_t>, int> first;  // begins of the indices -> the first such device
  const std::vector<std::vector<int64_t>> begins = BeginsOn(mesh, kernel);
  for (int device = 0; device < mesh.devices(); ++device) {
    const auto [place, is_new] = first.emplace(begins[device], device);
    if (is_new) continue;
    return ProofError("devices ", place->second, " and ", device, " write the same partials");
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
