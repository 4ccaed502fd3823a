// How much a part of a definition has to do: the operations and the bytes from which the time of
// its kernel comes (opsemantics/machine/machine.h). The one source of both; the compiler writes
// what the runtime cannot derive into the program (FunctionDefinition in
// runtime/program/program.proto), and WorkOn of runtime/program/work.h says the same of a kernel
// there.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] in f32 over i in [0, 4), j in [0, 2) and k in [0, 6)
// is a product of 4*2*6 points with 2 operations each; it reads 4*24 bytes of x and 4*12 of w, and
// writes 4*8.
#ifndef YUBA_OPSEMANTICS_SHARDING_WORK_H_
#define YUBA_OPSEMANTICS_SHARDING_WORK_H_

#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/machine/machine.h"
#include "opsemantics/machine/points.h"

namespace yuba {

// What a definition does at each point, whatever part of it is computed.
struct PointWork {
  // Convolutions and their gradients are convolutions; other sums of products of two reads, as
  // contractions, are products; what takes one term or none for each element, as a look-up of rows,
  // is a map; all else reduces.
  KernelClass kernel_class = KernelClass::kMap;
  ElementType type = ElementType::kF32;  // of the factors of a sum of products, else of the result
  // Functions, and the step of the reducer; reads, conditions and casts are free. Of an opaque
  // definition those of one call.
  double operations = 0;
  double extras[kExtras] = {0, 0, 0, 0, 0};  // of the operations that vary along `row`
  std::vector<TiedIndices>
      ties;  // of equalities between indices, look-ups in data and opaque slices
  // The index along which generated code runs: of a map that of the result's innermost dimension,
  // else that of the first operand's, of those with more than one element; -1: none.
  int row = -1;
  // Of a contraction the indices with a product each: both operands and the result have them.
  std::vector<int> batch;
  // Of a contraction the operand that a library turns: the result's innermost index is its own, but
  // its innermost one is summed over; -1: none.
  int turned = -1;
};
PointWork WorkAtPoint(const Definition& definition);

// The ranges of its indices that a part runs over, as far as the constraints allow it.
std::vector<Interval> RangesOfWork(const Definition& definition,
                                   const std::vector<Interval>& ranges);

struct DefinitionWork {
  KernelClass kernel_class = KernelClass::kMap;
  ElementType type = ElementType::kF32;
  double points = 0;      // how often the body is evaluated (CountPoints of RangesOfWork)
  double operations = 0;  // at all of them
  // Bytes: what the part reads of each operand, [operand], each element once, and writes. Of an
  // operand or result with more elements than there are points, as a table of which a few rows are
  // looked up, an element a point.
  std::vector<double> read;
  double written = 0;
  double results = 0;                        // elements that it writes
  double extras[kExtras] = {0, 0, 0, 0, 0};  // [Extra]; as many runs as generated code has
  double calls = 0;                          // of a library: products of the batch
  double turned = 0;                         // of a library: elements

  double bytes() const;
  KernelWork Kernel(bool library) const;  // as of one kernel
};

// Of the part with these ranges, [index]. The result counts in the definition's type: who computes
// partials in a wider one gives a definition of that type.
DefinitionWork WorkOf(const Definition& definition, const std::vector<Interval>& ranges);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_WORK_H_
