// The interpreter: evaluates a definition element by element. Slow and obvious on purpose: it is
// the oracle for the box analysis, the kernels and whole plans at small sizes.
#ifndef YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_
#define YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/oracle/scalar.h"  // Arithmetic, Scalar, Identity

namespace yuba {

// A whole tensor in row-major order of its flat dimensions.
struct TensorValue {
  TensorType type;
  std::vector<Scalar> elements;
};

// Called for each element of an operand that is read (guarded reads only inside the tensor).
// Conditions on data count as true, and in bodies as true and as false: what a read touches is the
// same for all data.
using ReadLog = std::function<void(int operand, const std::vector<int64_t>& position)>;

// The result of the piece of `definition` with indices in `ranges`: elements outside the piece
// are left as they are in `result`; an element inside without a term gets the reducer's identity.
// With partial reduction ranges the result is that part's partial. argmax and argmin give the first
// position in the row-major order of all reduction indices. `result` has its type and elements;
// values are rounded to its type, which may be the accumulator's.
void Interpret(const Definition& definition, const std::vector<Interval>& ranges,
               const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
               TensorValue& result, const ReadLog& log = nullptr);

// Combines `part` into `result` over `box`, as the reducer does: the order of parts is the
// caller's. Reducers whose parts do not combine (none, argmax, argmin) copy.
void Combine(Reducer reducer, Arithmetic arithmetic, const TensorValue& part, const Box& box,
             TensorValue& result);

// Evaluates all nodes of `graph`; `values` has the inputs, parameters and constants on entry and
// all tensors on return.
void InterpretGraph(const Graph& graph, Arithmetic arithmetic, std::vector<TensorValue>& values);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_
