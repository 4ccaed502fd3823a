#include "compiler/verify/outputs.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "compiler/verify/box_union.h"
#include "compiler/verify/iteration.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

using Outputs = std::map<Box, Ranges, BoxLess>;  // written box -> the ranges of output indices

// Whether parts of different output indices write disjoint boxes of the buffer.
absl::Status CheckDisjoint(const Outputs& outputs, const std::string& name) {
  BoxUnion all;
  bool disjoint = true;
  for (auto a = outputs.begin(); a != outputs.end() && disjoint; ++a) {
    disjoint = !all.Touches(a->first);
    all.Add(a->first);
  }
  for (auto a = outputs.begin(); a != outputs.end() && !disjoint; ++a) {
    for (auto b = std::next(a); b != outputs.end(); ++b) {
      if (a->second == b->second || IsEmpty(Intersect(a->first, b->first))) continue;
      return ProofError("two parts write ", ToString(Intersect(a->first, b->first)), " of ", name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string PointsOf(const program::Kernel& kernel) {
  program::Kernel points;
  points.set_function(kernel.function());
  *points.mutable_indices() = kernel.indices();
  *points.add_results()->mutable_box() = kernel.results(0).box();
  return points.SerializeAsString();
}

absl::Status CheckOutputs(const program::Program& program, const Mesh& mesh,
                          const program::Kernel& kernel, const std::vector<Box>& results,
                          const std::string& name) {
  Outputs outputs;  // written box -> the ranges of output indices there
  const std::vector<Ranges> ranges_on = RangesOn(program, mesh, kernel, false);
  for (int device = 0; device < mesh.devices(); ++device) {
    const Box& written = results[device];
    if (IsEmpty(written)) continue;
    const Ranges& ranges = ranges_on[device];
    if (outputs.emplace(written, ranges).first->second != ranges) {
      return ProofError("two parts of different output indices write ", ToString(written), " of ",
                        name);
    }
  }
  return CheckDisjoint(outputs, name);
}

bool IsPartOfReduction(const program::Program& program, const Mesh& mesh,
                       const program::Kernel& kernel) {
  const Ranges whole = WholeReduction(program, kernel);
  const std::vector<Ranges> reductions = RangesOn(program, mesh, kernel, true);
  return std::any_of(reductions.begin(), reductions.end(),
                     [&](const Ranges& ranges) { return ranges != whole; });
}

}  // namespace yuba::compiler
