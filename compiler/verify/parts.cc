#include "compiler/verify/parts.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/spmd/tables.h"
#include "compiler/verify/iteration.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {

absl::StatusOr<std::vector<int64_t>> GroupNumbers(const program::Program& program, const Mesh& mesh,
                                                  const program::Kernel& kernel) {
  std::vector<int64_t> groups;
  const program::Function& function = program.functions(kernel.function());
  for (int index = 0; index < function.indices_size(); ++index) {
    if (!function.indices(index).groups()) continue;
    if (!groups.empty()) return ProofError("two of its indices number groups");
    YUBA_RETURN_IF_ERROR(CheckSum(function.definitions(0).reducer()));
    YUBA_RETURN_IF_ERROR(CheckDistinct(mesh, kernel));
    const std::vector<Interval> intervals = IntervalsOn(mesh, kernel.indices(index));
    for (int device = 0; device < mesh.devices(); ++device) {
      const Interval& group = intervals[device];
      if (group.size() != 1) {
        return ProofError("device ", device, " is of the groups ", ToString(group));
      }
      groups.push_back(group.begin);
    }
  }
  return groups;
}

absl::Status CheckSum(program::Reducer reducer) {
  if (reducer == program::SUM || reducer == program::NONE) return absl::OkStatus();
  return ProofError("what is reduced by another reducer than a sum cannot be added up");
}

std::string PartsOf(const program::Exchange& exchange, const program::Kernel& producer) {
  program::Exchange reduction;
  *reduction.mutable_from() = exchange.from();
  *reduction.mutable_partial() = exchange.partial();
  reduction.set_partials(exchange.partials());
  reduction.set_from_first_only(exchange.from_first_only());
  program::Kernel written;
  written.set_function(producer.function());
  *written.mutable_indices() = producer.indices();
  *written.add_results()->mutable_box() = producer.results(0).box();
  const std::string text = reduction.SerializeAsString();
  return absl::StrCat(text.size(), ":", text, written.SerializeAsString());
}

absl::Status CheckParts(const program::Program& program, const Mesh& mesh,
                        const program::Exchange& exchange, const program::Kernel& producer,
                        const std::vector<Box>& from) {
  std::map<int64_t, Ranges> parts;
  std::set<std::vector<int64_t>> distinct;
  const std::vector<Ranges> all_ranges = RangesOn(program, mesh, producer, true);
  const std::vector<Box> written = BoxesOn(mesh, producer.results(0).box());
  std::vector<int64_t> numbers(mesh.devices(), 0);
  if (exchange.partials() > 1) numbers = ValuesOn(mesh, exchange.partial());
  for (int device = 0; device < mesh.devices(); ++device) {
    const int64_t part = numbers[device];
    const Ranges& ranges = all_ranges[device];
    if (!SameSet(written[device], from[device])) {
      return ProofError("device ", device, " offers ", ToString(from[device]), " and wrote ",
                        ToString(written[device]));
    }
    if (part < 0 || part >= exchange.partials() ||
        parts.emplace(part, ranges).first->second != ranges) {
      return ProofError("device ", device, " numbers its partial ", part,
                        ", which is not its share of the reduction");
    }
    std::vector<int64_t> begins;
    for (const Interval& interval : ranges) begins.push_back(interval.begin);
    distinct.insert(begins);
  }
  if (distinct.size() != parts.size() || static_cast<int>(parts.size()) != exchange.partials()) {
    return ProofError("it combines ", exchange.partials(), " partials numbered in ", parts.size(),
                      " ways where ", distinct.size(), " are written");
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
