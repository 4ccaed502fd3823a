// The loop plan of a definition: which index is solved from which constraint, which is looked up in
// data, in what order the others are looped over, and where the accumulator is. Everything that can
// be decided without run-time values is decided here; loop_builder.h writes it down in MLIR.
// Indices are numbered as in Definition::indices.
//
// Example: dx[i] = sum(j, k where j + 2*k == i) f[j] * dy[k] is planned as loops over j and k, with
// i solved as j + 2*k. The mode is kScatter, because one turn of the inner loop goes to one element
// of dx and the next turn to another.
#ifndef YUBA_COMPILER_KERNELS_LOOP_PLAN_H_
#define YUBA_COMPILER_KERNELS_LOOP_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/targets.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::kernels {

// A condition on indices and on arguments of the kernel (runtime/program/kernel_abi.h):
// expression + sum of coefficient * argument is == 0, or <= 0.
struct Bound {
  Affine expression;                               // over the indices
  std::vector<std::pair<int, int64_t>> arguments;  // (position among the arguments, coefficient)
  bool equality = false;                           // == instead of <=
};

// The positions of an index's begin and end among the kernel's arguments.
inline int BeginArgument(int index) { return 2 * index; }
inline int EndArgument(int index) { return 2 * index + 1; }

// Rows that are computed side by side where they read the same elements.
constexpr int kRowBlock = 4;
// Elements of a row whose accumulators are on the stack at one time, where they are wider than the
// result's elements.
constexpr int64_t kRowTile = 512;

struct LoopStep {
  enum Kind : uint8_t {
    kLoop,    // over `index`
    kLookup,  // `index` gets the value that data condition `condition` gives it; there is no term
              // where that is outside of its range
    kGuard    // there is no term where data condition `condition` does not hold
  };
  Kind kind = kLoop;
  int index = -1;      // kLoop, kLookup
  int condition = -1;  // kLookup, kGuard: position in Definition::data_where
};

struct LoopPlan {
  enum Mode : uint8_t {
    kMap,       // no accumulator
    kRegister,  // one element's accumulator, in registers, inside the loops over output indices
    kRow,       // a row's accumulators, in memory: the last loop runs along the row
    kScatter    // the accumulators of all elements inside `outer`, in the result's buffer; terms
                // come in any order of elements
  };
  Mode mode = kMap;
  std::vector<int> outer;       // loops outside of the accumulators, over output indices only
  std::vector<LoopStep> steps;  // inside of `outer`, from the outermost
  // [index]: where it was solved, its value in terms of indices that have loops or lookups.
  std::vector<absl::optional<Affine>> solved;
  std::vector<Bound> bounds;  // over indices that have loops or lookups
  // Reads with `else` that stay inside their operand wherever there is a term: `bounds` see to it,
  // so no guard is needed. They point into the definition.
  std::vector<const Expr*> inside;
  int row = -1;  // kRow: the index of the innermost loop
  // kRow: an outer index of which kRowBlock values are computed side by side, because they read the
  // same elements along the row; -1: none. No loop, lookup or guard inside depends on it.
  int block = -1;
};

struct LoopOptions {
  bool parallel_outputs = false;  // threads share out the outer loops (GPU); then never kRow
  Arithmetic arithmetic = Arithmetic::kFloat;
};

LoopOptions LoopOptionsFor(const KernelTarget& target);

// Deterministic. `definition` must outlive the plan.
LoopPlan PlanLoops(const Definition& definition, const LoopOptions& options);

// `affine` with solved indices replaced.
Affine Substitute(const Affine& affine, const std::vector<absl::optional<Affine>>& solved);

// Whether bounds or conditions on data depend on an index.
bool Controls(const Definition& definition, const LoopPlan& plan, int index);

// The coefficient of `index`, 0 where it does not occur.
int64_t Coefficient(const Affine& affine, int index);

// One line for dumps and tests: "row: i (by 4) | k j; 0 bounds" are outer loops over i in blocks of
// rows, inside of them k, then j along the row.
std::string ToString(const LoopPlan& plan, const Definition& definition);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LOOP_PLAN_H_
