// The interpreter: evaluates a definition element by element. Slow and obvious on purpose: it is the
// oracle for the box analysis, the kernels and whole plans at small sizes.
#ifndef YUBA_OPSEMANTICS_INTERPRET_H_
#define YUBA_OPSEMANTICS_INTERPRET_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "opsemantics/core.h"
#include "opsemantics/graph.h"

namespace yuba {

// kFloat: floats are computed in double and rounded to their type when stored; integers in 64 bits.
// kHash: float tensors are elements of Z/2^64 (hash_arithmetic.h); integer tensors stay integers.
enum class Arithmetic : uint8_t { kFloat, kHash };

// One element: a float's value, an integer, or an element of Z/2^64.
union Scalar {
  double number;
  int64_t integer;
  uint64_t hash;
};

// A whole tensor in row-major order of its flat dimensions.
struct TensorValue {
  TensorType type;
  std::vector<Scalar> elements;
};

// Called for each element of an operand that is read (guarded reads only inside the tensor).
using ReadLog = std::function<void(int operand, const std::vector<int64_t>& position)>;

// The result of the piece of `definition` with indices in `ranges`: elements outside the made box are
// left as they are in `result`; an element inside without a term gets the reducer's identity. With
// partial reduction ranges the result is that part's partial.
void Interpret(const Definition& definition, const std::vector<Interval>& ranges,
               const std::vector<const TensorValue*>& operands, Arithmetic arithmetic,
               TensorValue& result, const ReadLog& log = nullptr);

// Combines `part` into `result` over `box`, as the reducer does: the order of parts is the caller's.
void Combine(Reducer reducer, Arithmetic arithmetic, const TensorValue& part, const Box& box,
             TensorValue& result);
Scalar Identity(Reducer reducer, ElementType type, Arithmetic arithmetic);

// Evaluates all nodes of `graph`; `values` has the inputs, parameters and constants on entry and all
// tensors on return.
void InterpretGraph(const Graph& graph, Arithmetic arithmetic, std::vector<TensorValue>& values);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_INTERPRET_H_
