// The loop plan of a definition: which index is solved from which constraint, which is looked up in
// data, in what order the others are looped over, and where the accumulator is. Everything that can
// be decided without values is decided here; loop_builder.h writes it down in MLIR.
#ifndef YUBA_COMPILER_KERNELS_LOOP_PLAN_H_
#define YUBA_COMPILER_KERNELS_LOOP_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::kernels {

// expression + sum of coefficient * argument of the kernel (runtime/program/kernel_abi.h), == 0 or
// <= 0.
struct Bound {
  Affine expression;
  std::vector<std::pair<int, int64_t>> arguments;
  bool equality = false;
};

// Positions of the bounds of an index among the kernel's arguments.
inline int BeginArgument(int index) { return 2 * index; }
inline int EndArgument(int index) { return 2 * index + 1; }

// Rows that are computed side by side where they read the same elements.
constexpr int kRowBlock = 4;

struct LoopStep {
  enum Kind : uint8_t {
    kLoop,    // over `index`
    kLookup,  // `index` is what data condition `condition` says; no term where it is out of range
    kGuard    // no term where data condition `condition` does not hold
  };
  Kind kind = kLoop;
  int index = -1;
  int condition = -1;
};

struct LoopPlan {
  enum Mode : uint8_t {
    kMap,       // no accumulator
    kRegister,  // one element's accumulator, in registers, inside the loops over output indices
    kRow,       // a row's accumulators, in memory: the last loop runs along the row
    kScatter    // those of all elements that `outer` leaves, in the result's buffer, in any order
  };
  Mode mode = kMap;
  // The loops outside of the accumulators, over output indices only.
  std::vector<int> outer;
  std::vector<LoopStep> steps;  // inside, from the outermost
  // For each index: its value in terms of the indices that have steps, where it was solved.
  std::vector<absl::optional<Affine>> solved;
  std::vector<Bound> bounds;  // over indices that have loops or lookups
  // Reads with `else` that are inside wherever there is a term, because `bounds` say so.
  std::vector<const Expr*> inside;
  int row = -1;  // kRow: the index of the innermost loop
  // kRow: an outer index of which several values are worth computing side by side, or -1. Loops,
  // lookups and guards inside do not depend on it.
  int block = -1;
};

struct LoopOptions {
  bool parallel_outputs = false;  // `outer` runs in parallel: no kRow
  Arithmetic arithmetic = Arithmetic::kFloat;
};

LoopPlan PlanLoops(const Definition& definition, const LoopOptions& options);

// `affine` with solved indices replaced.
Affine Substitute(const Affine& affine, const std::vector<absl::optional<Affine>>& solved);

int64_t Coefficient(const Affine& affine, int index);

std::string ToString(const LoopPlan& plan, const Definition& definition);  // for dumps

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LOOP_PLAN_H_
