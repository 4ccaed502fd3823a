// The interpreter: evaluates a definition element by element, whole or one part of it, in floats or
// in hash arithmetic (scalar.h). Slow and obvious on purpose: it is the oracle for box analysis,
// for kernels and for whole plans at small sizes. Values and definitions that do not fit each other
// are a fault (CHECK); nothing else can fail.
//
// Example, a matmul whose reduction is cut in two: Interpret with k in [0, 3) and with k in [3, 6)
// gives two partials of y; both combined, in this order, into a tensor of zeros (the identity of a
// sum) give y.
#ifndef YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_
#define YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/oracle/scalar.h"  // Arithmetic, Scalar, Identity

namespace yuba {

// A whole tensor: its elements in row-major order of its flat dimensions.
struct TensorValue {
  TensorType type;
  std::vector<Scalar> elements;
};

// Called for each element of an operand that is read; a read with `else` counts only inside the
// tensor. Conditions on data count as in box analysis (regions/boxes.h): as true where they
// restrict a reduction, unless a table says where they hold, and as both true and false in bodies.
// So the log is the same for all data.
using ReadLog = std::function<void(int operand, const std::vector<int64_t>& position)>;

// Runs the part of `definition` with indices in `ranges` ([index]) on whole operands ([operand]).
// `result` comes with its type and all its elements. Elements outside the part stay as they are; an
// element of the part without a term gets the reducer's identity. Where `ranges` cut a reduction
// index, the values are this part's partials. argmax and argmin give the first position, in the
// row-major order of all reduction indices. Values are rounded to the type of `result`, which may
// be AccumulatorType of the definition's.
void Interpret(const Definition& definition, const std::vector<Interval>& ranges,
               const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
               TensorValue& result, const ReadLog& log = nullptr);

// Combines the elements of `partial` in `box` into those of `result`, as the reducer does; the
// order of partials is the caller's. Reducers that combine nothing (none, argmax, argmin) copy.
void Combine(Reducer reducer, Arithmetic arithmetic, const TensorValue& partial, const Box& box,
             TensorValue& result);

// Evaluates all nodes of `graph`, each whole. `values` is by TensorId: on entry it has the inputs,
// parameters and constants, on return all tensors.
void InterpretGraph(const Graph& graph, Arithmetic arithmetic, std::vector<TensorValue>& values);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_INTERPRET_H_
