// What the importer does to the graph before anyone plans it. Each keeps the values of all outputs.
#ifndef YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_
#define YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_

#include "compiler/model.h"

namespace yuba::compiler {

// Constants of one element, and fills that maps read, become literals; x to the power of 2 becomes
// a square and the like.
void ReplaceLiterals(Model& model);

// A definition that only names its operand's elements by other flat dimensions is no node: its
// readers read the operand, or its operand's producer makes its result.
void RemoveViews(Model& model);

// A map read by one other map, each element once, becomes part of it; a map that reads nothing (a
// fill, a range, a band) becomes part of every map that reads it.
void ComposeMaps(Model& model);

// Drops what no output needs; nodes in post-order from the outputs, which depends on no name and on
// no order of the file; tensors in the order in which nodes name them. Inputs stay.
void PutInCanonicalOrder(Model& model);

// Of structure, shapes and types, in canonical order; without names and values.
std::string HashOfGraph(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_
